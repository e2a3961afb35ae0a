// SPDX-License-Identifier: GPL-2.0-only
#include "record/triggers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/text.h"
#include "common/output.h"
#include "common/signals.h"
#include "record/internal.h"

#define EVERY_MS	1000	/* from one start of a command to the next, if nothing is said */
#define NAME_MAX_LEN	31	/* a tape's end has room for that */
#define TAKE_MAX	1024	/* records at once: those of a storm must not keep the recorder */
#define DROP_MAX	4096	/* times so many are dropped at the start: 64 MB of the smallest */

/* -- firing ---------------------------------------------------------------- */

static bool is_spent(const struct trigger *trigger)
{
	return trigger->max && trigger->fired >= trigger->max;
}

/* @at: when that was, ns of CLOCK_MONOTONIC.  Returns false if it does not fire. */
static bool fire(struct trigger *trigger, uint64_t at)
{
	uint64_t now = now_ms();

	/* The snapshot that is to be taken is for this time as well. */
	if (trigger->due || now < trigger->rest || is_spent(trigger))
		return false;
	trigger->fired++;
	trigger->at = at;
	trigger->due = now + trigger->after;
	trigger->rest = now + trigger->holdoff;
	return true;
}

/* -- records of BPF programs ----------------------------------------------- */

/**
 * struct bpf_ring - the ring buffer of a BPF program, which another program has loaded and pinned
 * @fd: the map
 * @buffer: libbpf's
 * @trigger: fires for each record
 * @open: records are new ones
 * @taken: records that take_records() has taken
 */
struct bpf_ring {
	int fd;
	struct ring_buffer *buffer;
	struct trigger *trigger;
	bool open;
	unsigned int taken;
};

void bpf_ring_text(char text[BPF_RING_TEXT_LEN], const unsigned char *record, size_t bytes)
{
	char copy[BPF_RING_BYTES + 1] = "";
	size_t i, length;

	if (bytes > BPF_RING_BYTES)
		bytes = BPF_RING_BYTES;
	/* strchr() finds the zero that ends its string, too. */
	for (length = bytes; length && strchr("\n", record[length - 1]); length--)
		;
	memcpy(copy, record, length);
	text_safe(text, BPF_RING_TEXT_LEN, copy);
	if (strlen(text) == length && !memcmp(text, record, length))
		return;
	snprintf(text, BPF_RING_TEXT_LEN, "0x");
	for (i = 0; i < bytes; i++)
		sprintf(text + 2 + 2 * i, "%02x", record[i]);
}

static int found_record(void *arg, void *record, size_t bytes)
{
	struct bpf_ring *ring = arg;
	struct trigger *trigger = ring->trigger;

	if (ring->open && trigger->begun && fire(trigger, schedtape_now()))
		bpf_ring_text(trigger->note, record, bytes);
	return ++ring->taken < TAKE_MAX ? 0 : -EAGAIN;
}

/* Returns why a file cannot be opened that is there. */
static const char *explain(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) ? "" :
	       fs.f_type != BPF_FS_MAGIC ? ": it is not in a file system of BPF, /sys/fs/bpf" :
	       ": only root and owners of CAP_BPF may open it, if its mode lets them";
}

/* Returns a pinned map's file, or -errno. */
static int open_map(const char *path, struct schedtape_error *err)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_obj_get(path), ret = -errno;

	if (fd < 0)
		return schedtape_fail(err, ret, "bpf:%s: %s%s", path, strerror(-ret),
				      ret == -EPERM || ret == -EACCES ? explain(path) : "");
	/* Of a pinned program the kernel fills in a type as well, and a checksum for the sizes. */
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || info.type != BPF_MAP_TYPE_RINGBUF ||
	    info.key_size || info.value_size) {
		close(fd);
		return schedtape_fail(err, -EINVAL, "bpf:%s: not a ring buffer "
				      "(BPF_MAP_TYPE_RINGBUF)", path);
	}
	return fd;
}

/* The library's messages would be a second line. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static void close_ring(struct bpf_ring *ring)
{
	if (!ring)
		return;
	ring_buffer__free(ring->buffer);
	close(ring->fd);
	free(ring);
}

/* Drops the records that are in the buffer already. */
static int open_ring(struct trigger *trigger, struct schedtape_error *err)
{
	const char *path = trigger->what;
	struct bpf_ring *new = calloc(1, sizeof(*new));
	unsigned int i;
	int ret;

	if (!new)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	*new = (struct bpf_ring){ .trigger = trigger, .fd = open_map(path, err) };
	if (new->fd < 0) {
		ret = new->fd;
		free(new);
		return ret;
	}
	libbpf_set_print(say_nothing);
	new->buffer = ring_buffer__new(new->fd, found_record, new, NULL);
	if (!new->buffer) {
		ret = schedtape_fail(err, -errno, "bpf:%s: cannot be read: %s", path,
				     strerror(errno));
		close_ring(new);
		return ret;
	}
	/* However many come meanwhile, this ends. */
	for (i = 0; i < DROP_MAX && ring_buffer__consume(new->buffer) == -EAGAIN; i++)
		new->taken = 0;
	new->open = true;
	trigger->ring = new;
	return 0;
}

/*
 * Takes records out of the buffer, which no other program may read.  If there are many, the file is
 * readable again.
 */
static void take_records(struct bpf_ring *ring)
{
	ring->taken = 0;
	ring_buffer__consume(ring->buffer);
}

/* -- the text -------------------------------------------------------------- */

/* FILE.merged.TIME is a merged tape. */
static bool name_is_valid(const char *name)
{
	const char *at = name;

	if (!strcmp(name, "merged"))
		return false;
	while (isalnum((unsigned char)*at) || (*at && strchr("-_.", *at)))
		at++;
	return at > name && !*at && at - name <= NAME_MAX_LEN;
}

/* Parses a number from 1 to @most. */
static bool take_number(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && *text >= '0' && *text <= '9' && !*end && *number && *number <= most;
}

/* Takes "key=value".  Returns false if this is no such option, or has no such value. */
static bool take_option(struct trigger *trigger, const char *key, const char *value)
{
	bool of_task = trigger->kind == TRIGGER_SESSION &&
		       trigger->session.kind != STAPE_TRIGGER_RATE;
	uint64_t pid;

	if (!strcmp(key, "after"))
		return units_time(value, 0, &trigger->after);
	if (!strcmp(key, "holdoff"))
		return units_time(value, 0, &trigger->holdoff);
	if (!strcmp(key, "every"))
		return trigger->kind == TRIGGER_EXEC && units_time(value, 0, &trigger->every);
	if (!strcmp(key, "max"))
		return take_number(value, UINT64_MAX, &trigger->max);
	if (!strcmp(key, "then")) {
		trigger->stop = true;
		return !strcmp(value, "stop");
	}
	if (!strcmp(key, "task")) {
		trigger->session.comm = value;
		return of_task && *value && strlen(value) < STAPE_PATTERN_LEN;
	}
	if (strcmp(key, "pid") || !of_task || !take_number(value, STAPE_PID_MASK, &pid))
		return false;
	trigger->session.pid = pid;
	return true;
}

static bool is_option(const char *text)
{
	static const char * const keys[] = { "after=", "holdoff=", "every=", "max=", "pid=",
					     "task=", "then=" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strncmp(text, keys[i], strlen(keys[i])))
			return true;
	return false;
}

/* Cuts the options off, from the last one on, because a command may have commas, too. */
static int take_options(struct trigger *trigger, char *text, struct schedtape_error *err)
{
	char *comma, *value;

	while ((comma = strrchr(text, ',')) && is_option(comma + 1)) {
		*comma = '\0';
		value = strchr(comma + 1, '=');
		*value++ = '\0';
		if (!take_option(trigger, comma + 1, value))
			return schedtape_fail(err, -EINVAL, "%s=%s: after=TIME, holdoff=TIME, "
					      "max=N, then=stop, with exec every=TIME, with "
					      "latency, blocked and burst pid=PID and "
					      "task=GLOB", comma + 1, value);
	}
	return 0;
}

/* Splits "cpu some 150000 1000000" behind the resource. */
static bool split_pressure(struct trigger *trigger)
{
	char *blank = strchr(trigger->what, ' ');

	if (!blank)
		return false;
	*blank = '\0';
	trigger->spec = blank + 1;
	return !strcmp(trigger->what, "cpu") || !strcmp(trigger->what, "memory") ||
	       !strcmp(trigger->what, "io") || !strcmp(trigger->what, "irq");
}

/* Parses the limit of what the module finds, "5ms" or "1000/s". */
static int parse_limit(struct trigger *trigger, const char *kind, struct schedtape_error *err)
{
	uint64_t *to = &trigger->session.limit;
	char *second;
	bool ok;

	if (trigger->session.kind != STAPE_TRIGGER_RATE) {
		ok = units_time_ns(trigger->what, to);
	} else {
		second = strstr(trigger->what, "/s");
		ok = second && !second[2];
		if (ok)
			*second = '\0';
		ok = ok && take_number(trigger->what, STAPE_TRIGGER_RATE_MAX, to);
	}
	if (!ok)
		return schedtape_fail(err, -EINVAL, "%s:TIME with ns, us, ms or s, a day at most; "
				      "rate:N/s", kind);
	return 0;
}

/* Returns the kind of what the module finds, or 0. */
static uint32_t session_kind(const char *text)
{
	size_t length = strcspn(text, ":");
	uint32_t kind;

	for (kind = STAPE_TRIGGER_LATENCY; kind <= STAPE_TRIGGER_RATE; kind++)
		if (text[length] && length == strlen(schedtape_trigger_name(kind)) &&
		    !strncmp(text, schedtape_trigger_name(kind), length))
			return kind;
	return 0;
}

/* Cuts off "NAME=", which may be in front.  Returns the rest of the text. */
static char *take_name(struct trigger *trigger)
{
	char *end = trigger->text + strcspn(trigger->text, "=:");

	if (*end != '=')
		return trigger->text;
	*end = '\0';
	trigger->name = trigger->text;
	return end + 1;
}

/* Parses what is behind "exec:".  Cuts it off from @kind. */
static int parse_what(struct trigger *trigger, char *kind, struct schedtape_error *err)
{
	char *colon = strchr(kind, ':');

	*colon = '\0';
	trigger->what = colon + 1;
	if (trigger->kind == TRIGGER_SESSION)
		return parse_limit(trigger, kind, err);
	if (trigger->kind == TRIGGER_PSI && !split_pressure(trigger))
		return schedtape_fail(err, -EINVAL, "psi:cpu some 150000 1000000, or memory, io or "
				      "irq in place of cpu");
	if (!*trigger->what)
		return schedtape_fail(err, -EINVAL, "exec: without a command, or bpf: without a "
				      "path");
	return 0;
}

static int parse(struct trigger *trigger, struct schedtape_error *err)
{
	char *what = take_name(trigger);
	int ret;

	if (trigger->name && !name_is_valid(trigger->name))
		return schedtape_fail(err, -EINVAL, "\"%s\": a name has letters, digits, '-', '_' "
				      "and '.', at most %d, and is not merged", trigger->name,
				      NAME_MAX_LEN);
	trigger->session.kind = session_kind(what);
	if (!strncmp(what, "exec:", 5))
		trigger->kind = TRIGGER_EXEC;
	else if (!strncmp(what, "psi:", 4))
		trigger->kind = TRIGGER_PSI;
	else if (!strncmp(what, "bpf:", 4))
		trigger->kind = TRIGGER_BPF;
	else if (trigger->session.kind)
		trigger->kind = TRIGGER_SESSION;
	else
		return schedtape_fail(err, -EINVAL, "none of those that --trigger help lists");
	ret = take_options(trigger, what, err);
	if (!trigger->name)
		trigger->name = what;
	return ret ? ret : parse_what(trigger, what, err);
}

void triggers_print_help(void)
{
	static const char text[] =
		"What takes a snapshot, or with --switch-output alone ends a tape:\n\n"
		"  latency:TIME      a recorded task was ready to run for longer, and got no CPU\n"
		"  blocked:TIME      a recorded task slept uninterruptibly for longer\n"
		"  burst:TIME        a recorded task ran for longer without a break\n"
		"  rate:N/s          all recorded tasks together had more wake-ups in a second\n"
		"  exec:COMMAND      a shell command, started each second, exits with status 0\n"
		"  psi:RESOURCE some|full US US\n"
		"                    tasks waited for it: the first number of us in each second number;\n"
		"                    RESOURCE is cpu, memory, io or irq\n"
		"  bpf:PATH          a BPF program puts a record into the ring buffer pinned there\n\n"
		"Options behind that, each after a comma:\n\n"
		"  after=TIME        go on for so long before the snapshot is taken\n"
		"  holdoff=TIME      do not fire again for so long\n"
		"  max=N             fire N times\n"
		"  then=stop         end the recording after the snapshot\n"
		"  pid=PID           of latency, blocked, burst: only for this process or thread\n"
		"  task=GLOB         of the same: only for tasks with such a name\n"
		"  every=TIME        of exec: from one start of the command to the next\n\n"
		"NAME= in front names the snapshots: spike=latency:5ms,task=web*,after=1s\n";

	fputs(text, stdout);
}

static size_t count(const struct triggers *triggers, enum trigger_kind kind)
{
	size_t i, n = 0;

	for (i = 0; i < triggers->nr; i++)
		n += triggers->list[i].kind == kind;
	return n;
}

static void free_trigger(struct trigger *trigger)
{
	if (trigger->pid)
		kill(-trigger->pid, SIGTERM);
	if (trigger->fd >= 0)
		close(trigger->fd);
	close_ring(trigger->ring);
	free(trigger->said);
	free(trigger->text);
}

int triggers_add(struct triggers *triggers, const char *text, struct schedtape_error *err)
{
	struct trigger *list = schedtape_list_grow(triggers->list, triggers->nr, &triggers->room,
						   sizeof(*list));
	struct trigger *trigger;
	int ret;

	if (!list)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	triggers->list = list;
	trigger = &list[triggers->nr];
	*trigger = (struct trigger){
		.said = strdup(text),
		.text = strdup(text),
		.every = EVERY_MS,
		.fd = -1,
	};
	triggers->nr++;
	if (!trigger->said || !trigger->text)
		ret = schedtape_fail(err, -ENOMEM, "out of memory");
	else
		ret = parse(trigger, err);
	if (!ret && count(triggers, TRIGGER_SESSION) > STAPE_TRIGGERS_MAX)
		ret = schedtape_fail(err, -EINVAL, "the module takes %d of latency, blocked, burst "
				     "and rate", STAPE_TRIGGERS_MAX);
	if (!ret && count(triggers, TRIGGER_PSI) + count(triggers, TRIGGER_BPF) >
		    TRIGGERS_FILES_MAX)
		ret = schedtape_fail(err, -EINVAL, "%d of psi and bpf at most",
				     TRIGGERS_FILES_MAX);
	if (ret)
		free_trigger(&triggers->list[--triggers->nr]);
	return ret;
}

/* -- triggers of the session ----------------------------------------------- */

size_t triggers_of_session(const struct triggers *triggers, struct schedtape_trigger *list)
{
	size_t i, n = 0;

	for (i = 0; i < triggers->nr; i++)
		if (triggers->list[i].kind == TRIGGER_SESSION)
			list[n++] = triggers->list[i].session;
	return n;
}

void triggers_fire(struct triggers *triggers, uint32_t number, uint64_t time)
{
	size_t i;

	for (i = 0; i < triggers->nr; i++)
		if (triggers->list[i].kind == TRIGGER_SESSION && !number--)
			fire(&triggers->list[i], time);
}

/* -- commands -------------------------------------------------------------- */

static void command_main(const struct triggers *triggers, const char *command)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	signals_restore();
	if (triggers->in_child)
		triggers->in_child();
	/* A group of its own, which free_trigger() can end; and it ends with the recorder. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* What it prints must not get onto a tape. */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void start_command(struct triggers *triggers, struct trigger *trigger)
{
	pid_t pid = fork();

	trigger->next = now_ms() + trigger->every;
	if (pid < 0) {
		out_warning(trigger->what, "cannot be started: %s", strerror(errno));
		return;
	}
	if (!pid)
		command_main(triggers, trigger->what);
	/* Here as well, because the child may not have come that far when it has to be ended. */
	setpgid(pid, pid);
	trigger->pid = pid;
}

/* If a command takes longer than it has to be started again, it is started late. */
static void start_commands(struct triggers *triggers)
{
	struct trigger *trigger;
	size_t i;

	for (i = 0; i < triggers->nr; i++) {
		trigger = &triggers->list[i];
		if (trigger->kind == TRIGGER_EXEC && !trigger->pid && !is_spent(trigger) &&
		    now_ms() >= trigger->next)
			start_command(triggers, trigger);
	}
}

static void end_command(struct trigger *trigger)
{
	int status;

	if (!trigger->pid || waitpid(trigger->pid, &status, WNOHANG) != trigger->pid)
		return;
	trigger->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		fire(trigger, schedtape_now());
}

/* -- pressure -------------------------------------------------------------- */

/* The file reports what is written to it, as long as it is open. */
static int open_pressure(struct trigger *trigger, struct schedtape_error *err)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/pressure/%s", trigger->what);
	trigger->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (trigger->fd < 0)
		return schedtape_fail(err, -errno, "psi: %s: %s%s", path, strerror(errno),
				      errno == ENOENT || errno == EOPNOTSUPP ?
				      ": boot the kernel with psi=1" : "");
	n = write(trigger->fd, trigger->spec, strlen(trigger->spec) + 1);
	if (n < 0)
		return schedtape_fail(err, -errno, "psi: %s: \"%s\": %s: some or full, and two "
				      "numbers of microseconds, the second from 500000 to 10000000",
				      path, trigger->spec, strerror(errno));
	return 0;
}

/* -- files ----------------------------------------------------------------- */

size_t triggers_poll(const struct triggers *triggers, struct pollfd *fds)
{
	const struct trigger *trigger;
	size_t i, n = 0;

	for (i = 0; i < triggers->nr; i++) {
		trigger = &triggers->list[i];
		if (trigger->kind == TRIGGER_PSI)
			fds[n++] = (struct pollfd){ .fd = trigger->fd, .events = POLLPRI };
		if (trigger->kind == TRIGGER_BPF)
			fds[n++] = (struct pollfd){
				.fd = ring_buffer__epoll_fd(trigger->ring->buffer),
				.events = POLLIN,
			};
	}
	return n;
}

void triggers_polled(struct triggers *triggers, const struct pollfd *fds, size_t n)
{
	struct trigger *trigger;
	size_t i, k = 0;

	/* In the order of triggers_poll(). */
	for (i = 0; i < triggers->nr && k < n; i++) {
		trigger = &triggers->list[i];
		if (trigger->kind == TRIGGER_PSI && fds[k++].revents & POLLPRI && trigger->begun)
			fire(trigger, schedtape_now());
		if (trigger->kind == TRIGGER_BPF && fds[k++].revents & POLLIN)
			take_records(trigger->ring);
	}
}

/* -- all triggers ---------------------------------------------------------- */

int triggers_open(struct triggers *triggers, struct schedtape_error *err)
{
	struct trigger *trigger;
	int ret = 0;
	size_t i;

	for (i = 0; i < triggers->nr && !ret; i++) {
		trigger = &triggers->list[i];
		if (trigger->kind == TRIGGER_PSI)
			ret = open_pressure(trigger, err);
		if (trigger->kind == TRIGGER_BPF)
			ret = open_ring(trigger, err);
	}
	triggers->on = !ret;
	return ret;
}

void triggers_look(struct triggers *triggers)
{
	size_t i;

	if (!triggers->on)
		return;
	for (i = 0; i < triggers->nr; i++) {
		triggers->list[i].begun = true;
		end_command(&triggers->list[i]);
	}
	start_commands(triggers);
}

const struct trigger *triggers_next(struct triggers *triggers)
{
	uint64_t now = now_ms();
	size_t i;

	for (i = 0; i < triggers->nr; i++) {
		if (!triggers->list[i].due || triggers->list[i].due > now)
			continue;
		triggers->list[i].due = 0;
		return &triggers->list[i];
	}
	return NULL;
}

static void sooner(uint64_t *least, uint64_t when)
{
	if (when < *least)
		*least = when;
}

int triggers_wait(const struct triggers *triggers, int most)
{
	uint64_t now = now_ms(), least = now + most;
	const struct trigger *trigger;
	size_t i;

	for (i = 0; i < triggers->nr && triggers->on; i++) {
		trigger = &triggers->list[i];
		if (trigger->due)
			sooner(&least, trigger->due);
		if (trigger->kind == TRIGGER_EXEC && !trigger->pid && !is_spent(trigger))
			sooner(&least, trigger->next);
	}
	return least > now ? (int)(least - now) : 0;
}

void triggers_free(struct triggers *triggers)
{
	while (triggers->nr)
		free_trigger(&triggers->list[--triggers->nr]);
	free(triggers->list);
	*triggers = (struct triggers){ 0 };
}
