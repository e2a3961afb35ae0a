// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: arrays that become files when they are large, or stay in memory if no file can
 * be made.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/store.h>

#include "tap.h"

#define MANY	500000

static bool is_right(const struct schedtape_store *store, uint64_t zeros)
{
	const uint64_t *numbers = store->memory;
	uint64_t i;

	for (i = 0; i < store->nr; i++)
		if (numbers[i] != (i < store->nr - zeros ? i + 1 : 0))
			return false;
	return true;
}

/* Adds elements one by one, each with its own number. */
static bool fill(struct schedtape_store *store, uint64_t n)
{
	while (store->nr < n) {
		if (schedtape_store_add(store, sizeof(uint64_t), 1))
			return false;
		((uint64_t *)store->memory)[store->nr - 1] = store->nr;
	}
	return true;
}

/* A write would kill the process, so a child tries it. */
static bool can_write(const struct schedtape_store *store)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile uint64_t *)store->memory = 1;
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

TEST(small)
{
	struct schedtape_store store = { 0 };

	ok(fill(&store, 1000) && !store.in_file && is_right(&store, 0), "a small one is memory");
	schedtape_store_let_go(&store);
	ok(is_right(&store, 0), "which is not let go");
	ok(!schedtape_store_add(&store, sizeof(uint64_t), 5) && store.nr == 1005 &&
	   is_right(&store, 5), "new entries are 0");
	schedtape_store_close(&store);
	ok(is_right(&store, 5) && !can_write(&store), "closed, it is read only");
	schedtape_store_free(&store);
	ok(!store.memory && !store.nr, "freed, it is an empty one");
	schedtape_store_free(&store);
}

TEST(large)
{
	struct schedtape_store store = { 0 };

	ok(fill(&store, MANY) && store.in_file && is_right(&store, 0), "a large one is a file");
	ok(store.bytes - store.nr * sizeof(uint64_t) <= 1 << 20, "hardly larger than it has to be");
	schedtape_store_let_go(&store);
	ok(is_right(&store, 0), "that has all of it");
	ok(!schedtape_store_add(&store, sizeof(uint64_t), MANY) && store.nr == 2 * MANY &&
	   is_right(&store, MANY), "many at once, and they are 0");
	schedtape_store_close(&store);
	ok(is_right(&store, MANY) && !can_write(&store), "closed, it is read only");
	schedtape_store_free(&store);
}

/* No file can be made if no descriptor is available. */
TEST(no_file)
{
	struct rlimit before, none;
	struct schedtape_store store = { 0 };

	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	ok(fill(&store, MANY) && !store.in_file && is_right(&store, 0), "without a file, memory");
	setrlimit(RLIMIT_NOFILE, &before);
	ok(fill(&store, 2 * MANY) && !store.in_file && is_right(&store, 0), "and it stays that");
	schedtape_store_close(&store);
	schedtape_store_free(&store);
}

TEST_MAIN
