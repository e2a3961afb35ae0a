/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that a command writes, which is then whole or not there.
 */
#ifndef SCHEDTAPE_NEW_FILE_H
#define SCHEDTAPE_NEW_FILE_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include <schedtape.h>

/**
 * struct new_file - the file
 * @path: where it is to be in the end
 * @name: what it is called until it is whole; NULL: it is a device or a pipe, which takes all at
 *	once
 */
struct new_file {
	FILE *to;
	char *path;
	char *name;
};

/**
 * struct new_file_kind - what is in the file
 * @what: "page"
 * @begin: its first @length bytes.  A file of that name which begins otherwise is not replaced,
 *	because a tape may be lost so
 */
struct new_file_kind {
	const char *what;
	const char *begin;
	size_t length;
};

/* Returns the error of a stream that has just failed. */
static inline int new_file_error(void)
{
	return errno ? -errno : -EIO;
}

/*
 * Opens the file, or what destination_find() has found instead of one.  Returns 0; -EEXIST after
 * setting @err: a file of that name is of another kind; -errno.
 */
int new_file_open(struct new_file *file, const char *path, const struct new_file_kind *kind,
		  struct schedtape_error *err);
/*
 * @rc: of writing it.  Without an error the file gets its name, otherwise it is removed.  Returns
 * @rc or -errno.
 */
int new_file_close(struct new_file *file, int rc);

#endif /* SCHEDTAPE_NEW_FILE_H */
