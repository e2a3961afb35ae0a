// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads a scheduler that stops scheduling: stall [MS]
 *
 * Prints "on" when tasks are in the class. The scheduler stops after MS ms, or never, and is
 * ejected. The program ends with its scheduler, or by a signal.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <scx/common.h>

#include "stall.bpf.skel.h"

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	struct bpf_link *link;
	struct stall *skel;

	signal(SIGINT, end);
	signal(SIGTERM, end);
	skel = SCX_OPS_OPEN(stall_ops, stall);
	SCX_OPS_LOAD(skel, stall_ops, stall, uei);
	link = SCX_OPS_ATTACH(skel, stall_ops, stall);
	if (argc > 1)
		skel->bss->last = now() + strtoull(argv[1], NULL, 10) * 1000000;
	puts("on");
	fflush(stdout);
	while (!is_over && !UEI_EXITED(skel, uei))
		usleep(20000);
	bpf_link__destroy(link);
	UEI_REPORT(skel, uei);
	stall__destroy(skel);
	return 0;
}
