// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape record: a command from its exec on, or processes that run already.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <machine.h>

#include "cmd.h"
#include "output.h"
#include "recorder.h"
#include "signals.h"

struct record_options {
	const char *output;
	uint32_t *pids;
	size_t nr_pids;
	uint64_t ring_bytes;
	int level;
	bool quiet;
	bool json;
	char **command;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID,...", 0,
	  "Record these processes and what they fork, until the last of them has ended", 0 },
	{ "output", 'o', "FILE", 0, "Name of the tape (schedtape.tape); -: standard output", 0 },
	{ "mmap-size", 'm', "SIZE", 0,
	  "Size of each CPU's ring (1M): bytes, or with B, K, M or G behind", 0 },
	{ "compression-level", 'z', "LEVEL", OPTION_ARG_OPTIONAL,
	  "Level of zstd, 1 to 22 (1); 0: do not compress", 0 },
	{ "quiet", 'q', NULL, 0, "Say nothing but errors", 0 },
	{ 0 },
};

/* "1M": bytes, or with B, K, M or G behind. */
static bool parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "BKMG";
	const char *unit;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	if (!*end)
		return true;
	unit = strchr(units, *end);
	if (!unit || end[1] || *bytes > UINT64_MAX >> 10 * (unit - units))
		return false;
	*bytes <<= 10 * (unit - units);
	return true;
}

/* "1,2,3"; adds to those that are there. */
static bool parse_pids(struct record_options *opts, const char *text)
{
	unsigned long pid;
	uint32_t *pids;
	char *end;

	for (;;) {
		errno = 0;
		pid = strtoul(text, &end, 10);
		if (errno || end == text || !pid || pid > INT32_MAX || *text == '-')
			return false;
		pids = reallocarray(opts->pids, opts->nr_pids + 1, sizeof(*pids));
		if (!pids)
			return false;
		opts->pids = pids;
		pids[opts->nr_pids++] = pid;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		text = end + 1;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *opts = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->json;
		break;
	case 'p':
		if (!parse_pids(opts, arg))
			argp_error(state, "-p %s: not a list of PIDs", arg);
		break;
	case 'o':
		opts->output = arg;
		break;
	case 'm':
		if (!parse_size(arg, &opts->ring_bytes))
			argp_error(state, "-m %s: not a size", arg);
		break;
	case 'z':
		opts->level = arg ? strtol(arg, &end, 10) : 1;
		if (arg && (end == arg || *end || opts->level < 0 || opts->level > 22))
			argp_error(state, "-z %s: a level is from 0 to 22", arg);
		break;
	case 'q':
		opts->quiet = true;
		break;
	case ARGP_KEY_ARGS:
		opts->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		if (!opts->command && !opts->nr_pids)
			argp_error(state, "what to record? Give a command, or processes by -p");
		if (opts->command && opts->nr_pids)
			argp_error(state, "give a command or -p, not both");
		if (opts->json && !strcmp(opts->output, "-"))
			argp_error(state, "--json and -o - would share standard output");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- the command ----------------------------------------------------------- */

/**
 * struct child - the recorded command
 * @pid: 0: there is none
 * @go: writing end: a byte lets it exec
 * @error: reading end: the errno of a failed exec; the exec closes it
 */
struct child {
	pid_t pid;
	int go;
	int error;
	int status;
	bool ended;
};

static void child_main(char **command, int go, int error, const sigset_t *mask)
{
	int code;
	char c;

	/* The recorder may fail before it lets us: then there is nothing to do. */
	if (read(go, &c, 1) != 1)
		_exit(1);
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(command[0], command);
	code = errno;
	if (write(error, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int child_fork(struct child *child, char **command, const sigset_t *mask)
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		close(error[0]);
		child_main(command, go[0], error[1], mask);
	}
	close(go[0]);
	close(error[1]);
	child->go = go[1];
	child->error = error[0];
	return child->pid < 0 ? -errno : 0;
}

/* Lets it exec; -errno of the exec. */
static int child_go(struct child *child)
{
	int code = 0;

	if (write(child->go, "", 1) != 1)
		return -errno;
	if (read(child->error, &code, sizeof(code)) != sizeof(code))
		code = 0;
	return -code;
}

static void child_reap(struct child *child)
{
	if (child->pid > 0 && !child->ended)
		child->ended = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
}

/* -- the recording --------------------------------------------------------- */

struct recording {
	const struct record_options *options;
	struct schedtape_client *client;
	struct recorder recorder;
	struct child child;
	sigset_t mask;		/* before ours */
	int signals;
	bool stop;
	bool interrupted;	/* by a signal: an end like any other */
	bool began;		/* there is a workload on the tape */
};

static int open_signals(struct recording *rec)
{
	/* A tape that cannot be written is an error with words, not a death. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	rec->signals = signals_open(&rec->mask);
	return rec->signals < 0 ? rec->signals : 0;
}

static void read_signals(struct recording *rec)
{
	struct signalfd_siginfo info;

	while (read(rec->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			rec->interrupted = true;
	child_reap(&rec->child);
	if (rec->interrupted || rec->child.ended)
		rec->stop = true;
}

/*
 * The recording is over, and the command with it, as perf has it.  Who presses
 * Ctrl-C once more does not want to wait for it.
 */
static void end_child(struct recording *rec)
{
	struct pollfd fd = { .fd = rec->signals, .events = POLLIN };

	if (rec->child.pid <= 0)
		return;
	close(rec->child.go);	/* who still waits there, ends */
	close(rec->child.error);
	if (!rec->child.ended)
		kill(rec->child.pid, SIGTERM);
	for (rec->stop = false; !rec->child.ended && !rec->stop; read_signals(rec))
		poll(&fd, 1, -1);
}

static void show_progress(const struct recording *rec)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN];
	uint64_t nr_lost, nr = recorder_events(&rec->recorder, &nr_lost);

	if (rec->options->quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r[ %s: %s events, %.3f MB, %s lost ]\033[K", out_command(),
		out_count(events, nr), schedtape_writer_bytes(rec->recorder.writer) / 1e6,
		out_count(lost, nr_lost));
}

static int record_loop(struct recording *rec)
{
	struct pollfd fds[] = {
		{ .fd = schedtape_session_fd(rec->recorder.session), .events = POLLIN },
		{ .fd = rec->signals, .events = POLLIN },
	};
	uint64_t bytes;
	int ret = 0, n;

	while (!rec->stop && !ret) {
		n = poll(fds, 2, RECORDER_FLUSH_MS);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			read_signals(rec);
		/* The filter's last task has gone: nothing comes any more. */
		if (fds[0].revents & POLLHUP)
			rec->stop = true;
		bytes = schedtape_writer_bytes(rec->recorder.writer);
		ret = recorder_tick(&rec->recorder);
		/* Readable, and nothing there: it has stopped. */
		if (fds[0].revents & POLLIN &&
		    bytes == schedtape_writer_bytes(rec->recorder.writer) &&
		    recorder_stopped(&rec->recorder))
			rec->stop = true;
		if (!n)
			show_progress(rec);
	}
	if (!rec->options->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	return ret;
}

static struct json_object *describe(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	struct schedtape_calibration calibration;
	struct schedtape_module_info info;
	struct schedtape_error err;

	if (schedtape_client_info(rec->client, &info, &err)) {
		out_error(NULL, "%s", err.text);
		return NULL;
	}
	schedtape_calibrate(&calibration);
	return schedtape_machine_describe(&info, &calibration, opts->command,
					  opts->pids, opts->nr_pids);
}

static int record_start(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	uint32_t pid;
	int ret;

	if (!opts->command) {
		/* Hooked first, so that what forks meanwhile is not missed. */
		ret = recorder_start(&rec->recorder);
		if (!ret)
			ret = recorder_add(&rec->recorder, opts->pids, opts->nr_pids);
		return ret ? ret : recorder_describe_tasks(&rec->recorder);
	}
	ret = child_fork(&rec->child, opts->command, &rec->mask);
	if (ret) {
		out_error(NULL, "fork: %s", strerror(-ret));
		return ret;
	}
	pid = rec->child.pid;
	ret = recorder_add(&rec->recorder, &pid, 1);
	if (!ret)
		ret = recorder_start(&rec->recorder);
	if (!ret)
		ret = recorder_describe_tasks(&rec->recorder);
	if (ret)
		return ret;
	ret = child_go(&rec->child);
	if (ret)
		out_error(opts->command[0], "%s", strerror(-ret));
	return ret;
}

static int record(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	struct json_object *meta;
	struct schedtape_error err;
	int ret, ended;

	ret = schedtape_client_open(&rec->client, &err);
	if (ret) {
		out_error(NULL, "%s", err.text);
		return ret;
	}
	meta = describe(rec);
	if (!meta)
		return -EIO;
	ret = recorder_open(&rec->recorder, rec->client, opts->output, opts->ring_bytes,
			    opts->level, meta);
	json_object_put(meta);
	if (!ret)
		ret = open_signals(rec);
	if (!ret)
		ret = record_start(rec);
	rec->began = !ret;
	if (!ret)
		ret = record_loop(rec);
	/* Whatever happened, what was recorded is kept. */
	ended = rec->recorder.started ? recorder_stop(&rec->recorder) : 0;
	return ret ? ret : ended;
}

static void print_json(const struct recording *rec)
{
	struct json_object *root = json_object_new_object();

	out_json_add_name(root, "command", "record");
	json_object_object_add(root, "tape", json_object_new_string(rec->options->output));
	out_json_add_count(root, "bytes", rec->recorder.bytes);
	out_json_add_count(root, "events", rec->recorder.events);
	out_json_add_count(root, "lost", rec->recorder.lost);
	out_json(root, true);
}

/* The command's own status is ours, as with perf, unless we failed ourselves. */
static int exit_status(const struct recording *rec, int ret)
{
	if (ret)
		return CMD_FAILURE;
	if (!rec->child.ended || rec->interrupted)
		return 0;
	if (WIFSIGNALED(rec->child.status))
		return 128 + WTERMSIG(rec->child.status);
	return WEXITSTATUS(rec->child.status);
}

int cmd_record(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_json_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "-- COMMAND [ARG...]\n-p PID,...",
		.doc = "Records how a workload is scheduled: a command, until it ends, or running "
		       "processes. Ctrl-C ends the recording and keeps it.",
		.children = children,
	};
	struct record_options opts = {
		.output = CMD_DEFAULT_TAPE,
		.ring_bytes = 1 << 20,
		.level = 1,
	};
	struct recording rec = { .options = &opts, .signals = -1 };
	int ret, closed;

	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, &opts);
	ret = record(&rec);
	/* First the tape is safe, then the command is waited for. */
	closed = recorder_close(&rec.recorder, rec.began, opts.quiet || opts.json);
	end_child(&rec);
	ret = ret ? ret : closed;
	if (opts.json && !ret)
		print_json(&rec);
	schedtape_client_close(rec.client);
	free(opts.pids);
	return exit_status(&rec, ret);
}
