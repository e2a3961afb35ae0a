// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by the module's fuzzers.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <schedtape/device.h>

#include "child.h"

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/*
 * Creates a replay that lives until the fuzzer ends. The first replay hooks the kernel and the
 * last one unhooks it, and an emulator may fail when the kernel's code is patched, see "run".
 */
static void hold_hooks(void)
{
	struct stape_replay_setup setup = { .nr_players = 1 };
	int session = open("/dev/schedtape", O_RDWR | O_CLOEXEC);

	if (session < 0 || ioctl(session, STAPE_IOC_REPLAY, &setup))
		printf("# /dev/schedtape: %s\n", strerror(errno));
}

struct st_fuzz *st_fuzz_begin(void)
{
	struct st_fuzz *fuzz = st_share(sizeof(*fuzz));
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fuzz->wanted = setting("FUZZ_INPUTS", 5000);
	fuzz->seed = setting("FUZZ_SEED", now.tv_sec * 1000000000ull + now.tv_nsec);
	setvbuf(stdout, NULL, _IOLBF, 0);
	hold_hooks();
	printf("TAP version 13\n1..1\n# FUZZ_SEED=%llu\n", (unsigned long long)fuzz->seed);
	return fuzz;
}

struct st_random st_random(const struct st_fuzz *fuzz, uint64_t who)
{
	return (struct st_random){ .state = fuzz->seed + who * 0x632be59bd9b4e019ull };
}

bool st_fuzz_more(const struct st_fuzz *fuzz)
{
	return __atomic_load_n(&fuzz->inputs, __ATOMIC_RELAXED) < fuzz->wanted;
}

void st_fuzz_count(struct st_fuzz *fuzz, unsigned int kind, const char *name, long ret,
		   const int *allowed)
{
	long error = ret < 0 ? -ret : 0;

	__atomic_fetch_add(&fuzz->inputs, 1, __ATOMIC_RELAXED);
	if (kind < ST_FUZZ_KINDS && error < ST_FUZZ_ERRNOS)
		__atomic_fetch_add(&fuzz->outcomes[kind][error], 1, __ATOMIC_RELAXED);
	if (!error)
		return;
	while (*allowed && *allowed != error)
		allowed++;
	if (!*allowed && __atomic_fetch_add(&fuzz->wrong, 1, __ATOMIC_RELAXED) < 20)
		printf("# %s: %s is no answer to that\n", name, strerrorname_np(error));
}

int st_fuzz_end(struct st_fuzz *fuzz, const char *name, const char *const *kinds,
		unsigned int nr_kinds)
{
	unsigned int kind, error, outcomes = 0;

	for (kind = 0; kind < nr_kinds; kind++) {
		printf("# %s:", kinds[kind]);
		for (error = 0; error < ST_FUZZ_ERRNOS; error++) {
			if (!fuzz->outcomes[kind][error])
				continue;
			outcomes++;
			printf(" %s %llu", error ? strerrorname_np(error) : "done",
			       (unsigned long long)fuzz->outcomes[kind][error]);
		}
		printf("\n");
	}
	printf("%s 1 %s: %llu inputs, %u outcomes, %llu wrong\n", fuzz->wrong ? "not ok" : "ok",
	       name, (unsigned long long)fuzz->inputs, outcomes,
	       (unsigned long long)fuzz->wrong);
	return fuzz->wrong != 0;
}
