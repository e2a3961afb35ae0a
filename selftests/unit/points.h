/* SPDX-License-Identifier: GPL-2.0-only */
/* Other tracepoints for tapes in tests: two formats as the kernel has them, and samples. */
#ifndef SELFTESTS_POINTS_H
#define SELFTESTS_POINTS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <schedtape.h>

#define POINTS_COMMON							\
	"format:\n"							\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"	\
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"	\
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define POINT_EXIT	7
#define POINT_ALL	9
#define POINT_ENTRY	300

static const struct schedtape_format points[] = {
	{
		.id = POINT_ENTRY, .system = "irq", .name = "irq_handler_entry", .filter = "irq>2",
		.format = "name: irq_handler_entry\nID: 300\n" POINTS_COMMON
			  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
			  "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\n"
			  "print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n",
	},
	{
		.id = POINT_EXIT, .system = "irq", .name = "irq_handler_exit",
		.format = "name: irq_handler_exit\nID: 7\n" POINTS_COMMON
			  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
			  "\tfield:int ret;\toffset:12;\tsize:4;\tsigned:1;\n\n"
			  "print fmt: \"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : "
			  "\"unhandled\"\n",
	},
};

static const struct schedtape_formats points_formats = {
	.size = sizeof(points_formats),
	.formats = points,
	.n = 2,
	.long_bytes = sizeof(long),
	.big_endian = __BYTE_ORDER == __BIG_ENDIAN,
};

/**
 * struct point_entry - data of irq_handler_entry
 * @where: of @name: its place, and its length in the upper half
 */
struct point_entry {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	int32_t irq;
	uint32_t where;
	char name[12];
};

struct point_exit {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	int32_t irq;
	int32_t ret;
};

static inline struct point_entry point_entry(int irq, const char *name)
{
	struct point_entry entry = { .type = POINT_ENTRY, .irq = irq };

	snprintf(entry.name, sizeof(entry.name), "%s", name);
	entry.where = offsetof(struct point_entry, name) | (strlen(entry.name) + 1) << 16;
	return entry;
}

static inline struct point_exit point_exit(int irq, int ret)
{
	return (struct point_exit) { .type = POINT_EXIT, .irq = irq, .ret = ret };
}

/* A format with fields of all kinds.  One has a name that Python does not take for a variable. */
static const char point_all_format[] __attribute__((unused)) =
	"name: all\nID: 9\n" POINTS_COMMON
	"\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:short low;\toffset:12;\tsize:2;\tsigned:1;\n"
	"\tfield:unsigned char class;\toffset:14;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned long flags;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long args[2];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:char comm[8];\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:struct thing what;\toffset:48;\tsize:12;\tsigned:0;\n"
	"\tfield:__data_loc int[] list;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\tfield:__rel_loc char[] text;\toffset:64;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"vec=%u %s flags=%s low=%s\", REC->vec, "
	"__print_symbolic(REC->vec, { 0, \"HI\" }, { 0x1, \"TIMER\" }), "
	"(REC->flags & 0xff) ? __print_flags(REC->flags & 0xff, \"|\", { 1UL, \"ONE\" }, "
	"{ (1UL << 2), \"FOUR\" }) : \"none\", __print_symbolic(REC->low, { -2, \"LOW\" })\n";

/**
 * struct point_all - data of this format
 * @list, @text: of @numbers and of @words: their places, and their lengths in the upper halves
 */
struct point_all {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint32_t vec;
	int16_t low;
	uint8_t class;
	uint8_t hole;
	uint64_t bits;
	uint64_t args[2];
	char comm[8];
	char what[12];
	uint32_t list;
	uint32_t text;
	int32_t numbers[2];
	char words[8];
} __attribute__((packed));

static inline struct point_all point_all(void)
{
	return (struct point_all) {
		.type = POINT_ALL, .flags = 0x11, .preempt_count = 2, .vec = 1, .low = -2,
		.class = 200, .bits = 1ULL << 63 | 5,
		.args = { 7, UINT64_MAX }, .comm = "shell",
		.list = offsetof(struct point_all, numbers) | 8 << 16, .text = 8 | 8 << 16,
		.numbers = { -1, 2 }, .words = "a\033 b",
	};
}

#endif /* SELFTESTS_POINTS_H */
