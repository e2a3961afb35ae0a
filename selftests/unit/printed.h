/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs commands with a small tape, and looks at what they print.
 */
#ifndef SELFTESTS_PRINTED_H
#define SELFTESTS_PRINTED_H

#include <commands.h>

#include "common/output.h"
#include "tap.h"
#include "tapes.h"

#define S 1000000000ULL

static char text[65536], said[65536];

/* The tape of a program: write_*() and make_*() write it, commands read it. */
static struct blob the_tape;

static inline void capture(int fd, int file, int saved, char *to, size_t size)
{
	ssize_t n = pread(file, to, size - 1, 0);

	to[n < 0 ? 0 : n] = '\0';
	dup2(saved, fd);
	close(saved);
	close(file);
}

static int out_file, out_before, messages_file, messages_before;

/* From here to end_capture() all output goes to @text, and all messages to @said. */
static inline void begin_capture(void)
{
	out_file = memfd_create("out", MFD_CLOEXEC);
	out_before = dup(STDOUT_FILENO);
	messages_file = memfd_create("messages", MFD_CLOEXEC);
	messages_before = dup(STDERR_FILENO);
	fflush(stdout);
	dup2(out_file, STDOUT_FILENO);
	dup2(messages_file, STDERR_FILENO);
}

static inline void end_capture(void)
{
	fflush(stdout);
	capture(STDOUT_FILENO, out_file, out_before, text, sizeof(text));
	capture(STDERR_FILENO, messages_file, messages_before, said, sizeof(said));
}

/*
 * Runs a command with up to four arguments, NULL behind the last one; its output is in @text, its
 * messages in @said. Returns its status.
 */
static inline int run_on(const char *first, int (*command)(int argc, char **argv), const char *a,
			 const char *b, const char *c)
{
	char *argv[] = {
		(char *)"command", (char *)first, (char *)a, (char *)b, (char *)c, NULL,
	};
	int argc = 2, status;

	while (argv[argc])
		argc++;
	begin_capture();
	status = command(argc, argv);
	end_capture();
	return status;
}

static inline int run_more(int (*command)(int argc, char **argv), const char *a, const char *b,
			   const char *c)
{
	return run_on(the_tape.path, command, a, b, c);
}

static inline int run(int (*command)(int argc, char **argv), const char *option)
{
	return run_more(command, option, NULL, NULL);
}

static inline void has(const char *expected, const char *what)
{
	if (!ok(strstr(text, expected), "%s", what))
		printf("# no \"%s\" in:\n# %s\n", expected, text);
}

/* Removes the blanks from indented JSON. */
static inline void squeeze(void)
{
	char *to = text, *from;

	for (from = text; *from; from++)
		if (*from != ' ' && *from != '\n')
			*to++ = *from;
	*to = '\0';
}

/* Leaves one blank where there are several, so that the width of columns does not count. */
static inline void squeeze_blanks(void)
{
	char *to = text, *from;

	for (from = text; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
}

static inline void has_not(const char *unexpected, const char *what)
{
	if (!ok(!strstr(text, unexpected), "%s", what))
		printf("# \"%s\" in:\n# %s\n", unexpected, text);
}

/* Writes a tape of a machine of type @arch, and takes over @meta. */
static inline void write_tape_of(unsigned char (*pages)[STAPE_PAGE_SIZE], size_t n,
				 const struct schedtape_end *end, const char *arch,
				 struct json_object *meta)
{
	struct schedtape_writer_options options = { .size = sizeof(options) };
	struct schedtape_task_info task = {
		.time = 1 * S, .start_time = 5, .pid = 10, .tgid = 10, .nice = -5, .comm = "shell",
	};
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	size_t i;
	int ret;

	json_object_object_add(meta, "arch", json_object_new_string(arch));
	ret = tape_writer_create(the_tape.path, meta, &options, &writer, &err);
	if (!ret)
		ret = schedtape_writer_tasks(writer, &task, 1, &err);
	for (i = 0; i < n && !ret; i++)
		ret = schedtape_writer_pages(writer, pages[i], 1, &err);
	if (!ret)
		ret = schedtape_writer_end(writer, end, &err);
	if (ret || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
}

static inline void write_tape(unsigned char (*pages)[STAPE_PAGE_SIZE], size_t n,
			      const struct schedtape_end *end, bool overwrite)
{
	struct json_object *meta = json_object_new_object();

	json_object_object_add(meta, "overwrite", json_object_new_boolean(overwrite));
	write_tape_of(pages, n, end, "riscv64", meta);
}

/* Writes a tape of the second from 1 to 2, whose CPUs are those of the pages. */
static inline void write_second_of(unsigned char (*pages)[STAPE_PAGE_SIZE], size_t n,
				   const char *arch, struct json_object *meta)
{
	struct schedtape_cpu cpus[8] = { { .cpu = 0 } };
	struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1 * S, .stop_time = 2 * S, .cpus = cpus,
	};
	struct stape_page_header header;
	size_t i, at;

	for (i = 0; i < n; i++) {
		memcpy(&header, pages[i], sizeof(header));
		for (at = 0; at < end.nr_cpus && cpus[at].cpu != header.cpu; at++)
			;
		if (at == end.nr_cpus)
			cpus[end.nr_cpus++].cpu = header.cpu;
		cpus[at].events += header.events;
	}
	write_tape_of(pages, n, &end, arch, meta);
}

static inline void write_second(unsigned char (*pages)[STAPE_PAGE_SIZE], size_t n)
{
	write_second_of(pages, n, "riscv64", json_object_new_object());
}

/* 10 is preempted, paused, and boosted; 20 enters, loopback wakes it, and it leaves. */
static inline void make_tape(void)
{
	static const struct schedtape_cpu cpus[] = {
		{ .cpu = 0, .events = 8 },
		{ .cpu = 3, .events = 1, .lost = 1234, .lost_first = 2 * S, .lost_last = 3 * S },
	};
	static const struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 1 * S, .stop_time = 9 * S, .cpus = cpus, .nr_cpus = 2,
	};
	static unsigned char pages[3][STAPE_PAGE_SIZE];
	const uint64_t mask[] = { 0x8f, 1 };
	uint64_t words[5] = {
		1ULL << 32 | 20, maker_prio_word(1, 0, 50, 49, false), 1500000000,
		3ULL << 32 | STAPE_STATE_SLEEPING, 2,
	};
	struct maker m;

	maker_begin(&m, pages[0], 0, 0, 1 * S);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_task(&m, 2 * S, 20, STAPE_TASK_ENTERS, "server", words);
	maker_wake(&m, 2 * S + 1000, 20, STAPE_CTX_SOFTIRQ_TASK, 2 * S + 2000, 3);
	maker_prio(&m, 3 * S, 10, maker_prio_word(0, -5, 0, 49, true));
	maker_prio(&m, 4 * S, 10, maker_prio_word(6, 0, 0, -1, false));
	maker_affinity(&m, 4 * S, 10, mask, 2);

	maker_begin(&m, pages[1], 0, 1, 7 * S);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_paused(&m, 5 * S, 7 * S);
	words[3] = STAPE_STATE_RUNNING;
	maker_task(&m, 8 * S, 20, STAPE_TASK_LEAVES, "server", words);
	maker_task(&m, 8 * S, 30, STAPE_TASK_EXITS, "\033[2J", words);
	maker_switch(&m, 8 * S, 0, STAPE_NEXT_OTHER, STAPE_STATE_RUNNING);

	maker_begin(&m, pages[2], 3, 0, 3 * S);
	maker_lost(&m, 1234, 2 * S, 3 * S);
	maker_event(&m, 4 * S, STAPE_EV_MIGRATE, 30, 1);
	write_tape(pages, 3, &end, false);
}

#endif /* SELFTESTS_PRINTED_H */
