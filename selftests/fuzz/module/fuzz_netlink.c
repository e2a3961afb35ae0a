// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: random requests to the netlink family, by several processes at once, about
 * sessions and replays of all of them: every command, attributes that are missing, wrong, cut
 * off, oversized, nested, repeated. No answer may be one that no request can have, and the
 * kernel has to survive.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <schedtape/device.h>

#include "child.h"
#include "fuzz.h"
#include "request.h"

#define WORKERS		3
#define SESSIONS	2	/* of a worker */
#define ATTRS_MAX	(sizeof(((struct st_request *)NULL)->attrs) / 2)

/* The objects of all workers that requests can name. */
struct objects {
	volatile uint32_t sessions[WORKERS * SESSIONS];
	volatile uint32_t replays[WORKERS * SESSIONS];
};

struct worker {
	struct st_fuzz *fuzz;
	struct objects *objects;
	struct st_random random;
	unsigned int number;
	int fds[SESSIONS];
	struct st_request q;
};

static const char *const kinds[] = {
	"no command", "info-get", "session-get", "session-set", "session-start",
	"session-stop", "session-ntf", "filter-add", "filter-del", "task-get", "replay-get",
	"replay-start", "replay-stop", "replay-ntf", "session-pause", "filter-set",
	"replay-set", "replay-pause", "player-get", "session-monitor", "replay-monitor",
	"trigger-ntf", "session-mark",
	"beyond all",
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

_Static_assert(STAPE_CMD_MAX + 2 == NR_KINDS, "a command is new: see is_of_replay(), too");

static const int allowed[] = {
	EINVAL, ENOENT, ESRCH, EBUSY, EALREADY, ERANGE, E2BIG, EOPNOTSUPP, ENOMEM, EMSGSIZE,
	ENOSPC, 0
};

/* Replaces a session by another, with or without a replay. */
static void reopen(struct worker *w, unsigned int i)
{
	uint32_t edges[8] = { 0 };
	struct stape_replay_setup setup = {
		.nr_players = 1 + st_random_below(&w->random, 8),
		.nr_edges = st_random_below(&w->random, 8),
		.edges = (uintptr_t)edges,
	};
	struct stape_session_info info = { 0 };
	unsigned int slot = w->number * SESSIONS + i;

	if (w->fds[i] >= 0)
		close(w->fds[i]);
	w->fds[i] = open("/dev/schedtape", O_RDWR | O_CLOEXEC);
	if (w->fds[i] < 0 || ioctl(w->fds[i], STAPE_IOC_INFO, &info))
		return;
	w->objects->sessions[slot] = info.id;
	if (st_random_one_in(&w->random, 2))
		st_request_u32(STAPE_CMD_SESSION_SET, STAPE_A_SESSION_ID, info.id,
			       STAPE_A_SESSION_RING_PAGES, 4);
	if (st_random_one_in(&w->random, 2) && !ioctl(w->fds[i], STAPE_IOC_REPLAY, &setup)) {
		w->objects->replays[slot] = setup.id;
		close(setup.fd);
	}
}

static uint32_t some_id(struct worker *w, const volatile uint32_t *ids)
{
	uint32_t id = ids[st_random_below(&w->random, WORKERS * SESSIONS)];

	return st_random_one_in(&w->random, 16) ? st_random_odd(&w->random, id) : id;
}

static void make_name(struct worker *w, char *name, unsigned int length)
{
	static const char letters[] = "ab*?[]^-\\!fuz\xff ";
	unsigned int i;

	for (i = 0; i < length; i++)
		name[i] = letters[st_random_below(&w->random, sizeof(letters) - 1)];
	name[length] = 0;
}

static void add_name(struct worker *w)
{
	unsigned int length = st_random_below(&w->random, 24);
	char name[40];

	make_name(w, name, length);
	st_request_add(&w->q, STAPE_A_SESSION_EXCLUDE_COMM, name,
		       length + !st_random_one_in(&w->random, 16));
}

/* Adds a trigger, whose limit may be low enough to fire all the time. */
static void add_trigger(struct worker *w)
{
	struct {
		struct nlattr kind_attr;
		uint32_t kind;
		struct nlattr limit_attr;
		uint64_t limit;
		struct nlattr comm_attr;
		char comm[8];
		struct nlattr pid_attr;
		uint32_t pid;
	} __attribute__((packed)) nest = {
		.kind_attr = { NLA_HDRLEN + sizeof(nest.kind), STAPE_A_TRIGGER_KIND },
		.kind = st_random_below(&w->random, STAPE_TRIGGER_RATE + 2),
		.limit_attr = { NLA_HDRLEN + sizeof(nest.limit), STAPE_A_TRIGGER_LIMIT },
		.limit = st_random_odd(&w->random, 1000),
		.comm_attr = { NLA_HDRLEN + sizeof(nest.comm), STAPE_A_TRIGGER_COMM },
		.pid_attr = { NLA_HDRLEN + sizeof(nest.pid), STAPE_A_TRIGGER_PID },
		.pid = st_random_odd(&w->random, getpid()),
	};
	size_t bytes = sizeof(nest);

	make_name(w, nest.comm, sizeof(nest.comm) - 1);
	if (!st_random_one_in(&w->random, 4))
		bytes = st_random_one_in(&w->random, 4) ? offsetof(__typeof__(nest), pid_attr) :
							 offsetof(__typeof__(nest), comm_attr);
	st_request_add(&w->q, STAPE_A_SESSION_TRIGGER | NLA_F_NESTED, &nest, bytes);
}

/* Adds an attribute, usually as its command expects it. */
static void add_session_attr(struct worker *w, uint16_t type)
{
	struct st_random *random = &w->random;
	unsigned char mask[40];
	unsigned int i;

	switch (type) {
	case STAPE_A_SESSION_PID:
	case STAPE_A_SESSION_TID:
		st_request_add_u32(&w->q, type, st_random_odd(random, getpid()));
		break;
	case STAPE_A_SESSION_CGROUP:
		st_request_add_u64(&w->q, type, st_random_odd(random, 1));
		break;
	case STAPE_A_SESSION_ALL:
	case STAPE_A_SESSION_KTHREADS:
	case STAPE_A_SESSION_NO_INHERIT:
		mask[0] = st_random_below(random, 3);
		st_request_add(&w->q, type, mask, 1);
		break;
	case STAPE_A_SESSION_EXCLUDE_COMM:
		add_name(w);
		break;
	case STAPE_A_SESSION_OVERWRITE:
	case STAPE_A_SESSION_SYSCALLS:
	case STAPE_A_SESSION_FOLLOW:
		st_request_add(&w->q, type, NULL, 0);
		break;
	case STAPE_A_SESSION_TRIGGER:
		add_trigger(w);
		break;
	case STAPE_A_SESSION_CPUS:
		for (i = 0; i < sizeof(mask); i++)
			mask[i] = st_random_one_in(random, 4) ? st_random_next(random) : !i;
		st_request_add(&w->q, type, mask, 1 + st_random_below(random, sizeof(mask)));
		break;
	case STAPE_A_SESSION_RING_PAGES:
		st_request_add_u32(&w->q, type, st_random_one_in(random, 4) ?
				   st_random_odd(random, 65536) : 2u << st_random_below(random, 6));
		break;
	case STAPE_A_SESSION_INTERVAL:
		st_request_add_u64(&w->q, type, st_random_odd(random, 1000));
		break;
	default:
		st_request_add_u32(&w->q, type, st_random_below(random, 4));
	}
}

/* The attributes of commands about sessions, except the id. */
static const uint16_t types[NR_KINDS][8] = {
	[STAPE_CMD_SESSION_SET] = {
		STAPE_A_SESSION_RING_PAGES, STAPE_A_SESSION_WATERMARK, STAPE_A_SESSION_CLOCK,
		STAPE_A_SESSION_OVERWRITE, STAPE_A_SESSION_CPUS, STAPE_A_SESSION_SYSCALLS,
		STAPE_A_SESSION_TRIGGER,
	},
	[STAPE_CMD_FILTER_ADD] = {
		STAPE_A_SESSION_PID, STAPE_A_SESSION_TID, STAPE_A_SESSION_CGROUP,
		STAPE_A_SESSION_FOLLOW,
	},
	[STAPE_CMD_FILTER_DEL] = {
		STAPE_A_SESSION_PID, STAPE_A_SESSION_TID, STAPE_A_SESSION_CGROUP,
	},
	[STAPE_CMD_FILTER_SET] = {
		STAPE_A_SESSION_ALL, STAPE_A_SESSION_KTHREADS, STAPE_A_SESSION_NO_INHERIT,
		STAPE_A_SESSION_EXCLUDE_COMM,
	},
	[STAPE_CMD_SESSION_MARK] = { STAPE_A_SESSION_INTERVAL },
};

static bool takes_attrs(uint8_t cmd)
{
	return cmd < NR_KINDS && types[cmd][0];
}

/* Returns a type that the command takes, or sometimes any. */
static uint16_t some_type(struct worker *w)
{
	unsigned int n = 0;

	while (takes_attrs(w->q.cmd) && types[w->q.cmd][n])
		n++;
	if (!n || st_random_one_in(&w->random, 32))
		return st_random_below(&w->random, STAPE_A_SESSION_MAX + 2);
	return types[w->q.cmd][st_random_below(&w->random, n)];
}

/* Adds an attribute of any type and length, perhaps with the flags of nested or swapped ones. */
static void add_garbage(struct worker *w)
{
	static const uint16_t bits[] = { 0, 0, NLA_F_NESTED, NLA_F_NET_BYTEORDER };
	unsigned char data[600];
	size_t most = st_random_one_in(&w->random, 8) ? sizeof(data) : 12, i;
	size_t length = st_random_below(&w->random, most);
	uint16_t type = st_random_below(&w->random, 30) | bits[st_random_below(&w->random, 4)];

	for (i = 0; i < length; i++)
		data[i] = st_random_next(&w->random);
	st_request_add(&w->q, type, data, length);
}

/* Flips bits anywhere, also in the headers of attributes; or cuts the end off. */
static void damage(struct worker *w)
{
	unsigned int i;

	if (!w->q.used)
		return;
	if (st_random_one_in(&w->random, 2)) {
		w->q.used = st_random_below(&w->random, w->q.used);
		return;
	}
	for (i = 1 + st_random_below(&w->random, 4); i; i--)
		w->q.attrs[st_random_below(&w->random, w->q.used)] ^=
			1 << st_random_below(&w->random, 8);
}

/* The id of these commands is a replay's, of others a session's. */
static bool is_of_replay(uint8_t cmd)
{
	switch (cmd) {
	case STAPE_CMD_REPLAY_GET:
	case STAPE_CMD_REPLAY_START:
	case STAPE_CMD_REPLAY_STOP:
	case STAPE_CMD_REPLAY_SET:
	case STAPE_CMD_REPLAY_PAUSE:
	case STAPE_CMD_PLAYER_GET:
	case STAPE_CMD_REPLAY_MONITOR:
		return true;
	}
	return false;
}

static uint16_t some_flags(struct worker *w)
{
	if (st_random_one_in(&w->random, 64))
		return st_random_next(&w->random) & (NLM_F_DUMP | NLM_F_ECHO | 0xf000);
	if (w->q.cmd == STAPE_CMD_TASK_GET || w->q.cmd == STAPE_CMD_PLAYER_GET)
		return NLM_F_DUMP;
	return st_random_one_in(&w->random, 8) ? NLM_F_DUMP : 0;
}

/* Returns a valid speed, or sometimes one near the limits, or an invalid one. */
static uint32_t some_speed(struct st_random *random)
{
	static const uint32_t limits[] = { STAPE_REPLAY_SPEED_MIN, STAPE_REPLAY_SPEED_MAX };

	if (st_random_one_in(random, 4))
		return st_random_odd(random, limits[st_random_below(random, 2)]);
	return STAPE_REPLAY_SPEED_MIN +
	       st_random_below(random, STAPE_REPLAY_SPEED_MAX - STAPE_REPLAY_SPEED_MIN);
}

static void add_replay_attr(struct worker *w)
{
	struct st_random *random = &w->random;

	if (w->q.cmd == STAPE_CMD_REPLAY_START && st_random_one_in(random, 2))
		st_request_add_u64(&w->q, STAPE_A_REPLAY_DELAY, st_random_odd(random, 1000));
	if (w->q.cmd == STAPE_CMD_REPLAY_SET && !st_random_one_in(random, 16))
		st_request_add_u32(&w->q, STAPE_A_REPLAY_SPEED, some_speed(random));
}

static void make_request(struct worker *w, int sock, uint16_t family)
{
	struct st_random *random = &w->random;
	unsigned int n;

	st_request_init(&w->q, st_random_one_in(random, 64) ? st_random_next(random) :
			1 + st_random_below(random, STAPE_CMD_MAX));
	w->q.sock = sock;
	w->q.family = family;
	w->q.flags = some_flags(w);
	if (!st_random_one_in(random, 32) && w->q.cmd != STAPE_CMD_INFO_GET)
		st_request_add_u32(&w->q, 1, some_id(w, is_of_replay(w->q.cmd) ?
						     w->objects->replays : w->objects->sessions));
	add_replay_attr(w);
	n = takes_attrs(w->q.cmd) ? 4 : st_random_one_in(random, 16);
	for (n = st_random_below(random, n + 1); n; n--)
		add_session_attr(w, some_type(w));
	/* Sometimes more attributes than a filter can take. */
	if (st_random_one_in(random, 256))
		while (w->q.used < ATTRS_MAX)
			add_session_attr(w, some_type(w));
	if (st_random_one_in(random, 16))
		add_garbage(w);
	if (st_random_one_in(random, 16))
		damage(w);
}

static int work(struct st_fuzz *fuzz, struct objects *objects, unsigned int number)
{
	struct worker w = {
		.fuzz = fuzz,
		.objects = objects,
		.random = st_random(fuzz, number),
		.number = number,
		.fds = { -1, -1 },
	};
	int sock = st_socket();
	uint16_t family = st_family(sock, NULL);
	unsigned int i;
	long ret;

	if (!family)
		return 1;
	for (i = 0; i < SESSIONS; i++)
		reopen(&w, i);
	while (st_fuzz_more(fuzz)) {
		if (st_random_one_in(&w.random, 50))
			reopen(&w, st_random_below(&w.random, SESSIONS));
		make_request(&w, sock, family);
		ret = st_request(&w.q);
		i = w.q.cmd < NR_KINDS - 1 ? w.q.cmd : NR_KINDS - 1;
		st_fuzz_count(fuzz, i, kinds[i], ret, allowed);
	}
	return 0;
}

int main(void)
{
	struct st_fuzz *fuzz = st_fuzz_begin();
	struct objects *objects = st_share(sizeof(*objects));
	unsigned int i;
	int status;

	for (i = 0; i < WORKERS; i++)
		if (!fork())
			_exit(work(fuzz, objects, i));
	while (wait(&status) > 0)
		if (status)
			fuzz->wrong++;
	return st_fuzz_end(fuzz, "fuzz_netlink", kinds, NR_KINDS);
}
