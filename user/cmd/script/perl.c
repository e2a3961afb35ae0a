// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds scripts in Perl.  The pipe has a line for each tracepoint, with its number, its name and
 * the pattern with which Perl's unpack() reads its fields, then an empty line.  Through a second
 * pipe Perl answers which of them the script has functions for.  The first one then has records of
 * one size, in this machine's byte order, because reading them is what takes Perl least time.  If
 * a tracepoint's values are of any length, they come behind the record, which has their size.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/list.h"
#include "base/text.h"
#include "common/output.h"
#include "script/internal.h"

#define PERL		"perl"
#define OTHER_COMM	":other"
#define FIELD_BYTES	80	/* of the fields of one event, at most */
#define VALUES_MOST	(LINES_MOST / 2)	/* bytes behind the record of a sample */

/* The assembler finds the file from the folder that the Makefiles name with -Wa,-I. */
extern const char perl_engine[];
__asm__(".pushsection .rodata\n"
	".globl perl_engine\n"
	"perl_engine:\n"
	".incbin \"../bindings/perl/engine.pl\"\n"
	".byte 0\n"
	".popsection\n");

/**
 * struct record - an event in the pipe
 * @trace: number of its tracepoint; from NR_TRACES on, of the formats of the tape
 * @pid, @comm: the task that ran when it happened
 * @fields: names of 16 bytes, and numbers of 8; of a sample the number of bytes behind the record,
 *	and its context
 * @end: the end of a line, which lines_end() puts
 */
struct record {
	uint32_t trace;
	uint32_t cpu;
	uint32_t secs;
	uint32_t nsecs;
	int32_t pid;
	char comm[STAPE_COMM_LEN];
	char fields[FIELD_BYTES];
	char end;
} __attribute__((packed));

/* The task that runs on a CPU, and since when; PID 0: not known */
struct run {
	uint32_t pid;
	uint64_t since;
};

/**
 * struct perl - an interpreter
 * @pid: the process
 * @output: standard output, which the pipe replaces meanwhile
 * @runs: of each of @nr_runs CPUs
 * @wants: of @nr_wants tracepoints by number: the script has a function
 * @replaced: tracepoints that samples have, so that events of scheduling do not give them
 * @lost, @unknown: samples that are missing, and that cannot be decoded
 */
struct perl {
	pid_t pid;
	int output;
	struct run *runs;
	size_t nr_runs;
	bool *wants;
	size_t nr_wants;
	bool replaced[NR_TRACES];
	uint64_t lost;
	uint64_t unknown;
};

/* -- events ---------------------------------------------------------------- */

/* Bits of a task's state in the kernel, by STAPE_STATE_*. */
static const unsigned int state_bits[] = {
	[STAPE_STATE_RUNNING] = 0, [STAPE_STATE_SLEEPING] = 1, [STAPE_STATE_BLOCKED] = 2,
	[STAPE_STATE_STOPPED] = 4, [STAPE_STATE_TRACED] = 8, [STAPE_STATE_DEAD] = 16,
	[STAPE_STATE_PARKED] = 64, [STAPE_STATE_IDLE] = 128,
};

/* Sets a name as it is on the tape: scripts may want bytes that are not safe to print. */
static void set_name(char comm[STAPE_COMM_LEN], const struct trace_value *value)
{
	if (value->comm)
		memcpy(comm, value->comm, STAPE_COMM_LEN);
	else if (value->task->name_len)
		memcpy(comm, value->task->comm, STAPE_COMM_LEN);
	else if (value->number < 0)
		snprintf(comm, STAPE_COMM_LEN, "swapper/%u", (unsigned int)(-1 - value->number));
	else if (value->number)
		snprintf(comm, STAPE_COMM_LEN, ":%d", (int)value->number);
	else
		memcpy(comm, OTHER_COMM, sizeof(OTHER_COMM));
}

static void set_fields(char *to, const struct trace *trace, const struct trace_value *values)
{
	unsigned int i;
	int64_t number;

	for (i = 0; i < trace->nr; i++) {
		if (trace->fields[i].type == TRACE_NAME) {
			set_name(to, &values[i]);
			to += STAPE_COMM_LEN;
			continue;
		}
		number = values[i].number;
		if (trace->fields[i].type == TRACE_STATE)
			number = number < (int64_t)(sizeof(state_bits) / sizeof(*state_bits)) ?
				 state_bits[number] : 0;
		memcpy(to, &number, sizeof(number));
		to += sizeof(number);
	}
}

static void fill_record(struct print *print, struct record *record,
			const struct schedtape_event *ev, uint32_t number)
{
	uint32_t pid = trace_current(ev);
	struct trace_value name = trace_task(print, pid);
	bool idle = !pid && ev->curr_kind == STAPE_NEXT_IDLE;

	*record = (struct record) {
		.trace = number, .cpu = trace_cpu(print, ev), .secs = ev->time / 1000000000,
		.nsecs = ev->time % 1000000000, .pid = pid || idle ? (int32_t)pid : TRACE_OTHER_PID,
	};
	if (idle)
		memcpy(record->comm, "swapper", sizeof("swapper"));
	else
		set_name(record->comm, &name);
}

static void put_record(struct print *print, const struct schedtape_event *ev, uint32_t number,
		       const struct trace_value *values)
{
	struct record record;

	fill_record(print, &record, ev, number);
	set_fields(record.fields, &traces[number], values);
	lines_text(&print->lines, (const char *)&record, offsetof(struct record, end));
	lines_end(&print->lines);
}

/* Returns what runs on the CPU of an event; NULL: it has none, or there is no memory. */
static struct run *run_of(struct perl *perl, uint32_t cpu)
{
	struct run *runs;

	if (cpu == STAPE_CPU_NONE)
		return NULL;
	runs = schedtape_list_reach(perl->runs, cpu, &perl->nr_runs, sizeof(*runs));
	if (!runs)
		return NULL;
	perl->runs = runs;
	return &runs[cpu];
}

/* A task leaves a CPU: gives how long it ran, if the tape shows since when. */
static void put_runtime(struct print *print, const struct schedtape_event *ev)
{
	struct run *run = run_of(print->perl, ev->cpu);
	struct trace_value values[3];

	if (!run)
		return;
	if (ev->curr && ev->curr == run->pid) {
		values[0] = trace_task(print, ev->curr);
		values[1].number = ev->curr;
		values[2].number = ev->time - run->since;
		put_record(print, ev, TRACE_RUNTIME, values);
	}
	run->pid = ev->pid;
	run->since = ev->time;
}

/* A run is not known over a gap, and goes on under another PID. */
static void keep_runtime(struct perl *perl, const struct schedtape_event *ev)
{
	struct run *run = run_of(perl, ev->cpu);
	size_t i;

	if (schedtape_event_is_gap(ev)) {
		if (run)
			run->pid = 0;
		return;
	}
	for (i = 0; ev->old_pid && i < perl->nr_runs; i++)
		if (perl->runs[i].pid == ev->old_pid)
			perl->runs[i].pid = ev->pid;
}

void print_perl(struct print *print, const struct schedtape_event *ev)
{
	const struct perl *perl = print->perl;
	struct trace_value values[TRACE_FIELDS];

	if (perl->wants[TRACE_RUNTIME] && ev->type == STAPE_EV_SWITCH)
		put_runtime(print, ev);
	else if (ev->type == STAPE_EV_EXEC || schedtape_event_is_gap(ev))
		keep_runtime(print->perl, ev);
	if (ev->type >= NR_TRACES || !perl->wants[ev->type] || !trace_has(print, ev))
		return;
	traces[ev->type].fill(print, ev, values);
	put_record(print, ev, ev->type, values);
}

/* -- samples --------------------------------------------------------------- */

/* Puts a value as the templates of put_template() read it.  Texts are cut if there is no room. */
static void put_value(struct lines *lines, const char *end, const struct schedtape_field *field,
		      const struct schedtape_value *value)
{
	uint64_t number = value->number;
	uint32_t len = value->n;

	if (field->kind == SCHEDTAPE_FIELD_TEXT) {
		if (len > end - lines->at - (ptrdiff_t)sizeof(len))
			len = end - lines->at - sizeof(len);
		lines_text(lines, (const char *)&len, sizeof(len));
		lines_text(lines, value->text, len);
		return;
	}
	/* Of an array perf gives a number, too. */
	if (field->kind == SCHEDTAPE_FIELD_NUMBERS)
		number = value->n ? value->numbers[0] : 0;
	lines_text(lines, (const char *)&number, sizeof(number));
}

static void put_sample(struct print *print, const struct schedtape_sample *sample,
		       const struct schedtape_tracepoint *point,
		       const struct schedtape_value *values)
{
	const struct schedtape_event at = {
		.time = sample->time, .cpu = sample->cpu, .curr = sample->tid,
		.curr_kind = STAPE_NEXT_IDLE,
	};
	struct lines *lines = &print->lines;
	size_t i, left = point->n * sizeof(uint64_t);
	struct record record;
	uint16_t context = 0;
	uint32_t bytes;
	char *head, *end;

	fill_record(print, &record, &at, NR_TRACES + point->index);
	head = lines->at;
	lines->at += sizeof(record);
	end = lines->at + VALUES_MOST;
	/* Fields behind a long text have room, too. */
	for (i = 0; i < point->n; i++) {
		left -= sizeof(uint64_t);
		put_value(lines, end - left, &point->fields[i], &values[i]);
	}
	bytes = lines->at - head - sizeof(record) + 1;
	memcpy(record.fields, &bytes, sizeof(bytes));
	/* common_flags and common_preempt_count, which the data of all tracepoints have there. */
	if (sample->bytes >= 4)
		context = ((const unsigned char *)sample->data)[2] |
			  ((const unsigned char *)sample->data)[3] << 8;
	memcpy(record.fields + sizeof(bytes), &context, sizeof(context));
	record.end = '\n';
	memcpy(head, &record, sizeof(record));
	lines_end(lines);
}

void perl_sample(struct print *print, struct samples *samples)
{
	const struct schedtape_sample *sample = &samples->next;
	const struct schedtape_tracepoint *point;
	const struct schedtape_value *values;
	struct perl *perl = print->perl;
	bool plain;

	perl->lost += sample->lost;
	if (!sample->bytes)
		return;
	point = schedtape_decoder_find(samples->decoder, sample);
	plain = point && trace_is_plain(point);
	if (plain && !perl->wants[NR_TRACES + point->index])
		return;
	if (plain && schedtape_decoder_values(samples->decoder, sample, &values) >= 0)
		put_sample(print, sample, point, values);
	else
		perl->unknown++;
}

bool perl_wants_samples(const struct perl *perl)
{
	size_t i;

	for (i = NR_TRACES; i < perl->nr_wants; i++)
		if (perl->wants[i])
			return true;
	return false;
}

uint64_t perl_lost(const struct perl *perl, uint64_t *unknown)
{
	*unknown = perl->unknown;
	return perl->lost;
}

/* -- the table ------------------------------------------------------------- */

/* "1 sched::sched_switch " */
static void put_name(struct lines *lines, size_t number, const char *name)
{
	const char *colon = strchr(name, ':');

	lines_number(lines, number);
	lines_char(lines, ' ');
	lines_text(lines, name, colon - name);
	lines_char(lines, ':');
	lines_put(lines, colon);
	lines_char(lines, ' ');
}

/* "1 sched::sched_switch Z16qqqZ16qq" */
static void put_traces(struct lines *lines, const struct perl *perl)
{
	const char *name;
	unsigned int i, j;

	for (i = 0; i < NR_TRACES; i++) {
		name = traces[i].nr && !perl->replaced[i] ? trace_name(i) : NULL;
		if (!name)
			continue;
		put_name(lines, i, name);
		for (j = 0; j < traces[i].nr; j++)
			lines_put(lines, traces[i].fields[j].type == TRACE_NAME ? "Z16" : "q");
		lines_end(lines);
	}
}

/* Puts a text of a tape, without tabs and ends of lines. */
static void put_safe(struct lines *lines, const char *text)
{
	char safe[256];

	lines_put(lines, text_safe(safe, sizeof(safe), text));
}

/* "\tvec\n" or "\tflags\t|\n", and for each name "\t\t1\tTIMER\n" */
static void put_names(struct lines *lines, const struct schedtape_field *field)
{
	size_t i;

	lines_char(lines, '\t');
	put_safe(lines, field->name);
	if (field->naming == SCHEDTAPE_NAMING_BITS) {
		lines_char(lines, '\t');
		put_safe(lines, field->delimiter);
	}
	lines_end(lines);
	for (i = 0; i < field->nr_names; i++) {
		lines_put(lines, "\t\t");
		if (field->is_signed)
			lines_signed(lines, field->names[i].value);
		else
			lines_number(lines, field->names[i].value);
		lines_char(lines, '\t');
		put_safe(lines, field->names[i].name);
		lines_end(lines);
	}
}

/* "20 irq::irq_handler_entry qL/a sample" */
static void put_point(struct lines *lines, const struct schedtape_tracepoint *point)
{
	size_t i;

	put_name(lines, NR_TRACES + point->index, point->name);
	/* Fields that are not read make no difference to the script. */
	lines_put(lines, "x0");
	for (i = 0; i < point->n; i++)
		lines_put(lines, point->fields[i].kind == SCHEDTAPE_FIELD_TEXT ? "L/a" :
				 point->fields[i].is_signed ? "q" : "Q");
	lines_put(lines, " sample");
	lines_end(lines);
	for (i = 0; i < point->n; i++)
		if (point->fields[i].nr_names)
			put_names(lines, &point->fields[i]);
}

static void put_points(struct print *print, const struct schedtape_decoder *decoder)
{
	const struct schedtape_tracepoint *point;
	size_t i;

	for (i = 0; decoder && (point = schedtape_decoder_tracepoint(decoder, i)); i++)
		if (trace_is_plain(point))
			put_point(&print->lines, point);
	lines_end(&print->lines);
	lines_flush(&print->lines);
}

/* Notes which tracepoints samples have.  Their values are the kernel's own. */
static int replace_traces(struct perl *perl, const struct schedtape_decoder *decoder)
{
	const struct schedtape_tracepoint *point;
	unsigned int number;
	size_t i;

	for (i = 0; decoder && (point = schedtape_decoder_tracepoint(decoder, i)); i++)
		for (number = 0; number < NR_TRACES; number++)
			if (traces[number].nr && trace_is_plain(point) &&
			    !strcmp(trace_name(number), point->name))
				perl->replaced[number] = true;
	perl->nr_wants = NR_TRACES + i;
	perl->wants = calloc(perl->nr_wants, sizeof(*perl->wants));
	return perl->wants ? 0 : -ENOMEM;
}

/*
 * Reads the line "1 20 21": for these the script has functions.  One that has ended wants none.
 * Don't wait for the end of the pipe, because the script may have started a process that keeps it.
 */
static void read_wants(struct perl *perl, int answer)
{
	FILE *file = fdopen(answer, "r");
	char *line = NULL, *at, *end;
	unsigned long number;
	size_t size = 0;

	if (!file) {
		close(answer);
		return;
	}
	if (getline(&line, &size, file) > 0) {
		for (at = line; *at != '\n'; at = end) {
			number = strtoul(at, &end, 10);
			if (end == at)
				break;
			if (number < perl->nr_wants)
				perl->wants[number] = true;
		}
	}
	free(line);
	fclose(file);
}

/* -- the child ------------------------------------------------------------- */

/* Starts Perl, which inherits @feed and @answer.  Returns 0 or -errno. */
static int spawn(pid_t *pid, int feed, int answer, const char *script, char **args)
{
	size_t i, n = 0, nr_fixed = 8;
	char number[16], reply[16], size[16], **words;
	int ret;

	while (args && args[n])
		n++;
	words = calloc(nr_fixed + n + 1, sizeof(*words));
	if (!words)
		return -ENOMEM;
	snprintf(number, sizeof(number), "%d", feed);
	snprintf(reply, sizeof(reply), "%d", answer);
	snprintf(size, sizeof(size), "%zu", sizeof(struct record));
	words[0] = (char *)PERL;
	words[1] = (char *)"-e";
	words[2] = (char *)perl_engine;
	words[3] = (char *)"--";
	words[4] = number;
	words[5] = reply;
	words[6] = size;
	words[7] = (char *)script;
	for (i = 0; i < n; i++)
		words[nr_fixed + i] = args[i];
	ret = posix_spawnp(pid, PERL, NULL, NULL, words, environ);
	free(words);
	return -ret;
}

/*
 * Starts Perl with the read end of a pipe, and the write end of another.  Returns the write end of
 * the first one, or -errno.
 */
static int start(pid_t *pid, int *answer, const char *script, char **args)
{
	int ends[2], answers[2], ret;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	if (pipe2(answers, O_CLOEXEC)) {
		ret = -errno;
		goto close_ends;
	}
	fcntl(ends[0], F_SETFD, 0);
	fcntl(answers[1], F_SETFD, 0);
	ret = spawn(pid, ends[0], answers[1], script, args);
	close(answers[1]);
	*answer = answers[0];
	if (!ret) {
		close(ends[0]);
		return ends[1];
	}
	close(answers[0]);
close_ends:
	close(ends[0]);
	close(ends[1]);
	return ret;
}

/*
 * If the reader of the old output has gone, stdio still keeps bytes for it.  Drop them, because
 * they must not get into the new output.
 */
static void replace_output(int fd)
{
	out_flush();
	__fpurge(stdout);
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

static void free_perl(struct perl *perl)
{
	free(perl->wants);
	free(perl->runs);
	free(perl);
}

/* A script that comes with the program: descriptor and path of its text; -1: it is another one. */
struct own {
	int fd;
	char path[32];
};

/* Returns the path of a script: a file, or else one of the program; or NULL after a message. */
static const char *find(const char *script, struct own *own)
{
	int failed = access(script, R_OK) ? errno : 0;

	own->fd = failed == ENOENT ? perl_scripts_open(script) : -1;
	if (own->fd >= 0) {
		snprintf(own->path, sizeof(own->path), "/dev/fd/%d", own->fd);
		return own->path;
	}
	if (failed)
		out_error(script, "%s", strerror(failed));
	return failed ? NULL : script;
}

int perl_begin(struct print *print, const struct schedtape_decoder *decoder, const char *script,
	       char **args)
{
	struct perl *perl;
	int feed, answer = -1;
	struct own own;

	script = find(script, &own);
	if (!script)
		return CMD_FAILURE;
	perl = calloc(1, sizeof(*perl));
	if (!perl || replace_traces(perl, decoder)) {
		out_error(NULL, "not enough memory");
		free(perl);
		return CMD_FAILURE;
	}
	feed = start(&perl->pid, &answer, script, args);
	if (own.fd >= 0)
		close(own.fd);
	if (feed < 0) {
		out_error(NULL, "cannot run " PERL ", which this script needs: %s",
			  feed == -ENOENT ? "install it" : strerror(-feed));
		free_perl(perl);
		return CMD_FAILURE;
	}
	/* Ctrl-C is for the script, which may also end before its events do. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	perl->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	replace_output(feed);
	print->perl = perl;
	put_traces(&print->lines, perl);
	put_points(print, decoder);
	out_flush();
	read_wants(perl, answer);
	return 0;
}

int perl_end(struct print *print, int status)
{
	struct perl *perl = print->perl;
	int end = 0;

	replace_output(perl->output);
	while (waitpid(perl->pid, &end, 0) < 0 && errno == EINTR)
		;
	free_perl(perl);
	print->perl = NULL;
	if (WIFEXITED(end))
		return WEXITSTATUS(end) ? WEXITSTATUS(end) : status;
	/* A reader of the script's output that has seen enough is no error. */
	if (WTERMSIG(end) == SIGPIPE)
		return status;
	if (WTERMSIG(end) != SIGINT)
		out_error(NULL, "the script was ended by a signal: %s", strsignal(WTERMSIG(end)));
	return 128 + WTERMSIG(end);
}
