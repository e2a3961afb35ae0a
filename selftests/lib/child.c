// SPDX-License-Identifier: GPL-2.0-only
/*
 * Children that a test controls step by step.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "task.h"
#include "time-limit.h"

static int gate = -1;
static volatile unsigned int *arrived;

void *st_share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("Bail out! mmap");
		exit(1);
	}
	return memory;
}

void st_gate(void)
{
	char c;

	__atomic_add_fetch(arrived, 1, __ATOMIC_SEQ_CST);
	while (read(gate, &c, 1) < 0 && errno == EINTR)
		;
}

static void child_main(int cpu, int output, int (*fn)(void *arg), void *arg)
{
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);		/* with all its children */
	if (cpu >= 0 && st_pin(0, cpu))
		_exit(125);
	dup2(output, STDOUT_FILENO);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	st_gate();
	ret = fn(arg);
	st_gate();
	_exit(ret);
}

int st_child_fork(struct st_child *w, int cpu, int (*fn)(void *arg), void *arg)
{
	int go[2], output[2];

	memset(w, 0, sizeof(*w));
	if (pipe2(go, O_CLOEXEC) || pipe2(output, O_CLOEXEC))
		return -errno;
	w->arrived = st_share(getpagesize());
	fflush(stdout);
	w->pid = fork();
	if (w->pid < 0)
		return -errno;
	if (!w->pid) {
		gate = go[0];
		arrived = w->arrived;
		child_main(cpu, output[1], fn, arg);
	}
	close(output[1]);
	w->gate = go[0];
	w->go = go[1];
	w->output = output[0];
	return st_child_settled(w) ? 0 : -ETIMEDOUT;
}

/* Finds a program in the build folder of the workloads or, if installed, beside the test. */
static void find_program(char *path, size_t size, const char *name)
{
	char self[PATH_MAX] = "", *dir;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		self[0] = '\0';
	dir = dirname(self);
	snprintf(path, size, "%s/workloads/%s", dir, name);
	if (access(path, X_OK))
		snprintf(path, size, "%s/%s", dir, name);
}

static int exec_program(void *arg)
{
	char *const *argv = arg;
	char path[PATH_MAX];

	munlockall();
	find_program(path, sizeof(path), argv[0]);
	execv(path, argv);
	perror(path);
	_exit(127);
}

int st_child_program(struct st_child *w, int cpu, const char *const argv[])
{
	return st_child_fork(w, cpu, exec_program, (void *)argv);
}

void st_child_go(struct st_child *w)
{
	w->passed++;
	if (write(w->go, "", 1) != 1)
		printf("# a gate of %d does not open\n", w->pid);
}

int st_child_begin(struct st_child *w, int cpu, int (*fn)(void *arg), void *arg)
{
	int ret = st_child_fork(w, cpu, fn, arg);

	if (!ret)
		st_child_go(w);
	return ret;
}

bool st_child_settled(struct st_child *w)
{
	unsigned int tries = 20000 * st_patience();

	while (tries--) {
		if (__atomic_load_n(w->arrived, __ATOMIC_SEQ_CST) > w->passed && st_asleep(w->pid))
			return true;
		usleep(1000);
	}
	printf("# %d never came to its gate: state %c\n", w->pid, st_task_state(w->pid));
	return false;
}

bool st_child_step(struct st_child *w)
{
	st_child_go(w);
	return st_child_settled(w);
}

static void read_output(struct st_child *w)
{
	size_t used = 0;
	ssize_t n;

	if (w->output < 0)
		return;
	while (used < sizeof(w->text) - 1) {
		n = read(w->output, w->text + used, sizeof(w->text) - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += n;
	}
	w->text[used] = '\0';
	close(w->output);
	w->output = -1;
}

int st_child_wait(struct st_child *w)
{
	int status;

	read_output(w);
	if (waitpid(w->pid, &status, 0) != w->pid)
		return -1;
	close(w->gate);
	close(w->go);
	munmap((void *)w->arrived, getpagesize());
	w->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void st_child_kill(struct st_child *w)
{
	if (w->pid <= 0)
		return;
	kill(-w->pid, SIGKILL);
	close(w->output);
	w->output = -1;
	st_child_wait(w);
}

void st_children_kill(struct st_child *w, size_t n)
{
	while (n--)
		st_child_kill(w++);
}

long long st_child_value(const struct st_child *w, const char *key)
{
	size_t length = strlen(key);
	const char *at = w->text;

	while ((at = strstr(at, key))) {
		if ((at == w->text || at[-1] == '\n' || at[-1] == ' ') && at[length] == '=')
			return strtoll(at + length + 1, NULL, 10);
		at += length;
	}
	return -1;
}
