/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of the plugin.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <qemu-plugin.h>
#include <stdio.h>

/**
 * struct symbol - a function of the guest's kernel
 * @addr: where it begins; it ends where the next one begins
 * @name: its name
 * @ours: it is the module's
 * @probe: it is a recorder's probe of an event of which there are three for each wake-up
 */
struct symbol {
	uint64_t addr;
	const char *name;
	bool ours;
	bool probe;
};

extern struct symbol *symbols;
extern size_t nr_symbols;

void symbols_read(char *text);
const struct symbol *symbols_find(uint64_t addr);

/**
 * struct block - translated instructions that are executed one after the other
 * @addr: of the first
 * @bytes: length of all
 * @insns: how many
 * @symbol: their function; NULL: not the kernel's
 */
struct block {
	uint64_t addr;
	uint32_t bytes;
	uint32_t insns;
	const struct symbol *symbol;
};

static inline bool block_in_kernel(const struct block *block)
{
	return block->addr >> 63;
}

static inline bool block_begins(const struct block *block)
{
	return block->symbol && block->symbol->addr == block->addr;
}

/* The registers that can be read, in callbacks with QEMU_PLUGIN_CB_R_REGS. */
enum reg { REG_STACK, REG_FLAGS, REG_TEXT, REG_LENGTH, REGS };

uint64_t plugin_reg(unsigned int cpu, enum reg reg);

#define PLUGIN_CPUS_MAX		1024

/**
 * struct mode - what is counted
 * @name: of the plugin's argument
 * @translate: adds callbacks to a block, while the plugin is on
 * @begin: sets all counts to 0
 * @report: prints the members of a JSON object
 */
struct mode {
	const char *name;
	void (*translate)(struct qemu_plugin_tb *tb, struct block *block);
	void (*begin)(void);
	void (*report)(FILE *out);
};

extern const struct mode mode_cache, mode_calls;

#endif /* PLUGIN_H */
