// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the memory of a CPU's ring is on the CPU's NUMA node, whichever node the caller of
 * session-set runs on.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "record.h"
#include "task.h"

#define PAGES	64

FIXTURE(numa)
{
	struct st_record r;
};

FIXTURE_SETUP(numa)
{
}

FIXTURE_TEARDOWN(numa)
{
	st_record_close(&self->r);
}

/* Returns the node that a CPU is on, or -1. */
static int node_of_cpu(int cpu)
{
	char path[64];
	int node;

	for (node = 0; node < 64; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpu%d", node, cpu);
		if (!access(path, F_OK))
			return node;
	}
	return -1;
}

/* Counts the pages of a CPU's ring that are not on @node.  Returns -1 if that is not known. */
static int count_elsewhere(int fd, const struct stape_session_info *info, int cpu, int node)
{
	size_t page = getpagesize(), n = info->ring_stride / page, i;
	unsigned char *map;
	void *pages[n];
	int nodes[n], elsewhere = 0;

	map = mmap(NULL, info->ring_stride, PROT_READ, MAP_SHARED | MAP_POPULATE, fd,
		   cpu * info->ring_stride);
	if (map == MAP_FAILED)
		return -1;
	for (i = 0; i < n; i++)
		pages[i] = map + i * page;
	/* Without target nodes it only says where the pages are. */
	if (syscall(SYS_move_pages, 0, n, pages, NULL, nodes, 0))
		elsewhere = -1;
	for (i = 0; i < n && elsewhere >= 0; i++)
		elsewhere += nodes[i] != node;
	munmap(map, info->ring_stride);
	return elsewhere;
}

TEST_F(numa, rings_are_on_their_nodes)
{
	struct stape_session_info info;
	int cpu, caller, other = 0;

	for (cpu = 0; cpu < st_cpus(); cpu++)
		other += node_of_cpu(cpu) > 0;
	if (!other)
		SKIP(return, "there is one node");
	for (caller = 0; caller < 2; caller++) {
		ASSERT_EQ(0, st_pin(0, caller));
		ASSERT_EQ(0, st_record_open(&self->r, PAGES));
		ASSERT_EQ(0, ioctl(schedtape_session_fd(self->r.session), STAPE_IOC_INFO, &info));
		for (cpu = 0; cpu < st_cpus(); cpu++)
			EXPECT_EQ(0, count_elsewhere(schedtape_session_fd(self->r.session), &info,
						     cpu, node_of_cpu(cpu)));
		st_record_close(&self->r);
	}
}

TEST_HARNESS_MAIN
