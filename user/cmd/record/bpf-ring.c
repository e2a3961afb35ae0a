// SPDX-License-Identifier: GPL-2.0-only
#include "record/bpf-ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>

#include "base/error.h"
#include "base/text.h"

#define TAKE_MAX	1024	/* records at once: those of a storm must not keep the recorder */
#define DROP_MAX	4096	/* times so many are dropped at the start: 64 MB of the smallest */

/**
 * struct bpf_ring - a ring buffer that is read
 * @fd: the map
 * @buffer: libbpf's
 * @found: called for each record
 * @arg: of @found
 * @open: records are new ones
 * @taken: records that bpf_ring_take() has taken
 */
struct bpf_ring {
	int fd;
	struct ring_buffer *buffer;
	void (*found)(void *arg, const void *record, size_t bytes);
	void *arg;
	bool open;
	unsigned int taken;
};

static int found_record(void *arg, void *record, size_t bytes)
{
	struct bpf_ring *ring = arg;

	if (ring->open)
		ring->found(ring->arg, record, bytes);
	return ++ring->taken < TAKE_MAX ? 0 : -EAGAIN;
}

/* Returns why a file cannot be opened that is there. */
static const char *explain(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) ? "" :
	       fs.f_type != BPF_FS_MAGIC ? ": it is not in a file system of BPF, /sys/fs/bpf" :
	       ": only root and owners of CAP_BPF may open it, if its mode lets them";
}

/* Returns a pinned map's file, or -errno. */
static int open_map(const char *path, struct schedtape_error *err)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_obj_get(path), ret = -errno;

	if (fd < 0)
		return schedtape_fail(err, ret, "bpf:%s: %s%s", path, strerror(-ret),
				      ret == -EPERM || ret == -EACCES ? explain(path) : "");
	/* Of a pinned program the kernel fills in a type as well, and a checksum for the sizes. */
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || info.type != BPF_MAP_TYPE_RINGBUF ||
	    info.key_size || info.value_size) {
		close(fd);
		return schedtape_fail(err, -EINVAL, "bpf:%s: not a ring buffer "
				      "(BPF_MAP_TYPE_RINGBUF)", path);
	}
	return fd;
}

/* The library's messages would be a second line. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

int bpf_ring_open(struct bpf_ring **ring, const char *path,
		  void (*found)(void *arg, const void *record, size_t bytes), void *arg,
		  struct schedtape_error *err)
{
	struct bpf_ring *new = calloc(1, sizeof(*new));
	unsigned int i;
	int ret;

	if (!new)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	*new = (struct bpf_ring){ .found = found, .arg = arg, .fd = open_map(path, err) };
	if (new->fd < 0) {
		ret = new->fd;
		free(new);
		return ret;
	}
	libbpf_set_print(say_nothing);
	new->buffer = ring_buffer__new(new->fd, found_record, new, NULL);
	if (!new->buffer) {
		ret = schedtape_fail(err, -errno, "bpf:%s: cannot be read: %s", path,
				     strerror(errno));
		bpf_ring_close(new);
		return ret;
	}
	/* However many come meanwhile, this ends. */
	for (i = 0; i < DROP_MAX && ring_buffer__consume(new->buffer) == -EAGAIN; i++)
		new->taken = 0;
	new->open = true;
	*ring = new;
	return 0;
}

int bpf_ring_fd(const struct bpf_ring *ring)
{
	return ring_buffer__epoll_fd(ring->buffer);
}

void bpf_ring_take(struct bpf_ring *ring)
{
	ring->taken = 0;
	ring_buffer__consume(ring->buffer);
}

void bpf_ring_close(struct bpf_ring *ring)
{
	if (!ring)
		return;
	ring_buffer__free(ring->buffer);
	close(ring->fd);
	free(ring);
}

void bpf_ring_text(char text[BPF_RING_TEXT_LEN], const unsigned char *record, size_t bytes)
{
	char copy[BPF_RING_BYTES + 1] = "";
	size_t i, length;

	if (bytes > BPF_RING_BYTES)
		bytes = BPF_RING_BYTES;
	/* strchr() finds the zero that ends its string, too. */
	for (length = bytes; length && strchr("\n", record[length - 1]); length--)
		;
	memcpy(copy, record, length);
	text_safe(text, BPF_RING_TEXT_LEN, copy);
	if (strlen(text) == length && !memcmp(text, record, length))
		return;
	snprintf(text, BPF_RING_TEXT_LEN, "0x");
	for (i = 0; i < bytes; i++)
		sprintf(text + 2 + 2 * i, "%02x", record[i]);
}
