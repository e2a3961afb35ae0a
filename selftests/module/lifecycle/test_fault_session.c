// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: calls about sessions and filters when memory runs out: see fault-call.h.
 */
#include <fcntl.h>

#include "fault-call.h"

/* -- preparations: nothing fails here --------------------------------------------------- */

static bool nothing(struct try *t)
{
	return true;
}

static bool with_child(struct try *t)
{
	return recording(t) && !st_record_add(&t->r, t->child.pid);
}

static bool with_cgroup(struct try *t)
{
	return recording(t) && !st_record_add_cgroup(&t->r, t->other);
}

static bool by_cgroup(struct try *t)
{
	return recording(t) && !st_record_add_cgroup(&t->r, t->cgroup);
}

/* -- the calls -------------------------------------------------------------------------- */

static int do_open(struct try *t)
{
	int fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int do_set(struct try *t)
{
	request(t, STAPE_CMD_SESSION_SET, STAPE_A_SESSION_ID, t->id);
	st_request_add_u32(&t->q, STAPE_A_SESSION_RING_PAGES, PAGES);
	return st_request(&t->q);
}

static bool is_set(struct try *t)
{
	return of_session(t, STAPE_A_SESSION_STATE) == STAPE_SESSION_READY;
}

static int do_start(struct try *t)
{
	return st_request(request(t, STAPE_CMD_SESSION_START, STAPE_A_SESSION_ID, t->id));
}

static int do_stop(struct try *t)
{
	return st_request(request(t, STAPE_CMD_SESSION_STOP, STAPE_A_SESSION_ID, t->id));
}

static bool is_stopped(struct try *t)
{
	return of_session(t, STAPE_A_SESSION_STATE) == STAPE_SESSION_STOPPED;
}

/* Adds or removes the child, as a process or as a thread. */
static int change_filter(struct try *t, uint8_t cmd, uint16_t type)
{
	request(t, cmd, STAPE_A_SESSION_ID, t->id);
	st_request_add_u32(&t->q, type, t->child.pid);
	return st_request(&t->q);
}

static int do_add_pid(struct try *t)
{
	return change_filter(t, STAPE_CMD_FILTER_ADD, STAPE_A_SESSION_PID);
}

static int do_add_tid(struct try *t)
{
	return change_filter(t, STAPE_CMD_FILTER_ADD, STAPE_A_SESSION_TID);
}

static int do_del_pid(struct try *t)
{
	return change_filter(t, STAPE_CMD_FILTER_DEL, STAPE_A_SESSION_PID);
}

static int change_cgroup(struct try *t, uint8_t cmd)
{
	request(t, cmd, STAPE_A_SESSION_ID, t->id);
	st_request_add_u64(&t->q, STAPE_A_SESSION_CGROUP, t->cgroup);
	return st_request(&t->q);
}

static int do_add_cgroup(struct try *t)
{
	return change_cgroup(t, STAPE_CMD_FILTER_ADD);
}

static int do_del_cgroup(struct try *t)
{
	return change_cgroup(t, STAPE_CMD_FILTER_DEL);
}

static bool has_child(struct try *t)
{
	return of_session(t, STAPE_A_SESSION_TASKS) == 1;
}

static int do_filter_set(struct try *t)
{
	static const char pattern[] = "test_*";
	uint8_t one = 1;

	request(t, STAPE_CMD_FILTER_SET, STAPE_A_SESSION_ID, t->id);
	st_request_add(&t->q, STAPE_A_SESSION_NO_INHERIT, &one, 1);
	st_request_add(&t->q, STAPE_A_SESSION_EXCLUDE_COMM, pattern, sizeof(pattern));
	return st_request(&t->q);
}

static bool has_nobody(struct try *t)
{
	return of_session(t, STAPE_A_SESSION_TASKS) == 0;
}

static int do_stream(struct try *t)
{
	static const unsigned char cpus = 1;

	t->stream = (struct stape_stream){ .cpus = (uintptr_t)&cpus, .bytes = 1, .fd = -1 };
	return ioctl(schedtape_session_fd(t->r.session), STAPE_IOC_STREAM, &t->stream) ? -errno : 0;
}

static bool has_stream(struct try *t)
{
	return t->stream.fd >= 0;
}

static int do_list_tasks(struct try *t)
{
	request(t, STAPE_CMD_TASK_GET, STAPE_A_TASK_SESSION, t->id)->flags = NLM_F_DUMP;
	return st_request(&t->q);
}

FIXTURE_VARIANT_ADD(fault, open) { nothing, do_open, NULL, false, 4 };
FIXTURE_VARIANT_ADD(fault, session_set) { new_session, do_set, is_set, true, 4 };
FIXTURE_VARIANT_ADD(fault, session_start) { rings, do_start, is_started, true, 15 };
FIXTURE_VARIANT_ADD(fault, session_stop) { recording, do_stop, is_stopped, true, 1 };
FIXTURE_VARIANT_ADD(fault, filter_add_pid) { rings, do_add_pid, has_child, true, 15 };
FIXTURE_VARIANT_ADD(fault, filter_add_tid) { rings, do_add_tid, has_child, true, 15 };
FIXTURE_VARIANT_ADD(fault, filter_add_cgroup) { with_cgroup, do_add_cgroup, has_child, true, 3 };
FIXTURE_VARIANT_ADD(fault, filter_del_pid) { with_child, do_del_pid, has_nobody, true, 2 };
FIXTURE_VARIANT_ADD(fault, filter_del_cgroup) { by_cgroup, do_del_cgroup, has_nobody, true, 2 };
FIXTURE_VARIANT_ADD(fault, filter_set) { with_child, do_filter_set, has_nobody, true, 3 };
FIXTURE_VARIANT_ADD(fault, stream) { rings, do_stream, has_stream, false, 3 };
FIXTURE_VARIANT_ADD(fault, list_tasks) { with_child, do_list_tasks, NULL, true, 2 };

TEST_HARNESS_MAIN
