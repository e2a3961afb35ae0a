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
 */
struct symbol {
	uint64_t addr;
	const char *name;
	bool ours;
};

extern struct symbol *symbols;
extern size_t nr_symbols;

void symbols_read(char *text);
const struct symbol *symbols_find(uint64_t addr);

/**
 * struct block - translated instructions that are executed one after the other
 * @addr: of the first
 * @insns: how many
 * @symbol: their function; NULL: not the kernel's
 */
struct block {
	uint64_t addr;
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

/* Adds callbacks to a block, while the plugin is on. */
void calls_translate(struct qemu_plugin_tb *tb, struct block *block);
/* Sets all counts to 0. */
void calls_begin(void);
/* Prints the members of a JSON object. */
void calls_report(FILE *out);

#endif /* PLUGIN_H */
