// SPDX-License-Identifier: GPL-2.0-only
/*
 * mode=cache: for all of the guest, the instructions and the misses in modelled caches; for the
 * probes of switches and wake-ups also how many different cache lines and pages each call uses.
 * Caches have physical addresses, so that the same memory is the same line for each process.  They
 * replace what was used least recently, and nothing is prefetched.
 */
#include <string.h>

#include "plugin.h"

#define LINE_SHIFT	6
#define PAGE_SHIFT	12

/**
 * struct cache - a set-associative cache
 * @sets: a power of two
 * @ways: entries of a set
 * @tags: those of a set one after the other, the last one used first
 */
struct cache {
	uint32_t sets;
	uint32_t ways;
	uint64_t *tags;
};

/* The tag 0 is an empty entry. */
static uint64_t l1d_tags[64 * 8], l1i_tags[64 * 8], l2_tags[1024 * 16], tlb_tags[16 * 4];
static const struct cache l1d = { 64, 8, l1d_tags };		/* 32 KB */
static const struct cache l1i = { 64, 8, l1i_tags };		/* 32 KB */
static const struct cache l2 = { 1024, 16, l2_tags };		/* 1 MB */
static const struct cache tlb = { 16, 4, tlb_tags };		/* 64 pages of data */

/**
 * struct counts - what is counted, for all of the guest or for probes
 * @insns: instructions
 * @l1d: misses in the cache of data
 * @l1i: misses in the cache of instructions
 * @l2: misses of both in the second level
 * @tlb: data's pages that were not among the last 64
 */
struct counts {
	uint64_t insns;
	uint64_t l1d;
	uint64_t l1i;
	uint64_t l2;
	uint64_t tlb;
};

static struct counts all, probes;

/* The running probe. */
static bool in_probe;
static uint64_t probe_sp;

/* Calls of probes, and the different lines and pages of all of them. */
static uint64_t calls, lines, pages, code_lines;

/**
 * struct seen - what a call has used already
 * @keys: a hash table
 * @epochs: the call to which an entry belongs
 */
struct seen {
	uint64_t keys[4096];
	uint64_t epochs[4096];
};

static struct seen seen_lines, seen_pages, seen_code;

/* Returns true if this call sees @key for the first time.  A full table counts too many. */
static bool seen_first(struct seen *seen, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ull) >> 52, tries;

	for (tries = 0; tries < 64; tries++, i = (i + 1) % 4096) {
		if (seen->epochs[i] != calls) {
			seen->epochs[i] = calls;
			seen->keys[i] = key;
			return true;
		}
		if (seen->keys[i] == key)
			return false;
	}
	return true;
}

/* Uses an entry.  Returns whether it was missing. */
static bool cache_use(const struct cache *cache, uint64_t number)
{
	uint64_t *set = cache->tags + (number % cache->sets) * cache->ways, tag = number + 1;
	uint32_t i;

	for (i = 0; i < cache->ways && set[i] != tag; i++)
		;
	if (!i)
		return false;
	memmove(set + 1, set, (i < cache->ways ? i : i - 1) * sizeof(*set));
	set[0] = tag;
	return i == cache->ways;
}

#define COUNT(member) do {		\
	all.member++;			\
	probes.member += in_probe;	\
} while (0)

static void use_line(uint64_t line)
{
	if (in_probe)
		lines += seen_first(&seen_lines, line);
	if (!cache_use(&l1d, line))
		return;
	COUNT(l1d);
	if (cache_use(&l2, line))
		COUNT(l2);
}

static void use_data(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	const struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t first, last;

	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	first = qemu_plugin_hwaddr_phys_addr(hw);
	last = first + (1u << qemu_plugin_mem_size_shift(info)) - 1;
	if (in_probe)
		pages += seen_first(&seen_pages, first >> PAGE_SHIFT);
	if (cache_use(&tlb, first >> PAGE_SHIFT))
		COUNT(tlb);
	use_line(first >> LINE_SHIFT);
	/* Of what crosses a page's end, the second part may be anywhere. */
	if (last >> LINE_SHIFT != first >> LINE_SHIFT && last >> PAGE_SHIFT == first >> PAGE_SHIFT)
		use_line(last >> LINE_SHIFT);
}

static void fetch(const struct block *block)
{
	uint64_t line;

	for (line = block->addr >> LINE_SHIFT;
	     line <= (block->addr + block->bytes - 1) >> LINE_SHIFT; line++) {
		if (in_probe)
			code_lines += seen_first(&seen_code, line);
		if (!cache_use(&l1i, line))
			continue;
		COUNT(l1i);
		if (cache_use(&l2, line))
			COUNT(l2);
	}
}

/* A probe runs from its first instruction until its return address has left the stack. */
static void execute(unsigned int cpu, void *data)
{
	const struct block *block = data;

	if (in_probe && plugin_reg(cpu, REG_STACK) > probe_sp)
		in_probe = false;
	if (!in_probe && block_begins(block) && block->symbol->probe) {
		in_probe = true;
		probe_sp = plugin_reg(cpu, REG_STACK);
		calls++;
	}
	all.insns += block->insns;
	if (in_probe)
		probes.insns += block->insns;
	fetch(block);
}

static void cache_translate(struct qemu_plugin_tb *tb, struct block *block)
{
	size_t i;

	qemu_plugin_register_vcpu_tb_exec_cb(tb, execute, QEMU_PLUGIN_CB_R_REGS, block);
	for (i = 0; i < block->insns; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), use_data,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

/* What the caches have stays there. */
static void cache_begin(void)
{
	memset(&all, 0, sizeof(all));
	memset(&probes, 0, sizeof(probes));
	calls = 0;
	lines = 0;
	pages = 0;
	code_lines = 0;
	in_probe = false;
	memset(&seen_lines, 0, sizeof(seen_lines));
	memset(&seen_pages, 0, sizeof(seen_pages));
	memset(&seen_code, 0, sizeof(seen_code));
}

static void report_counts(FILE *out, const char *name, const struct counts *counts)
{
	fprintf(out, ", \"%s\": {\"instructions\": %" PRIu64 ", \"l1d\": %" PRIu64
		", \"l1i\": %" PRIu64 ", \"l2\": %" PRIu64 ", \"tlb\": %" PRIu64 "}", name,
		counts->insns, counts->l1d, counts->l1i, counts->l2, counts->tlb);
}

static void cache_report(FILE *out)
{
	report_counts(out, "all", &all);
	report_counts(out, "probes", &probes);
	fprintf(out, ", \"calls\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"pages\": %" PRIu64
		", \"code_lines\": %" PRIu64, calls, lines, pages, code_lines);
}

const struct mode mode_cache = {
	.name = "cache", .translate = cache_translate, .begin = cache_begin, .report = cache_report,
};
