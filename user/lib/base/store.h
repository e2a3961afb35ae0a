/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that grow.  Large ones need little memory, because they lie in a file without a
 * name.
 */
#ifndef SCHEDTAPE_STORE_H
#define SCHEDTAPE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct schedtape_store - one array; all 0: an empty one
 * @memory: its entries, which move when it grows
 * @nr: number of entries
 * @bytes: size of @memory
 * @fd: the file, with @in_file, which exec() closes
 * @in_file: @memory is a mapping of the file
 * @no_file: no file could be made, so all entries stay in memory
 */
struct schedtape_store {
	void *memory;
	uint64_t nr;
	uint64_t bytes;
	int fd;
	bool in_file;
	bool no_file;
};

/* Adds @n entries of @size bytes each, all 0.  Returns 0, -ENOMEM or -ENOSPC. */
int schedtape_store_add(struct schedtape_store *store, size_t size, uint64_t n);
/* Adds a copy of @one.  Returns the same. */
int schedtape_store_append(struct schedtape_store *store, const void *one, size_t size);
/* Unmaps the file's pages, so that they count no longer as memory of this process. */
void schedtape_store_let_go(const struct schedtape_store *store);
/* Makes the store read-only. */
void schedtape_store_close(struct schedtape_store *store);
void schedtape_store_free(struct schedtape_store *store);

#endif /* SCHEDTAPE_STORE_H */
