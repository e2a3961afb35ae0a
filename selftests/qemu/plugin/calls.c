// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the instructions of each of the module's functions, of the kernel's functions that they
 * call, of each call with all that it calls, and of sections with interrupts off.
 *
 * A call lasts until its return address has left the stack.  An interrupt in the middle of it, what
 * the scheduler does when it sleeps, and waiting for a spinlock is not the module's.  With several
 * CPUs such a wait depends on the host: it may have stopped the CPU that has the lock.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define EFLAGS_IF	0x200
#define STACK_SIZE	16384
#define FRAMES_MAX	64
#define TABLE_SIZE	8192	/* a power of two */

/**
 * struct frame - a call of a function of the module, or an excursion from it
 * @sp: the stack pointer when it began
 * @ours: the module runs, or the kernel for it
 * @serial: the same for all calls below one from outside of the module
 * @symbol: the module's function
 * @caller: the function before that
 * @insns: instructions, with those of its calls
 */
struct frame {
	uint64_t sp;
	bool ours;
	uint64_t serial;
	const struct symbol *symbol;
	const struct symbol *caller;
	uint64_t insns;
};

/**
 * struct run - instructions with interrupts off in one call from outside of the module
 * @insns: how many
 * @serial: of the call's frames
 * @symbol: the module's function that was the first
 * @caller: the function that has called it
 */
struct run {
	uint64_t insns;
	uint64_t serial;
	const struct symbol *symbol;
	const struct symbol *caller;
};

/**
 * struct section - the time from where interrupts are switched off to where they are on again
 * @all: its instructions
 * @ours: those of the module, and of what it has called
 */
struct section {
	uint64_t all;
	uint64_t ours;
};

/**
 * struct count - what is counted of a pair of functions
 * @symbol: a function
 * @caller: the function that has called it
 * @calls: how often it was called
 * @insns: instructions
 * @max: those of the longest call
 */
struct count {
	const struct symbol *symbol;
	const struct symbol *caller;
	uint64_t calls;
	uint64_t insns;
	uint64_t max;
};

/**
 * struct cpu - a CPU of the guest
 * @frames: calls that have not returned, of all stacks
 * @nr_frames: entries of @frames
 * @serial: the number of calls from outside
 * @off: interrupts are off
 * @section: since then
 * @run: the module's last instructions in it
 * @last: the function of the last block
 * @ours: the running block's frame, if it is the module's
 * @sp: the stack pointer then
 * @longest: the section with most of our instructions
 * @longest_run: the longest of all
 * @own: instructions of functions themselves; of the kernel's by the module's function that called
 * @calls: calls of the module's functions, by the function that called
 */
static struct cpu {
	struct frame frames[FRAMES_MAX];
	unsigned int nr_frames;
	uint64_t serial;
	bool off;
	struct section section;
	struct run run;
	const struct symbol *last;
	struct frame *ours;
	uint64_t sp;
	struct section longest;
	struct run longest_run;
	struct count own[TABLE_SIZE];
	struct count calls[TABLE_SIZE];
} *cpus[PLUGIN_CPUS_MAX];

static struct cpu *get_cpu(unsigned int number)
{
	if (!cpus[number])
		cpus[number] = calloc(1, sizeof(struct cpu));
	if (!cpus[number])
		abort();
	return cpus[number];
}

static struct count *get_count(struct count *table, const struct symbol *symbol,
			       const struct symbol *caller)
{
	size_t i = ((uintptr_t)symbol * 31 + (uintptr_t)caller) * 0x9e3779b97f4a7c15ull >> 51;
	size_t tries;

	for (tries = 0; tries < TABLE_SIZE; tries++, i = (i + 1) % TABLE_SIZE) {
		if (!table[i].symbol)
			table[i] = (struct count){ .symbol = symbol, .caller = caller };
		if (table[i].symbol == symbol && table[i].caller == caller)
			return &table[i];
	}
	fprintf(stderr, "plugin: more functions than TABLE_SIZE\n");
	abort();
}

/* -- sections ------------------------------------------------------------------ */

static void section_end(struct cpu *cpu)
{
	cpu->off = false;
	if (cpu->section.ours > cpu->longest.ours)
		cpu->longest = cpu->section;
	cpu->section = (struct section){ 0 };
	cpu->run = (struct run){ 0 };
}

static void section_add(struct cpu *cpu, uint64_t insns)
{
	const struct frame *frame = cpu->ours;

	cpu->section.all += insns;
	if (!frame)
		return;
	cpu->section.ours += insns;
	if (cpu->run.serial != frame->serial)
		cpu->run = (struct run){
			.serial = frame->serial, .symbol = frame->symbol, .caller = frame->caller,
		};
	cpu->run.insns += insns;
	if (cpu->run.insns > cpu->longest_run.insns)
		cpu->longest_run = cpu->run;
}

/**
 * struct rest - an instruction that switches interrupts off
 * @insns: instructions of its block from there on
 */
struct rest {
	uint64_t insns;
};

static void execute_cli(unsigned int number, void *data)
{
	struct cpu *cpu = get_cpu(number);
	const struct rest *rest = data;

	if (cpu->off)
		return;
	cpu->off = true;
	section_add(cpu, rest->insns);
}

/* -- calls --------------------------------------------------------------------- */

static void frame_end(struct cpu *cpu, const struct frame *frame)
{
	struct count *count;

	if (!frame->ours)
		return;
	count = get_count(cpu->calls, frame->symbol, frame->caller);
	count->calls++;
	count->insns += frame->insns;
	if (frame->insns > count->max)
		count->max = frame->insns;
}

static bool frame_is_on_stack(const struct frame *frame, uint64_t sp)
{
	return sp <= frame->sp && frame->sp - sp < STACK_SIZE;
}

/* Ends what has returned on this stack.  Returns the innermost call that has not, or NULL. */
static struct frame *frame_find(struct cpu *cpu, uint64_t sp)
{
	struct frame *top = NULL;
	unsigned int i, kept = 0;

	for (i = 0; i < cpu->nr_frames; i++) {
		const struct frame *frame = &cpu->frames[i];

		if (sp > frame->sp && sp - frame->sp < STACK_SIZE) {
			frame_end(cpu, frame);
			continue;
		}
		cpu->frames[kept] = *frame;
		if (frame_is_on_stack(frame, sp))
			top = &cpu->frames[kept];
		kept++;
	}
	cpu->nr_frames = kept;
	return top;
}

/* @outer: what it is called from, or NULL */
static struct frame *frame_begin(struct cpu *cpu, uint64_t sp, bool ours,
				 const struct block *block, const struct frame *outer)
{
	uint64_t serial = outer && outer->ours ? outer->serial : ++cpu->serial;

	/* The oldest is of a task that sleeps, or moved to another CPU. */
	if (cpu->nr_frames == FRAMES_MAX)
		memmove(cpu->frames, cpu->frames + 1, --cpu->nr_frames * sizeof(cpu->frames[0]));
	cpu->frames[cpu->nr_frames] = (struct frame){
		.sp = sp, .ours = ours, .serial = serial, .symbol = block->symbol,
		.caller = cpu->last,
	};
	return &cpu->frames[cpu->nr_frames++];
}

static bool is_ours(const struct block *block)
{
	return block->symbol && block->symbol->ours;
}

/* Does the block begin a function that another task's or CPU's time goes into? */
static bool is_wait(const struct block *block)
{
	const char *name;

	if (!block_begins(block))
		return false;
	name = block->symbol->name;
	return !strcmp(name, "__schedule") || strstr(name, "spin_lock_slowpath");
}

/* Sets the CPU's @ours. */
static void find_ours(unsigned int number, const struct block *block, bool interrupt)
{
	struct cpu *cpu = get_cpu(number);
	struct frame *top;

	cpu->ours = NULL;
	if (!is_ours(block) && !cpu->nr_frames)
		return;
	cpu->sp = plugin_reg(number, REG_STACK);
	top = frame_find(cpu, cpu->sp);
	if (is_ours(block)) {
		if (!top || !top->ours || block_begins(block))
			top = frame_begin(cpu, cpu->sp, true, block, top);
	} else if (top && top->ours && (interrupt || is_wait(block))) {
		top = frame_begin(cpu, cpu->sp, false, block, top);
	}
	if (top && top->ours)
		cpu->ours = top;
}

static void count_ours(struct cpu *cpu, const struct block *block)
{
	const struct symbol *symbol = block->symbol ? block->symbol : cpu->ours->symbol;
	struct count *count = get_count(cpu->own, symbol,
					symbol->ours ? NULL : cpu->ours->symbol);
	struct frame *frame;

	count->calls += block_begins(block);
	count->insns += block->insns;
	for (frame = cpu->ours; frame >= cpu->frames; frame--) {
		if (!frame_is_on_stack(frame, cpu->sp))
			continue;
		if (!frame->ours)
			break;
		frame->insns += block->insns;
	}
}

static void execute(unsigned int number, void *data)
{
	struct cpu *cpu = get_cpu(number);
	const struct block *block = data;
	bool off = !(plugin_reg(number, REG_FLAGS) & EFLAGS_IF);
	/* No instruction has switched them off. */
	bool interrupt = off && !cpu->off;

	if (!off && cpu->off)
		section_end(cpu);
	cpu->off = off;
	find_ours(number, block, interrupt);
	if (off)
		section_add(cpu, block->insns);
	if (cpu->ours)
		count_ours(cpu, block);
	/* A thunk jumps to the function that its caller calls. */
	if (!block->symbol || strncmp(block->symbol->name, "__x86_", 6))
		cpu->last = block->symbol;
}

static void execute_user(unsigned int number, void *data)
{
	struct cpu *cpu = get_cpu(number);

	if (cpu->off)
		section_end(cpu);
}

/* -- what main.c calls --------------------------------------------------------- */

void calls_translate(struct qemu_plugin_tb *tb, struct block *block)
{
	struct rest *rest;
	uint8_t byte;
	size_t i;

	if (!block_in_kernel(block)) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, execute_user, QEMU_PLUGIN_CB_NO_REGS,
						     NULL);
		return;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, execute, QEMU_PLUGIN_CB_R_REGS, block);
	for (i = 0; i < block->insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) != 1 ||
		    qemu_plugin_insn_data(insn, &byte, 1) != 1 || byte != 0xfa)
			continue;
		rest = malloc(sizeof(*rest));
		if (!rest)
			abort();
		rest->insns = block->insns - i;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, execute_cli, QEMU_PLUGIN_CB_NO_REGS,
						       rest);
	}
}

void calls_begin(void)
{
	unsigned int i;

	for (i = 0; i < PLUGIN_CPUS_MAX; i++)
		if (cpus[i])
			memset(cpus[i], 0, sizeof(*cpus[i]));
}

static const char *name_of(const struct symbol *symbol)
{
	return symbol ? symbol->name : "";
}

/* Returns whether a function is the module's, and whether its caller is. */
static const char *room_of(const struct symbol *symbol, const struct symbol *caller)
{
	if (!symbol->ours)
		return "kernel";
	return caller && !caller->ours ? "outside" : "module";
}

/* Prints the counts of all CPUs.  A function that several have is there several times. */
static void report_table(FILE *out, const char *name, size_t offset)
{
	const char *comma = "";
	unsigned int i, j;

	fprintf(out, ", \"%s\": [", name);
	for (i = 0; i < PLUGIN_CPUS_MAX; i++) {
		const struct count *table = (const void *)((const char *)cpus[i] + offset);

		for (j = 0; cpus[i] && j < TABLE_SIZE; j++) {
			if (!table[j].symbol)
				continue;
			fprintf(out, "%s{\"name\": \"%s\", \"caller\": \"%s\", \"from\": \"%s\""
				", \"calls\": %" PRIu64 ", \"instructions\": %" PRIu64
				", \"max\": %" PRIu64 "}", comma, table[j].symbol->name,
				name_of(table[j].caller), room_of(table[j].symbol, table[j].caller),
				table[j].calls, table[j].insns, table[j].max);
			comma = ", ";
		}
	}
	fprintf(out, "]");
}

void calls_report(FILE *out)
{
	struct section longest = { 0 };
	struct run run = { 0 };
	unsigned int i;

	for (i = 0; i < PLUGIN_CPUS_MAX; i++) {
		if (cpus[i] && cpus[i]->longest.ours > longest.ours)
			longest = cpus[i]->longest;
		if (cpus[i] && cpus[i]->longest_run.insns > run.insns)
			run = cpus[i]->longest_run;
	}
	fprintf(out, ", \"off\": {\"instructions\": %" PRIu64
		", \"function\": \"%s\", \"caller\": \"%s\"}", run.insns, name_of(run.symbol),
		name_of(run.caller));
	fprintf(out, ", \"section\": {\"ours\": %" PRIu64 ", \"all\": %" PRIu64 "}",
		longest.ours, longest.all);
	report_table(out, "own", offsetof(struct cpu, own));
	report_table(out, "calls", offsetof(struct cpu, calls));
}
