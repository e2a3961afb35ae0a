// SPDX-License-Identifier: GPL-2.0-only
#include "recover/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libkdumpfile/kdumpfile.h>

#include "base/error.h"

#define FLATTENED	"makedumpfile"	/* begins a flattened dump */

/**
 * struct vmcore - a dump
 * @pages: which pages the file has, by their numbers
 * @page_size: bytes of such a page
 * @left: pages that next() may still return.  Each needs a bit of the file at least, so a file that
 *	claims to have more is not searched to the end of all addresses
 */
struct vmcore {
	int fd;
	kdump_ctx_t *ctx;
	kdump_bmp_t *pages;
	uint64_t page_size;
	uint64_t left;
	char format[64];
	struct memory memory;
};

static bool vmcore_read(void *arg, uint64_t address, void *to, size_t bytes)
{
	struct vmcore *vmcore = arg;
	size_t length = bytes;

	kdump_clear_err(vmcore->ctx);
	return kdump_read(vmcore->ctx, KDUMP_MACHPHYSADDR, address, to, &length) == KDUMP_OK &&
	       length == bytes;
}

static bool vmcore_next(void *arg, uint64_t *address)
{
	struct vmcore *vmcore = arg;
	kdump_addr_t page = *address / vmcore->page_size, before = page;

	if (!vmcore->left)
		return false;
	vmcore->left--;
	if (kdump_bmp_find_set(vmcore->pages, &page) != KDUMP_OK ||
	    page > UINT64_MAX / vmcore->page_size)
		return false;
	if (page > before)
		*address = page * vmcore->page_size;
	return true;
}

static int fail(struct vmcore *vmcore, const char *path, int code, struct schedtape_error *err)
{
	const char *text = kdump_get_err(vmcore->ctx);

	return schedtape_fail(err, code, "%s: cannot be read as a dump of memory: %s", path,
			      text ? text : "unknown reason");
}

/* libkdumpfile has no good message for these. */
static int refuse_flattened(struct vmcore *vmcore, const char *path, struct schedtape_error *err)
{
	char begin[sizeof(FLATTENED) - 1];

	if (pread(vmcore->fd, begin, sizeof(begin), 0) != sizeof(begin) ||
	    memcmp(begin, FLATTENED, sizeof(begin)))
		return 0;
	return schedtape_fail(err, -ENOTSUP, "%s: a flattened dump is not supported: make a usual "
			      "one of it with \"makedumpfile -R NEW < %s\", or let QEMU dump with -R",
			      path, path);
}

static int refuse_xen(struct vmcore *vmcore, const char *path, struct schedtape_error *err)
{
	kdump_num_t type;

	if (kdump_get_number_attr(vmcore->ctx, KDUMP_ATTR_XEN_TYPE, &type) != KDUMP_OK ||
	    type == KDUMP_XEN_NONE)
		return 0;
	return schedtape_fail(err, -ENOTSUP, "%s: a dump of Xen is not supported", path);
}

/* Sets how many pages the dump may have.  A block device has no size in its inode. */
static int measure(struct vmcore *vmcore, const char *path, struct schedtape_error *err)
{
	off_t size = lseek(vmcore->fd, 0, SEEK_END);

	if (size <= 0 || lseek(vmcore->fd, 0, SEEK_SET))
		return schedtape_fail(err, -EINVAL, "%s: it is empty, or has no size: a dump has "
				      "to be a file or a block device", path);
	vmcore->left = 8 * (uint64_t)size;
	return 0;
}

static int look_at(struct vmcore *vmcore, const char *path, struct schedtape_error *err)
{
	kdump_attr_t attr = { .type = KDUMP_BITMAP };
	const char *format;
	kdump_num_t size;
	int ret;

	if (kdump_open_fd(vmcore->ctx, vmcore->fd) != KDUMP_OK)
		return fail(vmcore, path, -EINVAL, err);
	ret = refuse_xen(vmcore, path, err);
	if (ret)
		return ret;
	if (kdump_get_typed_attr(vmcore->ctx, KDUMP_ATTR_FILE_PAGEMAP, &attr) != KDUMP_OK)
		return fail(vmcore, path, -EINVAL, err);
	vmcore->pages = attr.val.bitmap;
	kdump_bmp_incref(vmcore->pages);
	if (kdump_get_number_attr(vmcore->ctx, KDUMP_ATTR_PAGE_SIZE, &size) != KDUMP_OK ||
	    size < STAPE_PAGE_SIZE || size % STAPE_PAGE_SIZE)
		size = STAPE_PAGE_SIZE;
	vmcore->page_size = size;
	if (kdump_get_string_attr(vmcore->ctx, KDUMP_ATTR_FILE_FORMAT, &format) == KDUMP_OK)
		snprintf(vmcore->format, sizeof(vmcore->format), "%s", format);
	return 0;
}

int vmcore_open(const char *path, struct vmcore **vmcore, struct schedtape_error *err)
{
	struct vmcore *core = calloc(1, sizeof(*core));
	int ret;

	if (!core)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	core->memory = (struct memory){ .read = vmcore_read, .next = vmcore_next, .arg = core };
	core->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (core->fd < 0) {
		ret = -errno;
		schedtape_fail(err, ret, "%s: %s", path, strerror(-ret));
		goto failed;
	}
	ret = measure(core, path, err);
	if (!ret)
		ret = refuse_flattened(core, path, err);
	if (ret)
		goto failed;
	core->ctx = kdump_new();
	if (!core->ctx) {
		ret = schedtape_fail(err, -ENOMEM, "out of memory");
		goto failed;
	}
	ret = look_at(core, path, err);
	if (ret)
		goto failed;
	*vmcore = core;
	return 0;

failed:
	vmcore_close(core);
	return ret;
}

const struct memory *vmcore_memory(const struct vmcore *vmcore)
{
	return &vmcore->memory;
}

const char *vmcore_format(const struct vmcore *vmcore)
{
	return vmcore->format;
}

void vmcore_close(struct vmcore *vmcore)
{
	if (vmcore->pages)
		kdump_bmp_decref(vmcore->pages);
	if (vmcore->ctx)
		kdump_free(vmcore->ctx);
	if (vmcore->fd >= 0)
		close(vmcore->fd);
	free(vmcore);
}
