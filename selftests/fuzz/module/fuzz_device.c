// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: random calls on the device, by several processes at once on the same sessions,
 * some of which record, and on files that these calls make: ioctls, mappings of odd sizes and
 * offsets that are moved, cut and accessed, read and poll with bad memory, garbage in the
 * reader's own page. No result may be one that no call can have.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <schedtape/device.h>
#include <schedtape/event.h>

#include "fuzz.h"
#include "request.h"

#define WORKERS	3
#define SHARED	3	/* sessions shared by all workers */
#define OWN	6	/* with a worker's own ones */
#define FILES	10	/* with streams and players' files */
#define MAPS	8
#define PLAYERS	8
#define EDGES	8
#define PAGE	4096ul

enum kind { OPEN, CONTROL, IOCTL, MMAP, MUNMAP, MREMAP, MPROTECT, TOUCH, POLL, READ, OTHER };

static const char *const kinds[] = {
	"open", "control", "ioctl", "mmap", "munmap", "mremap", "mprotect", "touch", "poll",
	"read", "other calls",
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct map {
	unsigned char *at;
	size_t length;
};

struct worker {
	struct st_fuzz *fuzz;
	struct st_random random;
	struct st_request q;
	uint16_t family;
	int sock;
	int fds[FILES];
	uint32_t ids[OWN];
	struct map maps[MAPS];
	unsigned char *memory;	/* three pages: writable, read-only, not mapped */
};

static sigjmp_buf fault;

static void on_fault(int signal)
{
	siglongjmp(fault, signal);
}

static int some(struct worker *w)
{
	if (st_random_one_in(&w->random, 4))
		return w->fds[OWN + st_random_below(&w->random, FILES - OWN)];
	return w->fds[st_random_below(&w->random, OWN)];
}

/* Returns our own memory, its end, or memory that is read-only or not mapped. */
static void *some_memory(struct worker *w)
{
	switch (st_random_below(&w->random, 8)) {
	case 0:
		return w->memory + PAGE - st_random_below(&w->random, 64);
	case 1:
		return w->memory + PAGE + st_random_below(&w->random, PAGE);
	case 2:
		return w->memory + 2 * PAGE;
	case 3:
		return (void *)(uintptr_t)st_random_odd(&w->random, 0xffffffff81000000ull);
	case 4:
		return w->maps[st_random_below(&w->random, MAPS)].at;
	default:
		return w->memory + st_random_below(&w->random, 8);
	}
}

static long do_open(struct worker *w)
{
	unsigned int i = SHARED + st_random_below(&w->random, OWN - SHARED);
	struct stape_session_info info = { 0 };

	if (w->fds[i] >= 0)
		close(w->fds[i]);
	w->fds[i] = open("/dev/schedtape", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (w->fds[i] < 0)
		return -errno;
	if (ioctl(w->fds[i], STAPE_IOC_INFO, &info))
		return -errno;
	w->ids[i] = info.id;
	return 0;
}

/* Changes a session's state, so that other calls find sessions in all states. */
static long do_control(struct worker *w)
{
	static const uint8_t commands[] = {
		STAPE_CMD_SESSION_SET, STAPE_CMD_SESSION_SET, STAPE_CMD_FILTER_SET,
		STAPE_CMD_SESSION_START, STAPE_CMD_SESSION_START, STAPE_CMD_SESSION_PAUSE,
		STAPE_CMD_SESSION_STOP,
	};
	struct st_request *q = &w->q;
	uint8_t one = 1;

	st_request_init(q, commands[st_random_below(&w->random, sizeof(commands))]);
	q->sock = w->sock;
	q->family = w->family;
	st_request_add_u32(q, STAPE_A_SESSION_ID, w->ids[st_random_below(&w->random, OWN)]);
	if (q->cmd == STAPE_CMD_FILTER_SET)
		st_request_add(q, STAPE_A_SESSION_ALL, &one, 1);
	if (q->cmd == STAPE_CMD_SESSION_SET) {
		st_request_add_u32(q, STAPE_A_SESSION_RING_PAGES,
				   2u << st_random_below(&w->random, 4));
		if (st_random_one_in(&w->random, 4))
			st_request_add(q, STAPE_A_SESSION_OVERWRITE, NULL, 0);
		if (st_random_one_in(&w->random, 4))
			st_request_add(q, STAPE_A_SESSION_SYSCALLS, NULL, 0);
		if (st_random_one_in(&w->random, 4))
			st_request_add(q, STAPE_A_SESSION_CPUS, &one, 1);
	}
	return st_request(q);
}

/* Returns true if the two differ at most in the size of their structs, which may grow. */
static bool is(unsigned long command, unsigned long other)
{
	return !((command ^ other) & ~IOCSIZE_MASK);
}

/* Keeps a file that a successful call has returned in memory, in place of another. */
static void keep_made(struct worker *w, unsigned long command, const void *arg)
{
	unsigned int i = OWN + st_random_below(&w->random, FILES - OWN);
	int fd;

	if (is(command, STAPE_IOC_REPLAY))
		fd = ((const struct stape_replay_setup *)arg)->fd;
	else if (is(command, STAPE_IOC_STREAM))
		fd = ((const struct stape_stream *)arg)->fd;
	else
		return;
	if (w->fds[i] >= 0)
		close(w->fds[i]);
	w->fds[i] = fd;
}

/* Not JOIN, because players are killed. */
static unsigned long some_command(struct worker *w)
{
	static const unsigned long commands[] = {
		STAPE_IOC_INFO, STAPE_IOC_FLUSH, STAPE_IOC_CLOCK, STAPE_IOC_STREAM,
		STAPE_IOC_STREAM, STAPE_IOC_REPLAY, STAPE_IOC_REWIND, STAPE_IOC_STEP,
		STAPE_IOC_HOLD,
	};
	static const unsigned long grow[] = { STAPE_IOC_STREAM, STAPE_IOC_REPLAY };
	unsigned long command = _IOC(st_random_below(&w->random, 4), STAPE_IOC_MAGIC,
				     st_random_below(&w->random, 64),
				     st_random_below(&w->random, 128));

	if (command != STAPE_IOC_JOIN && st_random_one_in(&w->random, 16))
		return command;
	if (st_random_one_in(&w->random, 16))
		return (grow[st_random_below(&w->random, 2)] & ~IOCSIZE_MASK) |
		       st_random_below(&w->random, 128) << IOCSIZE_SHIFT;
	return commands[st_random_below(&w->random, sizeof(commands) / sizeof(commands[0]))];
}

/* Most of them are valid; usually the arrays that they point to follow them. */
static void make_setup(struct worker *w)
{
	struct stape_replay_setup *setup = (void *)w->memory;
	uint32_t *edges = (void *)(w->memory + 64), *wakers = edges + EDGES;
	struct st_random *random = &w->random;
	unsigned int i;

	for (i = 0; i < 2 * EDGES; i++)
		edges[i] = st_random_one_in(random, 64) ? st_random_odd(random, PLAYERS) :
			   st_random_below(random, PLAYERS);
	*setup = (struct stape_replay_setup){
		.nr_players = st_random_one_in(random, 4) ? st_random_odd(random, PLAYERS) :
			      PLAYERS,
		.nr_edges = st_random_one_in(random, 4) ? st_random_odd(random, EDGES) : EDGES,
		.edges = (uintptr_t)(st_random_one_in(random, 8) ? some_memory(w) : edges),
		.flags = st_random_one_in(random, 2) ? STAPE_REPLAY_ROUNDS : 0,
	};
	if (st_random_one_in(random, 2))
		setup->wakers = (uintptr_t)(st_random_one_in(random, 8) ? some_memory(w) : wakers);
}

static void make_stream(struct worker *w)
{
	struct stape_stream *stream = (void *)w->memory;
	unsigned char *cpus = w->memory + 64;

	cpus[0] = st_random_below(&w->random, 8);
	stream->bytes = st_random_odd(&w->random, 2);
	stream->cpus = (uintptr_t)(st_random_one_in(&w->random, 4) ? some_memory(w) : cpus);
}

static long do_ioctl(struct worker *w)
{
	unsigned long command = some_command(w);
	void *arg = some_memory(w);
	unsigned int i;

	for (i = 0; i < 64; i++)
		w->memory[i] = st_random_one_in(&w->random, 8) ? st_random_next(&w->random) : 0;
	if (st_random_one_in(&w->random, 2)) {
		arg = w->memory;
		if (is(command, STAPE_IOC_REPLAY))
			make_setup(w);
		else if (is(command, STAPE_IOC_STREAM))
			make_stream(w);
	}
	/* A file's number in a ring's page could not be trusted. */
	if (is(command, STAPE_IOC_REPLAY) || is(command, STAPE_IOC_STREAM))
		for (i = 0; i < MAPS; i++)
			if (arg == w->maps[i].at)
				arg = NULL;
	if (ioctl(some(w), command, arg) < 0)
		return -errno;
	keep_made(w, command, arg);
	return 0;
}

static struct map *some_map(struct worker *w)
{
	return &w->maps[st_random_below(&w->random, MAPS)];
}

static long drop_map(struct map *map)
{
	long ret = map->at && munmap(map->at, map->length) ? -errno : 0;

	map->at = NULL;
	return ret;
}

static long do_mmap(struct worker *w)
{
	static const int flags[] = {
		MAP_SHARED, MAP_SHARED, MAP_PRIVATE, MAP_SHARED | MAP_POPULATE,
	};
	static const int prots[] = {
		PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE, PROT_NONE,
		PROT_READ | PROT_EXEC, PROT_READ,
	};
	struct map *map = some_map(w);
	uint64_t offset = st_random_below(&w->random, 20) * PAGE;
	void *at;

	drop_map(map);
	map->length = PAGE * (1 + st_random_below(&w->random, 8));
	if (st_random_one_in(&w->random, 4))
		map->length = st_random_odd(&w->random, 3 * PAGE);
	if (st_random_one_in(&w->random, 4))
		offset = st_random_odd(&w->random, 18 * PAGE);
	at = mmap(NULL, map->length, prots[st_random_below(&w->random, 6)],
		  flags[st_random_below(&w->random, 4)], some(w), offset);
	if (at == MAP_FAILED)
		return -errno;
	map->at = at;
	map->length = (map->length + PAGE - 1) / PAGE * PAGE;
	return 0;
}

/* Unmaps all of a mapping, or a page of it, so that two parts remain. */
static long do_munmap(struct worker *w)
{
	struct map *map = some_map(w);

	if (!map->at || st_random_one_in(&w->random, 2))
		return drop_map(map);
	return munmap(map->at + st_random_below(&w->random, map->length / PAGE) * PAGE, PAGE) ?
		-errno : 0;
}

static long do_mremap(struct worker *w)
{
	struct map *map = some_map(w);
	size_t length = PAGE * st_random_below(&w->random, 16);
	void *at;

	if (!map->at)
		return 0;
	at = mremap(map->at, map->length, length, MREMAP_MAYMOVE);
	if (at == MAP_FAILED)
		return -errno;
	map->at = at;
	map->length = length;
	return 0;
}

static long do_mprotect(struct worker *w)
{
	struct map *map = some_map(w);

	if (!map->at)
		return 0;
	return mprotect(map->at, map->length, st_random_below(&w->random, 8)) ? -errno : 0;
}

/* Reads and writes mappings; faults are caught. */
static long do_touch(struct worker *w)
{
	struct map *map = some_map(w);
	volatile uint64_t *word;

	if (!map->at)
		return 0;
	word = (void *)(map->at + st_random_below(&w->random, map->length / 8) * 8);
	if (st_random_one_in(&w->random, 2))
		word = (void *)map->at;
	if (sigsetjmp(fault, 1))
		return -EFAULT;
	if (st_random_one_in(&w->random, 2))
		*word = st_random_odd(&w->random, 4);
	else
		(void)*word;
	return 0;
}

static long do_poll(struct worker *w)
{
	struct pollfd p[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		p[i] = (struct pollfd){ .fd = some(w), .events = st_random_next(&w->random) };
	return poll(p, 3, st_random_one_in(&w->random, 64)) < 0 ? -errno : 0;
}

static long do_read(struct worker *w)
{
	static unsigned char buffer[3 * STAPE_PAGE_SIZE];
	void *to = st_random_one_in(&w->random, 3) ? some_memory(w) : buffer;
	size_t size = st_random_one_in(&w->random, 3) ? st_random_odd(&w->random, STAPE_PAGE_SIZE) :
			sizeof(buffer);

	/* The kernel may write up to @size bytes. */
	if (to == buffer && size > sizeof(buffer))
		size = sizeof(buffer);
	else if (to != buffer && size > 8)
		to = w->memory + 2 * PAGE;
	return read(some(w), to, size) < 0 ? -errno : 0;
}

static long do_other(struct worker *w)
{
	long ret = 0;
	int fd;

	switch (st_random_below(&w->random, 7)) {
	case 0:
		ret = lseek(some(w), st_random_odd(&w->random, 0), SEEK_SET);
		break;
	case 1:
		ret = pread(some(w), w->memory, 8, st_random_odd(&w->random, 0));
		break;
	case 2:
		ret = write(some(w), some_memory(w), 8);
		break;
	case 3:
		ret = ftruncate(some(w), st_random_odd(&w->random, 0));
		break;
	case 4:
		ret = fsync(some(w));
		break;
	case 5:
		ret = fcntl(some(w), F_SETFL, O_NONBLOCK | O_ASYNC);
		break;
	case 6:
		fd = dup(some(w));
		ret = fd < 0 ? fd : close(fd);
		break;
	}
	return ret < 0 ? -errno : 0;
}

static const struct {
	enum kind kind;
	unsigned int weight;
	long (*run)(struct worker *w);
	int allowed[16];
} calls[] = {
	{ OPEN, 1, do_open, { ENOMEM } },
	{ CONTROL, 8, do_control,
	  { EINVAL, ENOENT, ERANGE, EBUSY, EALREADY, ENOMEM, EOPNOTSUPP } },
	{ IOCTL, 30, do_ioctl,
	  { EBADF, EFAULT, EINVAL, ENOTTY, EBUSY, ENODATA, ENOMEM, E2BIG, ESRCH } },
	{ MMAP, 20, do_mmap,
	  { EBADF, EINVAL, ENODATA, ENODEV, ENXIO, EPERM, ENOMEM, EACCES, EOVERFLOW } },
	{ MUNMAP, 6, do_munmap, { EINVAL } },
	{ MREMAP, 6, do_mremap, { EFAULT, EINVAL, ENOMEM } },
	{ MPROTECT, 6, do_mprotect, { EACCES, EINVAL, ENOMEM } },
	{ TOUCH, 20, do_touch, { EFAULT } },
	{ POLL, 10, do_poll, { 0 } },
	{ READ, 20, do_read, { EBADF, EINVAL, ENODATA, EAGAIN, EFAULT } },
	{ OTHER, 3, do_other, { EBADF, EINVAL, ESPIPE } },
};

static void do_call(struct worker *w)
{
	unsigned int at = st_random_below(&w->random, 130), i;

	for (i = 0; at >= calls[i].weight; i++)
		at -= calls[i].weight;
	st_fuzz_count(w->fuzz, calls[i].kind, kinds[calls[i].kind], calls[i].run(w),
		      calls[i].allowed);
}

static int work(struct worker *w, unsigned int number)
{
	struct sigaction action = { .sa_handler = on_fault };

	w->random = st_random(w->fuzz, number);
	w->sock = st_socket();
	w->family = st_family(w->sock, NULL);
	w->memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (w->memory == MAP_FAILED || !w->family ||
	    mprotect(w->memory + PAGE, PAGE, PROT_READ) ||
	    mprotect(w->memory + 2 * PAGE, PAGE, PROT_NONE))
		return 1;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	while (st_fuzz_more(w->fuzz))
		do_call(w);
	return 0;
}

int main(void)
{
	struct worker w = { .fuzz = st_fuzz_begin() };
	struct stape_session_info info = { 0 };
	unsigned int i;
	int status;

	for (i = 0; i < FILES; i++) {
		w.fds[i] = i < SHARED ? open("/dev/schedtape", O_RDWR | O_NONBLOCK) : -1;
		if (w.fds[i] >= 0 && !ioctl(w.fds[i], STAPE_IOC_INFO, &info))
			w.ids[i] = info.id;
	}
	for (i = 0; i < WORKERS; i++)
		if (!fork())
			_exit(work(&w, i));
	while (wait(&status) > 0)
		if (status)
			w.fuzz->wrong++;
	return st_fuzz_end(w.fuzz, "fuzz_device", kinds, NR_KINDS);
}
