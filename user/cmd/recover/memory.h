/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a crashed machine.  Nothing in it can be trusted. */
#ifndef SCHEDTAPE_RECOVER_MEMORY_H
#define SCHEDTAPE_RECOVER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape/event.h>

/**
 * struct memory - memory by its physical addresses
 * @read: copies @bytes from @address on.  Returns false if not all of them are there
 * @next: moves @address, a multiple of STAPE_PAGE_SIZE, up to the next page of that size that may
 *	be there.  Returns false if there is none
 * @arg: for these
 */
struct memory {
	bool (*read)(void *arg, uint64_t address, void *to, size_t bytes);
	bool (*next)(void *arg, uint64_t *address);
	void *arg;
};

static inline bool memory_read(const struct memory *memory, uint64_t address, void *to,
			       size_t bytes)
{
	return memory->read(memory->arg, address, to, bytes);
}

#endif /* SCHEDTAPE_RECOVER_MEMORY_H */
