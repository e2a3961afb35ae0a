// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: players' threads, and processes that share their parent's memory: each runs, on a
 * stack that an earlier one has freed.
 */
#include <player/threads.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define SHORT_ONES	3000
#define STARTERS	8
#define OF_EACH		300
#define GENERATIONS	200

static unsigned int ran, sum;

static void count(const void *arg, uint32_t number)
{
	(void)arg;
	__atomic_add_fetch(&sum, number, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
}

static void wait_for(unsigned int wanted)
{
	while (__atomic_load_n(&ran, __ATOMIC_SEQ_CST) < wanted)
		sched_yield();
}

static void begin(void)
{
	ran = 0;
	sum = 0;
}

/* Bytes of this process's mappings. */
static long mapped(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!file || fscanf(file, "%ld", &pages) != 1)
		abort();
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

static void one_after_the_other(void)
{
	unsigned int i, failed = 0;
	long before = 0;

	begin();
	for (i = 0; i < SHORT_ONES; i++) {
		if (i == 100)
			before = mapped();
		failed += thread_start(count, NULL, i) != 0;
		wait_for(i + 1);
	}
	ok(!failed && sum == SHORT_ONES * (SHORT_ONES - 1) / 2, "each runs with its number");
	/* If a thread has not left its stack yet, the next one takes another. */
	ok(mapped() - before < 64L << 20, "they do not need a stack each: %ld MiB more",
	   (mapped() - before) >> 20);
}

static void start_some(const void *arg, uint32_t number)
{
	unsigned int i;

	(void)number;
	for (i = 0; i < OF_EACH; i++)
		if (thread_start(count, arg, 1))
			abort();
	__atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
}

static void by_several_at_once(void)
{
	unsigned int i, failed = 0;

	begin();
	for (i = 0; i < STARTERS; i++)
		failed += thread_start(start_some, NULL, i) != 0;
	wait_for(STARTERS * (OF_EACH + 1));
	ok(!failed && sum == STARTERS * OF_EACH, "threads start threads at the same time");
}

static int status = -1;

static void start_own(const void *arg, uint32_t number)
{
	unsigned int i;

	threads_forget();
	begin();
	for (i = 0; i < number; i++)
		if (thread_start(count, arg, 1))
			_exit(1);
	wait_for(number);
	_exit(sum == number ? 7 : 2);
}

/* Ends with the status of the last generation. */
static void nest(const void *arg, uint32_t number)
{
	int ended;
	long pid;

	threads_forget();
	if (!number)
		_exit(8);
	pid = threads_fork(nest, arg, number - 1);
	if (pid < 0 || waitpid(pid, &ended, 0) != pid || !WIFEXITED(ended))
		_exit(1);
	_exit(WEXITSTATUS(ended));
}

/* @arg: what a process runs.  libc's fork() needs a thread of libc. */
static void fork_here(const void *arg, uint32_t number)
{
	pid_t pid = threads_fork(arg, NULL, number);

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	__atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
}

/*
 * Waits until all other threads have ended: the sanitizer's allocator may be locked by one that
 * ends, and a fork would copy the lock.
 */
static void wait_for_ends(void)
{
	struct stat tasks;

	/* Each folder in it is a link. */
	while (!stat("/proc/self/task", &tasks) && tasks.st_nlink > 2 + 1)
		sched_yield();
}

static void in_a_fork_of_one(void)
{
	wait_for_ends();
	begin();
	thread_start(fork_here, start_own, 100);
	wait_for(1);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7,
	   "a process that a thread forks has threads of its own");
}

static void generations(void)
{
	wait_for_ends();
	begin();
	thread_start(fork_here, nest, GENERATIONS);
	wait_for(1);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 8,
	   "%d processes that fork each other have a stack each", GENERATIONS);
}

static void processes(void)
{
	unsigned int i, failed = 0;
	int ended;
	long pid;

	begin();
	for (i = 0; i < SHORT_ONES; i++) {
		pid = threads_spawn(count, NULL, i);
		failed += pid < 0 || waitpid(pid, &ended, 0) != pid || ended;
	}
	ok(!failed && ran == SHORT_ONES && sum == SHORT_ONES * (SHORT_ONES - 1) / 2,
	   "children share the memory, and end with status 0");
}

/* @number: PID of its parent */
static void outlive(const void *arg, uint32_t number)
{
	while ((uint32_t)getppid() == number)
		sched_yield();
	if (write(*(const int *)arg, "", 1) != 1)
		_exit(1);
}

static void leave_child(const void *arg, uint32_t number)
{
	(void)number;
	threads_forget();
	_exit(threads_spawn(outlive, arg, getpid()) < 0);
}

static void orphan(void)
{
	int ends[2], ended;
	char byte;
	long pid;

	if (pipe(ends))
		abort();
	pid = threads_fork(leave_child, &ends[1], 0);
	close(ends[1]);
	ok(pid > 0 && waitpid(pid, &ended, 0) == pid && !ended && read(ends[0], &byte, 1) == 1,
	   "a child that shares the memory outlives its parent");
	close(ends[0]);
}

int main(void)
{
	if (threads_begin())
		return 1;
	one_after_the_other();
	by_several_at_once();
	in_a_fork_of_one();
	generations();
	processes();
	orphan();
	return tap_done();
}
