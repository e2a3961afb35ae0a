// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a session that wants system calls has the number of each one that a task of user
 * space sleeps in, and no other session has any.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define PAGES	256
#define SLEEP_NS	20000000

/* Whether a page's switches name system calls. */
enum { UNMARKED, MARKED };

FIXTURE(syscalls)
{
	struct st_record r;
	struct st_record other;
	struct st_child w;
	struct schedtape_session_state state;
	unsigned int pages[2];	/* by whether they are marked */
};

FIXTURE_SETUP(syscalls)
{
}

FIXTURE_TEARDOWN(syscalls)
{
	st_child_kill(&self->w);
	st_record_close(&self->r);
	st_record_close(&self->other);
}

/* -- what children do ---------------------------------------------------------- */

static const uint64_t three[] = { SYS_nanosleep, SYS_ppoll, SYS_futex };

static long sleeps_of_this_thread(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void sleep_in(uint64_t call)
{
	struct timespec time = { .tv_nsec = SLEEP_NS };
	unsigned int word = 0;

	if (call == SYS_nanosleep)
		syscall(SYS_nanosleep, &time, NULL);
	else if (call == SYS_ppoll)
		syscall(SYS_ppoll, NULL, 0, &time, NULL, 0);
	else
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

/* On a busy host a timer may be over before the task sleeps: then the call is made again. */
static int sleep_in_three(void *arg)
{
	long before;
	int i = 0;

	(void)arg;
	while (i < 3) {
		before = sleeps_of_this_thread();
		sleep_in(three[i]);
		i += sleeps_of_this_thread() > before;
	}
	return 0;
}

struct faults {
	int fd;
	char *pages;
	size_t size;
	int ret;
};

/* Gives each page that the main thread waits for its contents, when that thread is asleep. */
static void *resolve(void *arg)
{
	struct faults *faults = arg;
	struct uffdio_zeropage zero;
	struct uffd_msg msg;

	while (read(faults->fd, &msg, sizeof(msg)) == sizeof(msg)) {
		while (!st_asleep(getpid()))
			usleep(1000);
		zero = (struct uffdio_zeropage) {
			.range.start = msg.arg.pagefault.address & -faults->size,
			.range.len = faults->size,
		};
		ioctl(faults->fd, UFFDIO_ZEROPAGE, &zero);
	}
	return NULL;
}

static bool wait_for_pages(struct faults *faults)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = 2 * faults->size,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t thread;

	/* Pages of a mapping that is not locked, although the child locks its memory. */
	faults->pages = mmap(NULL, 2 * faults->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munlock(faults->pages, 2 * faults->size);
	madvise(faults->pages, 2 * faults->size, MADV_DONTNEED);
	range.range.start = (uintptr_t)faults->pages;
	faults->fd = syscall(SYS_userfaultfd, 0);
	return faults->fd >= 0 && !ioctl(faults->fd, UFFDIO_API, &api) &&
	       !ioctl(faults->fd, UFFDIO_REGISTER, &range) &&
	       !pthread_create(&thread, NULL, resolve, faults);
}

/* Waits for a page by itself, and for one in a system call. */
static int sleep_in_faults(void *arg)
{
	struct faults faults = { .size = sysconf(_SC_PAGESIZE) };

	(void)arg;
	if (!wait_for_pages(&faults)) {
		printf("unable=%d\n", errno);
		return 0;
	}
	*(volatile char *)faults.pages = 1;
	return getrandom(faults.pages + faults.size, 1, 0) != 1;
}

static const uint64_t faults[] = { STAPE_SYSCALL_NONE, SYS_getrandom };

#ifdef __x86_64__
#define NR_NANOSLEEP_I386	162

/* A 32-bit system call can be made by any program. */
static int sleep_in_32_bits(void *arg)
{
	int *time = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long before;
	int ret;

	(void)arg;
	if (time == MAP_FAILED)
		return 1;
	time[1] = SLEEP_NS;
	do {
		before = sleeps_of_this_thread();
		ret = NR_NANOSLEEP_I386;
		asm volatile("int $0x80"
			     : "+a" (ret)
			     : "b" (time), "c" (0), "d" (0)
			     : "memory", "r8", "r9", "r10", "r11");
	} while (!ret && sleeps_of_this_thread() == before);
	return ret ? 2 : 0;
}

static const uint64_t in_32_bits[] = { NR_NANOSLEEP_I386 | SCHEDTAPE_SYSCALL_32 };
#endif

/* -- what is on the tape ------------------------------------------------------- */

static bool is_sleep(const struct schedtape_event *ev, pid_t pid)
{
	unsigned int state = schedtape_switch_state(ev);

	return ev->type == STAPE_EV_SWITCH && ev->curr == (uint32_t)pid &&
	       state != STAPE_STATE_RUNNING && state != STAPE_STATE_DEAD;
}

static bool has_call(const struct schedtape_event *ev)
{
	return schedtape_switch_syscall(ev) != SCHEDTAPE_SYSCALL_UNKNOWN;
}

/* Returns how many of @calls the task sleeps in, in this order; others may be in between. */
static size_t find_calls(const struct st_record *r, pid_t pid, const uint64_t *calls, size_t n)
{
	const struct schedtape_event *ev;
	size_t i, found = 0;

	for (i = 0; i < r->n; i++) {
		ev = &r->events[i];
		if (!is_sleep(ev, pid) || !has_call(ev))
			continue;
		printf("# sleeps in %llx\n", (unsigned long long)schedtape_switch_syscall(ev));
		if (found < n && schedtape_switch_syscall(ev) == calls[found])
			found++;
	}
	return found;
}

/* Counts switches that say something about a system call, or do not. */
static size_t count_switches(const struct st_record *r, bool says)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->events[i].type == STAPE_EV_SWITCH &&
		     has_call(&r->events[i]) == says;
	return n;
}

/* Counts the sleeps of a task that name no system call. */
static size_t count_silent(const struct st_record *r, pid_t pid)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += is_sleep(&r->events[i], pid) &&
		     !has_call(&r->events[i]);
	return n;
}

static void count_pages(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	unsigned int *pages = arg;

	pages[page->flags & STAPE_PAGE_SYSCALLS ? MARKED : UNMARKED]++;
}

static int open_session(struct st_record *r, uint32_t clock, bool syscalls)
{
	return st_record_open_with(r, (struct schedtape_session_options) {
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.clock = clock,
		.syscalls = syscalls,
	});
}

/* Records a child that runs @fn.  Returns its PID. */
static pid_t record(struct __test_metadata *_metadata, FIXTURE_DATA(syscalls) *self,
		    int (*fn)(void *arg))
{
	pid_t pid;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w, -1, fn, NULL));
	pid = self->w.pid;
	if (self->other.session)
		ASSERT_EQ(0, st_record_start_with(&self->other, &self->w, 1));
	st_child_go(&self->w);
	st_child_settled(&self->w);
	ASSERT_EQ(0, st_record_finish(&self->r));
	if (self->other.session)
		ASSERT_EQ(0, st_record_finish(&self->other));
	EXPECT_EQ(0, self->r.lost);
	EXPECT_EQ(NULL, st_check(&self->r, &pid, 1));
	EXPECT_EQ(0, count_silent(&self->r, pid));
	return pid;
}

/* -- tests --------------------------------------------------------------------- */

TEST_F(syscalls, each_that_a_task_sleeps_in)
{
	ASSERT_EQ(0, open_session(&self->r, STAPE_CLOCK_MONO, true));
	self->r.each = count_pages;
	self->r.arg = self->pages;
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_TRUE(self->state.syscalls);
	record(_metadata, self, sleep_in_three);
	EXPECT_EQ(ARRAY_SIZE(three),
		  find_calls(&self->r, self->w.pid, three, ARRAY_SIZE(three)));
	/* Descriptions are in pages of another ring, which have no switches. */
	EXPECT_LT(0, self->pages[MARKED]);
}

TEST_F(syscalls, by_the_counter)
{
	struct schedtape_module_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, st_record_open(&self->other, 0));
	ASSERT_EQ(0, schedtape_client_info(self->other.client, &info, NULL));
	st_record_close(&self->other);
	memset(&self->other, 0, sizeof(self->other));
	if (!info.counter_khz)
		SKIP(return, "the counter is not fit as a clock here");
	ASSERT_EQ(0, open_session(&self->r, STAPE_CLOCK_COUNTER, true));
	record(_metadata, self, sleep_in_three);
	EXPECT_EQ(ARRAY_SIZE(three),
		  find_calls(&self->r, self->w.pid, three, ARRAY_SIZE(three)));
}

TEST_F(syscalls, none_unless_wanted)
{
	ASSERT_EQ(0, open_session(&self->r, STAPE_CLOCK_MONO, true));
	ASSERT_EQ(0, open_session(&self->other, STAPE_CLOCK_MONO, false));
	self->other.each = count_pages;
	self->other.arg = self->pages;
	record(_metadata, self, sleep_in_three);
	EXPECT_EQ(ARRAY_SIZE(three),
		  find_calls(&self->r, self->w.pid, three, ARRAY_SIZE(three)));
	EXPECT_EQ(0, count_switches(&self->other, true));
	EXPECT_LT(0, self->pages[UNMARKED]);
	EXPECT_EQ(0, self->pages[MARKED]);
	ASSERT_EQ(0, st_record_get(&self->other, &self->state));
	EXPECT_FALSE(self->state.syscalls);
	EXPECT_EQ(NULL, st_check(&self->other, &self->w.pid, 1));
}

/* The task is switched out for recorded tasks and for others. */
TEST_F(syscalls, of_a_task_beside_others)
{
	size_t i, foreign = 0;

	ASSERT_EQ(0, open_session(&self->r, STAPE_CLOCK_MONO, true));
	ASSERT_EQ(0, st_child_fork(&self->w, 0, sleep_in_three, NULL));
	ASSERT_EQ(0, st_record_set(&self->r, &(struct schedtape_filter) {
		.size = sizeof(struct schedtape_filter), .all = true,
	}));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(ARRAY_SIZE(three),
		  find_calls(&self->r, self->w.pid, three, ARRAY_SIZE(three)));
	EXPECT_EQ(0, count_silent(&self->r, self->w.pid));
	/* Of a task outside the filter nothing is said. */
	for (i = 0; i < self->r.n; i++)
		foreign += self->r.events[i].type == STAPE_EV_SWITCH &&
			   self->r.events[i].curr_kind != STAPE_NEXT_TASK &&
			   has_call(&self->r.events[i]);
	EXPECT_EQ(0, foreign);
}

static bool is_kthread(pid_t pid)
{
	unsigned int flags;
	char text[1024];
	const char *end;

	if (st_read_proc(pid, "stat", text, sizeof(text)))
		return false;
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & 0x00200000;	/* PF_KTHREAD */
}

TEST_F_TIMEOUT(syscalls, none_of_kernel_threads, 60)
{
	size_t i, silent = 0, wrong = 0;

	ASSERT_EQ(0, open_session(&self->r, STAPE_CLOCK_MONO, true));
	ASSERT_EQ(0, st_record_set(&self->r, &(struct schedtape_filter) {
		.size = sizeof(struct schedtape_filter), .all = true, .kthreads = true,
	}));
	ASSERT_EQ(0, st_record_start(&self->r));
	/* Writing to the kernel's log and waiting for RCU wakes threads of the kernel. */
	for (i = 0; i < 10; i++) {
		usleep(20000);
		syscall(SYS_membarrier, 1 /* MEMBARRIER_CMD_GLOBAL */, 0, 0);
	}
	ASSERT_EQ(0, st_record_finish(&self->r));
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (!ev->curr || !is_sleep(ev, ev->curr) || !is_kthread(ev->curr))
			continue;
		if (has_call(ev))
			wrong++;
		else
			silent++;
	}
	EXPECT_LT(0, silent);
	EXPECT_EQ(0, wrong);
}

TEST_F(syscalls, none_in_a_page_fault)
{
	pid_t pid;

	ASSERT_EQ(0, open_session(&self->r, STAPE_CLOCK_MONO, true));
	pid = record(_metadata, self, sleep_in_faults);
	st_child_go(&self->w);
	ASSERT_EQ(0, st_child_wait(&self->w));
	if (st_child_value(&self->w, "unable") >= 0)
		SKIP(return, "no userfaultfd: %s",
		     strerror(st_child_value(&self->w, "unable")));
	EXPECT_EQ(ARRAY_SIZE(faults),
		  find_calls(&self->r, pid, faults, ARRAY_SIZE(faults)));
}

#ifdef __x86_64__
TEST_F(syscalls, those_of_32_bits)
{
	pid_t pid;

	/* An attempt would be a general protection fault, which the kernel reports. */
	if (access("/proc/sys/abi/vsyscall32", F_OK))
		SKIP(return, "this kernel has no 32-bit system calls");
	ASSERT_EQ(0, open_session(&self->r, STAPE_CLOCK_MONO, true));
	pid = record(_metadata, self, sleep_in_32_bits);
	st_child_go(&self->w);
	ASSERT_EQ(0, st_child_wait(&self->w));
	EXPECT_EQ(ARRAY_SIZE(in_32_bits),
		  find_calls(&self->r, pid, in_32_bits, ARRAY_SIZE(in_32_bits)));
}
#endif

TEST_HARNESS_MAIN
