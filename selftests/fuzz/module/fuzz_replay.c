// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: random programs for players: numbers, steps, edges and times right and wrong, by
 * several players of one replay at once. Meanwhile the replay is started, paused, sped up,
 * stopped and left; players are stopped, continued, interrupted and killed. No player may hang,
 * and no result may be one that no call can have.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <schedtape/device.h>

#include "fuzz.h"
#include "request.h"

#define ROUNDS_AT_ONCE	2
#define CHILDREN	4
#define PLAYERS		8
#define EDGES		16
#define CALLS		200	/* of a player */

enum kind { SETUP, JOIN, STEP, HOLD, GARBAGE, MAP, CONTROL, REWIND };

static const char *const kinds[] = {
	"setup", "join", "step", "hold", "other ioctls", "mmap", "control", "rewind",
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A replay, and its players. */
struct round {
	struct st_fuzz *fuzz;
	struct st_random random;
	struct stape_replay_setup setup;
	uint32_t edges[EDGES];
	uint32_t wakers[EDGES];
	int session;
	int sock;
	uint16_t family;
	pid_t children[CHILDREN];
};

static void on_signal(int signal)
{
	(void)signal;
}

static void *some_memory(struct st_random *random, void *right)
{
	if (!st_random_one_in(random, 32))
		return right;
	return (void *)(uintptr_t)st_random_odd(random, 4096);
}

/* -- a player ----------------------------------------------------------------- */

/* Returns 0 or -errno. */
static long try_join(struct round *r, uint32_t *player, uint64_t *index)
{
	static const int allowed[] = { EINVAL, EBUSY, ECANCELED, EFAULT, ENOMEM, EINTR, 0 };
	uint32_t number = st_random_one_in(&r->random, 8) ? st_random_odd(&r->random, 4) :
			  st_random_below(&r->random, PLAYERS);
	struct stape_join join = { number, st_random_below(&r->random, 3) };
	void *arg = some_memory(&r->random, &join);
	long ret = ioctl(r->setup.fd, join.turn ? STAPE_IOC_JOIN_TURN : STAPE_IOC_JOIN, arg) ?
		   -errno : 0;

	if (!ret) {
		*player = number;
		*index = 0;
	}
	st_fuzz_count(r->fuzz, JOIN, "join", ret, allowed);
	return ret;
}

/* Returns an edge to the player, if there is any. */
static uint32_t some_edge(struct round *r, uint32_t player)
{
	uint32_t edge = st_random_below(&r->random, EDGES), i;

	for (i = 0; i < EDGES && r->edges[edge] != player; i++)
		edge = (edge + 1) % EDGES;
	return edge;
}

static uint64_t some_value(struct round *r, uint32_t player, uint32_t wait)
{
	if (st_random_one_in(&r->random, 16))
		return st_random_odd(&r->random, 1000);
	if (wait == STAPE_WAIT_EDGE)
		return some_edge(r, player);
	return wait == STAPE_WAIT_UNTIL || wait == STAPE_WAIT_FOR ?
	       st_random_below(&r->random, 2000000) : 0;
}

/* Returns 0 or -errno. */
static long try_step(struct round *r, uint32_t player, uint64_t *index)
{
	static const int allowed[] = { EINVAL, ESRCH, E2BIG, ECANCELED, EFAULT, EINTR, 0 };
	static const uint8_t waits[] = {
		STAPE_WAIT_NONE, STAPE_WAIT_NONE, STAPE_WAIT_NONE, STAPE_WAIT_NONE,
		STAPE_WAIT_UNTIL, STAPE_WAIT_FOR, STAPE_WAIT_EDGE, 5,
	};
	struct st_random *random = &r->random;
	uint32_t wakes[STAPE_STEP_MAX_WAKES + STAPE_STEP_MAX_NEXT + 4], i;
	struct stape_step step = {
		.player = st_random_one_in(random, 32) ? st_random_odd(random, 1) : player,
		.index = st_random_one_in(random, 32) ? st_random_odd(random, *index) : *index,
		.nr_wakes = st_random_one_in(random, 32) ? st_random_odd(random, 64) :
			    st_random_below(random, 4),
		.wakes = (uintptr_t)some_memory(random, wakes),
		.wait = waits[st_random_below(random, sizeof(waits))],
		.flags = st_random_one_in(random, 64) ? st_random_next(random) :
			 st_random_one_in(random, 4),
		.slack = st_random_one_in(random, 8) ? st_random_odd(random, 1000000) : 0,
		.nr_next = st_random_one_in(random, 32) ? st_random_odd(random, 4) :
			   st_random_below(random, 4),
		.reserved = st_random_one_in(random, 64),
	};
	long ret;

	for (i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++)
		wakes[i] = st_random_one_in(random, 64) ? st_random_odd(random, EDGES) :
			   st_random_below(random, EDGES);
	if (st_random_one_in(random, 40))
		step.wait = st_random_one_in(random, 2) ? STAPE_WAIT_DONE : st_random_next(random);
	step.value = some_value(r, player, step.wait);
	ret = ioctl(r->setup.fd, STAPE_IOC_STEP, some_memory(random, &step)) ? -errno : 0;
	if (!ret)
		*index = step.index + 1;
	st_fuzz_count(r->fuzz, STEP, "step", ret, allowed);
	return ret;
}

/* STAPE_IOC_HOLD returns at once if the replay is not paused. */
static void try_hold(struct round *r, uint32_t player)
{
	static const int allowed[] = { ESRCH, ECANCELED, EFAULT, EINTR, 0 };
	uint32_t number = st_random_one_in(&r->random, 8) ? st_random_odd(&r->random, 4) : player;
	void *arg = some_memory(&r->random, &number);

	st_fuzz_count(r->fuzz, HOLD, "hold", ioctl(r->setup.fd, STAPE_IOC_HOLD, arg) ? -errno : 0,
		      allowed);
}

/* Any number and size, including valid ones: then it is a call of player 0. */
static void try_garbage(struct round *r)
{
	static const int allowed[] = {
		ENOTTY, EINVAL, EFAULT, EBUSY, ECANCELED, ENOMEM, ESRCH, E2BIG, EINTR, 0
	};
	static const unsigned int sizes[] = { sizeof(uint32_t), sizeof(struct stape_step) };
	unsigned int size = st_random_one_in(&r->random, 2) ? st_random_below(&r->random, 64) :
			    sizes[st_random_below(&r->random, 2)];
	unsigned long command = _IOC(st_random_below(&r->random, 4), STAPE_IOC_MAGIC,
				     st_random_below(&r->random, 0x30), size);
	uint64_t arg[8] = { 0 };

	st_fuzz_count(r->fuzz, GARBAGE, "ioctl",
		      ioctl(r->setup.fd, command, some_memory(&r->random, arg)) ? -errno : 0,
		      allowed);
}

static void try_map(struct round *r)
{
	static const int allowed[] = { EINVAL, EPERM, EACCES, ENOMEM, EOVERFLOW, 0 };
	size_t length = st_random_one_in(&r->random, 2) ? 4096 : st_random_odd(&r->random, 4096);
	off_t offset = st_random_one_in(&r->random, 2) ? 0 : st_random_odd(&r->random, 4096);
	void *at = mmap(NULL, length, st_random_below(&r->random, 8), MAP_SHARED, r->setup.fd,
			offset);

	st_fuzz_count(r->fuzz, MAP, "mmap", at == MAP_FAILED ? -errno : 0, allowed);
	if (at == MAP_FAILED)
		return;
	/* An existing page can be read; a missing one is a SIGBUS, which another test covers. */
	if (!offset && length >= 8 && !mprotect(at, length, PROT_READ))
		(void)*(volatile uint64_t *)at;
	munmap(at, length);
}

/* The replay's speed follows the players' clocks in the mapping, where players read it. */
static bool is_paused(const struct round *r, const volatile uint64_t *clocks)
{
	return clocks != MAP_FAILED && !clocks[r->setup.nr_players];
}

/* The player dies with its parent, and when the replay ends. */
static void play(struct round *r, unsigned int number)
{
	const volatile uint64_t *clocks = mmap(NULL, (r->setup.nr_players + 1ull) * 8, PROT_READ,
					       MAP_SHARED, r->setup.fd, 0);
	uint32_t player = 0;
	unsigned int calls;
	uint64_t index = 0;
	long ret = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Far from the other players' states, so that they do not repeat its numbers later. */
	r->random.state = st_random_next(&r->random) + number;
	close(r->session);
	for (calls = 0; calls < CALLS && st_fuzz_more(r->fuzz); calls++) {
		unsigned int what = st_random_below(&r->random, 64);

		/* A player that has ended its program joins as another one. */
		if (!calls || what < 2 || (ret == -ESRCH && what < 16))
			ret = try_join(r, &player, &index);
		else if (what < 4)
			try_garbage(r);
		else if (what < 6)
			try_map(r);
		else if (what < 10 || (what < 40 && is_paused(r, clocks)))
			try_hold(r, player);
		else
			ret = try_step(r, player, &index);
	}
}

/* -- calls on players ------------------------------------------------------------ */

/* Numbers of players, most of them valid. */
static void fill_players(struct round *r, uint32_t *players)
{
	unsigned int i;

	for (i = 0; i < EDGES; i++)
		players[i] = st_random_one_in(&r->random, 200) ? st_random_odd(&r->random, 4) :
			     st_random_below(&r->random, PLAYERS);
}

static bool set_up(struct round *r)
{
	static const int allowed[] = { EINVAL, EFAULT, ENOMEM, 0 };
	long ret;

	r->session = open("/dev/schedtape", O_RDWR | O_CLOEXEC);
	if (r->session < 0)
		return false;
	r->setup = (struct stape_replay_setup){
		.nr_players = st_random_one_in(&r->random, 16) ? st_random_odd(&r->random, 4) :
			      PLAYERS,
		.nr_edges = st_random_one_in(&r->random, 64) ? st_random_odd(&r->random, 4) : EDGES,
		.edges = (uintptr_t)some_memory(&r->random, r->edges),
		.flags = st_random_one_in(&r->random, 2) ? STAPE_REPLAY_ROUNDS : 0,
		.turns = st_random_one_in(&r->random, 2) ? st_random_below(&r->random, 64) : 0,
	};
	fill_players(r, r->edges);
	fill_players(r, r->wakers);
	if (st_random_below(&r->random, 4))
		r->setup.wakers = (uintptr_t)some_memory(&r->random, r->wakers);
	ret = ioctl(r->session, STAPE_IOC_REPLAY, &r->setup) ? -errno : 0;
	st_fuzz_count(r->fuzz, SETUP, "setup", ret, allowed);
	if (ret)
		close(r->session);
	return !ret;
}

static uint32_t some_speed(struct st_random *random)
{
	if (st_random_one_in(random, 8))
		return st_random_odd(random, STAPE_REPLAY_SPEED_MIN);
	return STAPE_REPLAY_SPEED_ONE / 8 << st_random_below(random, 7);
}

static void rewind_replay(struct round *r)
{
	static const int allowed[] = { EINVAL, EBUSY, ECANCELED, 0 };

	st_fuzz_count(r->fuzz, REWIND, "rewind", ioctl(r->session, STAPE_IOC_REWIND) ? -errno : 0,
		      allowed);
}

static void control(struct round *r)
{
	static const int allowed[] = { EINVAL, EALREADY, ENOENT, ERANGE, 0 };
	static const uint8_t commands[] = {
		STAPE_CMD_REPLAY_START, STAPE_CMD_REPLAY_START, STAPE_CMD_REPLAY_START,
		STAPE_CMD_REPLAY_PAUSE, STAPE_CMD_REPLAY_PAUSE, STAPE_CMD_REPLAY_SET,
		STAPE_CMD_REPLAY_GET, STAPE_CMD_PLAYER_GET, STAPE_CMD_REPLAY_STOP,
	};
	struct st_request q;

	st_request_init(&q, commands[st_random_below(&r->random, sizeof(commands))]);
	q.sock = r->sock;
	q.family = r->family;
	/* This attribute has the same number as STAPE_A_PLAYER_REPLAY. */
	st_request_add_u32(&q, STAPE_A_REPLAY_ID, r->setup.id);
	if (q.cmd == STAPE_CMD_PLAYER_GET)
		q.flags = NLM_F_DUMP;
	if (q.cmd == STAPE_CMD_REPLAY_START)
		st_request_add_u64(&q, STAPE_A_REPLAY_DELAY,
				   st_random_below(&r->random, 1000000));
	if (q.cmd == STAPE_CMD_REPLAY_SET)
		st_request_add_u32(&q, STAPE_A_REPLAY_SPEED, some_speed(&r->random));
	st_fuzz_count(r->fuzz, CONTROL, "control", st_request(&q), allowed);
}

static void disturb(struct round *r)
{
	static const int signals[] = {
		SIGUSR1, SIGUSR1, SIGUSR1, SIGSTOP, SIGCONT, SIGCONT, SIGKILL,
	};
	pid_t child = r->children[st_random_below(&r->random, CHILDREN)];

	kill(child, signals[st_random_below(&r->random, st_random_one_in(&r->random, 8) ? 7 : 6)]);
}

/* A player that neither ends nor can be killed hangs the test. */
static void reap(struct round *r)
{
	unsigned int i;
	int status;

	for (i = 0; i < CHILDREN; i++)
		kill(r->children[i], SIGKILL);
	for (i = 0; i < CHILDREN; i++) {
		if (waitpid(r->children[i], &status, 0) != r->children[i] ||
		    (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)) {
			printf("# a player ended with status 0x%x\n", status);
			r->fuzz->wrong++;
		}
	}
}

static void run_round(struct round *r)
{
	unsigned int i;

	for (i = 0; i < CHILDREN; i++) {
		r->children[i] = fork();
		if (!r->children[i]) {
			play(r, i);
			_exit(0);
		}
	}
	if (st_random_one_in(&r->random, 2)) {
		close(r->setup.fd);
		r->setup.fd = -1;
	}
	for (i = st_random_below(&r->random, 40); i; i--) {
		usleep(st_random_below(&r->random, 2000));
		if (st_random_one_in(&r->random, 3))
			disturb(r);
		else if (st_random_one_in(&r->random, 8))
			rewind_replay(r);
		else
			control(r);
	}
	/* The session goes first, or its players do. */
	if (st_random_one_in(&r->random, 2)) {
		close(r->session);
		r->session = -1;
	}
	reap(r);
	close(r->session);
	close(r->setup.fd);
}

static int work(struct st_fuzz *fuzz, unsigned int number)
{
	struct round r = { .fuzz = fuzz, .random = st_random(fuzz, number), .sock = st_socket() };
	struct sigaction action = { .sa_handler = on_signal };

	r.family = st_family(r.sock, NULL);
	if (!r.family)
		return 1;
	sigaction(SIGUSR1, &action, NULL);
	while (st_fuzz_more(fuzz))
		if (set_up(&r))
			run_round(&r);
	return 0;
}

int main(void)
{
	struct st_fuzz *fuzz = st_fuzz_begin();
	unsigned int i;
	int status;

	for (i = 0; i < ROUNDS_AT_ONCE; i++)
		if (!fork())
			_exit(work(fuzz, i));
	while (wait(&status) > 0)
		if (status)
			fuzz->wrong++;
	return st_fuzz_end(fuzz, "fuzz_replay", kinds, NR_KINDS);
}
