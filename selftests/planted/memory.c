// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs with memory and with numbers: KASAN, kmemleak, HARDENED_USERCOPY and UBSAN.
 */
#include <linux/compiler.h>
#include <linux/slab.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "planted.h"

#define SIZE 64

/* Hides the access from the compiler, which must not optimise it away. */
static void touch(char *memory, int offset)
{
	OPTIMIZER_HIDE_VAR(memory);
	OPTIMIZER_HIDE_VAR(offset);
	WRITE_ONCE(memory[offset], 1);
}

void planted_use_after_free(void)
{
	char *memory = kmalloc(SIZE, GFP_KERNEL);

	if (!memory)
		return;
	kfree(memory);
	OPTIMIZER_HIDE_VAR(memory);
	touch(memory, 0);
}

void planted_out_of_slab(void)
{
	char *memory = kmalloc(SIZE, GFP_KERNEL);

	if (!memory)
		return;
	touch(memory, SIZE);
	kfree(memory);
}

void planted_out_of_stack(void)
{
	char memory[SIZE];

	touch(memory, SIZE);
}

void planted_out_of_vmalloc(void)
{
	char *memory = vmalloc(SIZE);

	if (!memory)
		return;
	touch(memory, SIZE);
	vfree(memory);
}

/* Makes the first check of copy_to_user(), with a size beyond the object's. */
void planted_out_of_object(void)
{
	char *memory = kmalloc(SIZE, GFP_KERNEL);
	unsigned long size = 2 * SIZE;

	if (!memory)
		return;
	OPTIMIZER_HIDE_VAR(size);
	check_object_size(memory, size, true);
	kfree(memory);
}

void planted_leak(void)
{
	int i;

	/*
	 * Stale pointers cannot hide all of so many objects: some are on a stack, and on Linux
	 * 7 some 90 of each size and CPU in the allocator's own arrays (sheaves).
	 */
	for (i = 0; i < 1024; i++) {
		char *memory = kmalloc(SIZE, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(memory);
	}
}

void planted_shift(void)
{
	int bits = 40, number = 1;

	OPTIMIZER_HIDE_VAR(bits);
	number <<= bits;
	OPTIMIZER_HIDE_VAR(number);
}

void planted_index(void)
{
	/* In one structure, so that the wrong access stays within it. */
	struct {
		int first[4];
		int rest[4];
	} numbers = {};
	int i = 5;

	OPTIMIZER_HIDE_VAR(i);
	numbers.first[i] = i;
	barrier_data(&numbers);
}
