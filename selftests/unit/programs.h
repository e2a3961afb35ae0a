/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs, compiled from tapes that a test made, and printed as text. */
#ifndef SELFTESTS_PROGRAMS_H
#define SELFTESTS_PROGRAMS_H

#include <program/program.h>

#include "program/entries.h"
#include "timelines.h"

static inline const char *op_text(const struct schedtape_program *program,
				  const struct schedtape_op *op, char text[64])
{
	unsigned long long cpu = op->cpu, value = op->value;

	switch (op->kind) {
	case SCHEDTAPE_OP_WAKE:
		snprintf(text, 64, "%llu:wake %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_WAIT_EDGE:
		snprintf(text, 64, "%llu:wait %u", cpu, (uint32_t)value);
		break;
	case SCHEDTAPE_OP_WAIT_UNTIL:
		snprintf(text, 64, "%llu:until %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_WAIT_FOR:
		snprintf(text, 64, "%llu:for %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_FORK:
		snprintf(text, 64, "%llu:fork %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_RENAME:
		snprintf(text, 64, "%llu:name %s", cpu, program->names[value]);
		break;
	case SCHEDTAPE_OP_SETPRIO:
		snprintf(text, 64, "%llu:prio %llx", cpu, value);
		break;
	case SCHEDTAPE_OP_SETAFFINITY:
		snprintf(text, 64, "%llu:pin %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_MOVE:
		snprintf(text, 64, "%llu:move %llu", cpu,
			 (unsigned long long)program->cgroups[value]);
		break;
	case SCHEDTAPE_OP_SETSID:
		snprintf(text, 64, "%llu:setsid", cpu);
		break;
	case SCHEDTAPE_OP_EXIT:
		snprintf(text, 64, "%llu:exit", cpu);
		break;
	default:
		return "";
	}
	if (op->blocked)
		strcat(text, " D");
	if (op->expected)
		strcat(text, "!");
	return text;
}

/* Returns "0:until 0; 100:wake 0!; …", without wake-ups that do not count; "!": expected. */
static inline const char *program_text(const struct schedtape_program *program, uint32_t number)
{
	static char text[1024];
	char one[64];
	const struct schedtape_op *op = NULL;
	size_t at = 0;

	text[0] = '\0';
	if (number < program->nr_tasks)
		op = schedtape_program_begin(program, number);
	for (; op; op = schedtape_program_next(program, op)) {
		if (op->kind == SCHEDTAPE_OP_NONE)
			continue;
		at += snprintf(text + at, sizeof(text) - at, "%s%s", at ? "; " : "",
			       op_text(program, op, one));
	}
	return text;
}

/* The program of a test: compile() frees the one before. */
static struct schedtape_program *program;

static inline void compile_as(const struct schedtape_program_options *options)
{
	struct schedtape_error err = { "" };

	schedtape_program_free(program);
	program = NULL;
	schedtape_tape_rewind(tape, NULL);
	if (schedtape_program_compile(tape, options, &program, &err))
		printf("# %s\n", err.text);
}

static inline void compile(void)
{
	const struct schedtape_program_options options = { 0 };

	compile_as(&options);
}

static inline void is_program(uint32_t number, const char *expected, const char *what)
{
	const char *text = program ? program_text(program, number) : "none";

	if (!ok(!strcmp(text, expected), "%s", what))
		printf("# is \"%s\", not \"%s\"\n", text, expected);
}

static inline bool keep_pid(void *arg, const struct schedtape_task *task)
{
	return task->pid != *(uint32_t *)arg;
}

/* 1 runs on CPU 0, wakes 2, sleeps, and 2 wakes it. */
static inline void round_trip(void)
{
	fake_begin(1000, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 0);
	fake_story(tape, "1500 [0] irq wakes 1; 2000 [0] R -> 1; 2100 [0] wakes 2; "
			 "2300 [0] S -> 2; 2800 [0] wakes 1; 2900 [0] S -> 1; 3000 [0] S -> idle");
}

#endif
