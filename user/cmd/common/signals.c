// SPDX-License-Identifier: GPL-2.0-only
#include "common/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* -- signals --------------------------------------------------------------- */

/* Signals whose action may be changed, and the action before that. */
static struct action {
	int signal;
	bool changed;
	struct sigaction before;
} actions[] = {
	{ .signal = SIGPIPE }, { .signal = SIGXFSZ }, { .signal = SIGCHLD }, { .signal = SIGUSR1 },
	{ .signal = SIGUSR2 }, { .signal = SIGHUP },
};

static struct {
	bool changed;
	sigset_t before;
} mask;

/*
 * Those that ask for a snapshot or for a merge of snapshots, and those that end a command besides
 * the usual ones.
 */
static sigset_t snapshots, merges, enders;

/* SIGINT, SIGTERM and SIGHUP, as far as they end a command. */
static sigset_t killers;
/* The signal that signals_die() raises: the first of these, or SIGPIPE; 0: none. */
static volatile sig_atomic_t killer;

/* What SIGINT did before signals_survive_interrupt(). */
static struct sigaction interrupt;
static volatile sig_atomic_t interrupted;

/* SIGHUP ends nothing; and one has come since signals_hangup(). */
static bool takes_hangups, hangup;

/* A signal that asks for a merge has come since signals_merge(). */
static bool merge;

/* The sender of the last signal that asks for a snapshot. */
static struct asker asker;

/* SIGTSTP waits for the command; and one has come since signals_stop(). */
static bool takes_stops, stop;

/* @signal: one of @actions */
static struct action *action_of(int signal)
{
	struct action *action = actions;

	while (action->signal != signal)
		action++;
	return action;
}

static void change(int signal, void (*handler)(int signal))
{
	struct sigaction changed = { .sa_handler = handler };
	struct action *action = action_of(signal);

	if (!action->changed)
		action->changed = !sigaction(signal, &changed, &action->before);
}

void signals_survive_limits(void)
{
	change(SIGXFSZ, SIG_IGN);
}

void signals_survive_writes(void)
{
	change(SIGPIPE, SIG_IGN);
	signals_survive_limits();
}

void signals_take_broken_pipe(void)
{
	const struct action *action = action_of(SIGPIPE);

	if (!killer && action->changed && action->before.sa_handler == SIG_DFL)
		killer = SIGPIPE;
}

void signals_ignore_snapshots(void)
{
	change(SIGUSR2, SIG_IGN);
}

static void save_mask(void)
{
	if (!mask.changed)
		mask.changed = !sigprocmask(SIG_SETMASK, NULL, &mask.before);
}

static void block(int signal, sigset_t *set)
{
	/* An ignored signal would not become pending. */
	change(signal, SIG_DFL);
	save_mask();
	sigaddset(set, signal);
	sigprocmask(SIG_BLOCK, set, NULL);
}

void signals_snapshot_on(int signal)
{
	block(signal, &snapshots);
}

struct asker signals_asker(void)
{
	return asker;
}

void signals_merge_on(int signal)
{
	block(signal, &merges);
}

bool signals_merge(void)
{
	bool came = merge;

	merge = false;
	return came;
}

void signals_end_on(int signal)
{
	block(signal, &enders);
}

void signals_take_hangups(void)
{
	/* nohup(1) ignores it. */
	change(SIGHUP, SIG_DFL);
	takes_hangups = true;
}

bool signals_hangup(void)
{
	bool came = hangup;

	hangup = false;
	return came;
}

void signals_take_stops(void)
{
	takes_stops = true;
}

bool signals_stop(void)
{
	bool came = stop;

	stop = false;
	return came;
}

void signals_stop_here(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* If an ignored signal, as SIGHUP of nohup(1), were blocked, signalfd would return it anyway. */
static bool ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

int signals_open(void)
{
	sigset_t ours;
	int fd;

	sigemptyset(&killers);
	sigaddset(&killers, SIGINT);
	sigaddset(&killers, SIGTERM);
	if (!takes_hangups && !ignored(SIGHUP))
		sigaddset(&killers, SIGHUP);
	sigorset(&ours, &snapshots, &enders);
	sigorset(&ours, &ours, &merges);
	sigorset(&ours, &ours, &killers);
	/* If SIGCHLD were ignored, children would be reaped without a wait for them. */
	change(SIGCHLD, SIG_DFL);
	sigaddset(&ours, SIGCHLD);
	if (takes_hangups)
		sigaddset(&ours, SIGHUP);
	if (takes_stops && !ignored(SIGTSTP))
		sigaddset(&ours, SIGTSTP);
	save_mask();
	sigprocmask(SIG_BLOCK, &ours, NULL);
	fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

bool signals_read(int fd, bool *snapshot)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (snapshot && sigismember(&snapshots, info.ssi_signo)) {
			*snapshot = true;
			asker = (struct asker){ .pid = info.ssi_pid, .uid = info.ssi_uid };
		} else if (takes_hangups && info.ssi_signo == SIGHUP) {
			hangup = true;
		} else if (sigismember(&merges, info.ssi_signo)) {
			merge = true;
		} else if (info.ssi_signo == SIGTSTP) {
			stop = true;
		} else {
			ends |= info.ssi_signo != SIGCHLD;
		}
		if (!killer && sigismember(&killers, info.ssi_signo))
			killer = info.ssi_signo;
	}
	return ends;
}

bool signals_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) && !sigandset(&pending, &pending, &killers) &&
	       !sigisemptyset(&pending);
}

static void note_interrupt(int signal)
{
	killer = signal;
	interrupted = true;
	sigaction(signal, &interrupt, NULL);
}

void signals_survive_interrupt(void)
{
	struct sigaction action = { .sa_handler = note_interrupt, .sa_flags = SA_RESTART };
	static bool survives;

	if (!survives && !ignored(SIGINT))
		survives = !sigaction(SIGINT, &action, &interrupt);
}

bool signals_interrupted(void)
{
	return interrupted;
}

void signals_die(void)
{
	const struct timespec now = { 0 };
	/* One may have come since signals_read(). */
	int number = killer ? killer : sigtimedwait(&killers, NULL, &now);
	sigset_t set;

	if (number < 0)
		return;
	signal(number, SIG_DFL);
	raise(number);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* The first process of a PID namespace cannot kill itself. */
	_exit(128 + number);
}

void signals_restore(void)
{
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (actions[i].changed)
			sigaction(actions[i].signal, &actions[i].before, NULL);
	if (mask.changed)
		sigprocmask(SIG_SETMASK, &mask.before, NULL);
}

/* -- standard streams ------------------------------------------------------ */

static bool missing[STDERR_FILENO + 1];

void standard_open_missing(void)
{
	int fd;

	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
		missing[fd] = true;
	if (fd >= 0)
		close(fd);
}

bool standard_was_missing(int fd)
{
	return fd >= 0 && fd <= STDERR_FILENO && missing[fd];
}

/* -- open files ------------------------------------------------------------ */

/* The first limit; 0: it has not been raised. */
static struct rlimit before;

void files_limit_raise(size_t files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= files)
		return;
	if (!before.rlim_cur)
		before = limit;
	limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void files_limit_restore(void)
{
	if (before.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &before);
}
