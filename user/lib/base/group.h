/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which tasks the kernel schedules together: those of an autogroup, and those that may share a
 * core.
 */
#ifndef SCHEDTAPE_BASE_GROUP_H
#define SCHEDTAPE_BASE_GROUP_H

#include <stdint.h>

/**
 * struct schedtape_group - a task that is in an autogroup, or has a core-scheduling cookie
 * @time: when this was read, ns of CLOCK_MONOTONIC
 * @start_time: when the task was created, ns of CLOCK_MONOTONIC
 * @autogroup: stands for its autogroup: PID of the session of these tasks; 0: it is in none
 * @nice: the nice value of its autogroup, or SCHEDTAPE_NICE_UNKNOWN
 * @core: stands for its cookie; 0: it has none
 */
struct schedtape_group {
	uint64_t time;
	uint64_t start_time;
	uint32_t pid;
	uint32_t autogroup;
	int32_t nice;
	uint32_t core;
};

#endif /* SCHEDTAPE_BASE_GROUP_H */
