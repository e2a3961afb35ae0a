// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: words that hold two events, a waking and its wakeup, decode to both.
 */
#include "task.h"
#include "time-limit.h"
#include "two-sessions.h"

struct words {
	uint64_t wakes, others, wakeups, events;
};

/* Counts the page's words by their types, without the library. */
static void count_words(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	const uint64_t *word = (const uint64_t *)(page + 1);
	const uint64_t *end = (const uint64_t *)((const char *)data + page->used);
	struct words *words = arg;

	words->events += page->events;
	while (word < end) {
		unsigned int type = *word >> STAPE_TYPE_SHIFT;

		words->wakes += type == STAPE_EV_WAKE;
		words->wakeups += type == STAPE_EV_WAKE || type == STAPE_EV_WAKEUP;
		words->others += type != STAPE_EV_WAKE && type != STAPE_EV_ARG &&
				 type != STAPE_EV_TIME;
		word += 1 + (type >= STAPE_EV_EXEC && type < STAPE_EV_ARG ?
			     *word & STAPE_PAYLOAD_MASK : 0);
	}
}

TEST_F_TIMEOUT(two_sessions, wakes, 60)
{
	static const char * const argv[] = { "pingpong", "1000", NULL };
	struct words words = { 0 };
	pid_t root;
	size_t i;

	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	self->r.each = count_words;
	self->r.arg = &words;
	ASSERT_EQ(0, st_child_program(&self->w[0], 0, argv));
	root = self->w[0].pid;
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	st_child_go(&self->w[0]);
	ASSERT_EQ(0, st_child_wait(&self->w[0]));
	ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
	printf("# %llu of %llu wakeups in one word with their waking\n",
	       (unsigned long long)words.wakes, (unsigned long long)words.wakeups);
	/* The two events share a word only if they are close in time. */
	if (st_exact())
		EXPECT_LT(0, words.wakes);
	EXPECT_EQ(words.events, words.others + 2 * words.wakes);
	EXPECT_EQ(words.events, self->r.n + self->r.idles);
	EXPECT_EQ(words.wakeups, st_count_type(&self->r, STAPE_EV_WAKEUP));
	EXPECT_EQ(0, st_count_type(&self->r, STAPE_EV_WAKE));
	/* Each wakeup comes after its waking, in one word or in two. */
	EXPECT_EQ(NULL, st_check(&self->r, &root, 1));
	for (i = 0; i < self->r.n; i++)
		if (self->r.events[i].type == STAPE_EV_WAKEUP)
			EXPECT_GT(st_cpus(), self->r.events[i].arg);
}

TEST_HARNESS_MAIN
