/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that grow, and that need no memory to speak of once they are large: then
 * they lie in a file without a name.
 */
#ifndef SCHEDTAPE_STORE_H
#define SCHEDTAPE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct schedtape_store - one array; all 0: an empty one
 * @memory: its entries, which move when it grows
 * @nr: how many
 * @bytes: of @memory that is there
 * @fd: with @in_file, -1: closed
 * @in_file: @memory is the file's
 * @no_file: there can be none: memory has to do
 */
struct schedtape_store {
	void *memory;
	uint64_t nr;
	uint64_t bytes;
	int fd;
	bool in_file;
	bool no_file;
};

/* @n more entries of @size bytes each, all 0.  -ENOMEM, -ENOSPC. */
int schedtape_store_add(struct schedtape_store *store, size_t size, uint64_t n);
/* One more, which is like @one.  The same. */
int schedtape_store_append(struct schedtape_store *store, const void *one, size_t size);
/* The file's pages that were touched need not stay in memory, as far as this process goes. */
void schedtape_store_let_go(const struct schedtape_store *store);
/* It is read only from now on. */
void schedtape_store_close(struct schedtape_store *store);
void schedtape_store_free(struct schedtape_store *store);

#endif /* SCHEDTAPE_STORE_H */
