// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a small service. A front end takes a request every 4 ms and gives it to one of
 * three workers in turn; the worker computes for 1 to 2 ms and passes the answer to a logger.
 * At the same time a batch job computes in bursts, at nice 10. REQUESTS is the number of
 * requests.
 *
 * The cost of each request comes from a generator with a fixed seed, and is measured in CPU
 * time, so that each run does the same.
 */
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "work.h"

#define WORKERS		3
#define PERIOD_NS	4000000
#define MS		1000000

static long requests;
static uint64_t begin;
static int to_worker[WORKERS][2], to_logger[2];

/* POSIX's example of rand(), so that it is the same with each C library. */
static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

static void sleep_until(uint64_t time)
{
	struct timespec t = { time / 1000000000, time % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void send(const int *pipe)
{
	if (write(pipe[1], "", 1) != 1)
		err(1, "write");
}

/* Returns false when the other end is closed. */
static bool receive(const int *pipe)
{
	char byte;

	return read(pipe[0], &byte, 1) == 1;
}

static void run_frontend(long number)
{
	long i;

	(void)number;
	for (i = 0; i < requests; i++) {
		sleep_until(begin + i * PERIOD_NS);
		work_burn(MS / 4);
		send(to_worker[i % WORKERS]);
	}
}

static void run_worker(long number)
{
	uint32_t seed = number;

	while (receive(to_worker[number])) {
		work_burn(MS + draw(&seed, MS));
		send(to_logger);
	}
}

static void run_logger(long number)
{
	(void)number;
	while (receive(to_logger))
		work_burn(MS / 4);
}

static void run_batch(long number)
{
	long i;

	(void)number;
	if (nice(10) == -1)
		err(1, "nice");
	for (i = 0; i < requests / 10; i++) {
		sleep_until(begin + i * 10 * PERIOD_NS + MS);
		work_burn(12 * MS);
	}
}

/* Closes the ends of pipes that a part of the service does not use. */
static void close_others(bool frontend, bool worker)
{
	int i;

	for (i = 0; i < WORKERS && !frontend; i++)
		close(to_worker[i][1]);
	if (!worker)
		close(to_logger[1]);
}

static void start(const char *name, void (*run)(long number), long number)
{
	pid_t pid = work_fork();

	if (pid)
		return;
	prctl(PR_SET_NAME, name);
	close_others(run == run_frontend, run == run_worker);
	run(number);
	_exit(0);
}

int main(int argc, char **argv)
{
	int status, failed = 0;
	char name[16];
	long i;

	requests = work_arg(argc, argv, 1, 1, 1000000, "REQUESTS");
	for (i = 0; i < WORKERS; i++)
		if (pipe(to_worker[i]))
			err(1, "pipe");
	if (pipe(to_logger))
		err(1, "pipe");
	/* All start at the same distance from the kernel's timers, and before the first request. */
	begin = (work_clock(CLOCK_MONOTONIC) / (100 * MS) + 1) * 100 * MS;
	sleep_until(begin);
	begin += 20 * MS;
	start("logger", run_logger, 0);
	for (i = 0; i < WORKERS; i++) {
		snprintf(name, sizeof(name), "worker%ld", i);
		start(name, run_worker, i);
	}
	start("batch", run_batch, 0);
	start("frontend", run_frontend, 0);
	close_others(false, false);
	while (wait(&status) > 0)
		failed |= status;
	printf("requests=%ld\n", requests);
	return !!failed;
}
