// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_BYTES	(16U << 10)
#define MEMORY_BYTES	(1U << 20)	/* larger stores are files, and grow by this */

/* Opens a file without a name, so that it ends with this process; on a disk if possible. */
static int open_file(void)
{
	const char *const folders[] = { secure_getenv("TMPDIR"), "/var/tmp", "/tmp" };
	char path[4096];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (!folders[i] || !*folders[i])
			continue;
		snprintf(path, sizeof(path), "%s/schedtape-XXXXXX", folders[i]);
		fd = mkostemp(path, O_CLOEXEC);
		if (fd < 0)
			continue;
		unlink(path);
		return fd;
	}
	return -1;
}

/* Allocates the room on the disk, so that a full disk is an error and not a SIGBUS. */
static int grow_file(struct schedtape_store *store, uint64_t bytes)
{
	void *memory;
	int ret;

	ret = posix_fallocate(store->fd, store->bytes, bytes - store->bytes);
	if (ret)
		return -ret;
	/* Mappings of other processes stay as they are, and so does ours if this fails. */
	memory = mremap(store->memory, store->bytes, bytes, MREMAP_MAYMOVE);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	store->memory = memory;
	store->bytes = bytes;
	schedtape_store_let_go(store);
	return 0;
}

static int move_to_file(struct schedtape_store *store)
{
	void *memory = MAP_FAILED;
	int fd = open_file();

	if (fd < 0)
		return -errno;
	if (!posix_fallocate(fd, 0, store->bytes) &&
	    pwrite(fd, store->memory, store->bytes, 0) == (ssize_t)store->bytes)
		memory = mmap(NULL, store->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		close(fd);
		return -ENOSPC;
	}
	munmap(store->memory, store->bytes);
	store->memory = memory;
	store->fd = fd;
	store->in_file = true;
	return 0;
}

static int grow_memory(struct schedtape_store *store, uint64_t bytes)
{
	void *memory;

	if (store->memory)
		memory = mremap(store->memory, store->bytes, bytes, MREMAP_MAYMOVE);
	else
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	store->memory = memory;
	store->bytes = bytes;
	return 0;
}

static int grow(struct schedtape_store *store, uint64_t needed)
{
	uint64_t bytes = store->bytes ? store->bytes : FIRST_BYTES;

	if (!store->in_file && !store->no_file && store->bytes >= MEMORY_BYTES)
		store->no_file = move_to_file(store) < 0;
	if (store->in_file)
		return grow_file(store, (needed + MEMORY_BYTES - 1) / MEMORY_BYTES * MEMORY_BYTES);
	while (bytes < needed)
		bytes *= 2;
	return grow_memory(store, bytes);
}

int schedtape_store_add(struct schedtape_store *store, size_t size, uint64_t n)
{
	uint64_t needed = (store->nr + n) * size;
	int ret = needed > store->bytes ? grow(store, needed) : 0;

	if (!ret)
		store->nr += n;
	return ret;
}

int schedtape_store_append(struct schedtape_store *store, const void *one, size_t size)
{
	int ret = schedtape_store_add(store, size, 1);

	if (!ret)
		memcpy((char *)store->memory + (store->nr - 1) * size, one, size);
	return ret;
}

void schedtape_store_let_go(const struct schedtape_store *store)
{
	/* Loses no data: the kernel writes dirty pages of a shared mapping to the file. */
	if (store->in_file)
		madvise(store->memory, store->bytes, MADV_DONTNEED);
}

void schedtape_store_close(struct schedtape_store *store)
{
	if (store->memory)
		mprotect(store->memory, store->bytes, PROT_READ);
	schedtape_store_let_go(store);
}

void schedtape_store_free(struct schedtape_store *store)
{
	if (store->memory)
		munmap(store->memory, store->bytes);
	if (store->in_file)
		close(store->fd);
	memset(store, 0, sizeof(*store));
}
