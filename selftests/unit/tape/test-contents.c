// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what records other than chunks contain: schedulers, players of a replay, and
 * groups of tasks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>
#include <tape/groups.h>

#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct schedtape_error err;

static void same_scheduler(const struct schedtape_scheduler *a,
			   const struct schedtape_scheduler *b, const char *what)
{
	ok(a->time == b->time && a->after == b->after && a->enable_seq == b->enable_seq &&
	   a->nr_rejected == b->nr_rejected && a->switch_all == b->switch_all &&
	   !strcmp(a->state, b->state) && !strcmp(a->ops, b->ops), "%s", what);
}

/* Writes a tape with these schedulers. Returns those that are read: there must be @expected. */
static const struct schedtape_scheduler *
write_schedulers(struct blob *b, const struct schedtape_scheduler *all, size_t n,
		 size_t expected, struct schedtape_tape **tape)
{
	const struct schedtape_scheduler *got;
	struct schedtape_writer *w;
	size_t i;
	int ret;

	ret = tape_writer_create(b->path, sample.meta, NULL, &w, &err);
	for (i = 0; i < n && !ret; i++)
		ret = schedtape_writer_scheduler(w, &all[i], &err);
	if (ret || schedtape_writer_end(w, &sample.end, &err) ||
	    schedtape_writer_close(w, &err) || schedtape_tape_open(b->path, tape, &err))
		printf("Bail out! %s\n", err.text);
	got = schedtape_tape_schedulers(*tape, &n);
	if (!ok(n == expected, "%zu of them", expected))
		printf("# %zu\n", n);
	return got;
}

/* More information about the same scheduler is not a change. */
TEST(same_scheduler)
{
	static const struct schedtape_scheduler early[] = {
		{ .time = 1000, .state = "enabled", .ops = "simple", .enable_seq = 7 },
		{ .time = 2000, .state = "enabled", .ops = "simple", .enable_seq = 8,
		  .switch_all = true },
		{ .time = 3000, .after = 2000, .state = "disabled", .enable_seq = 8 },
	};
	static const struct schedtape_scheduler more[] = {
		{ .time = 1000, .state = "enabled", .ops = "simple", .enable_seq = 7 },
		{ .time = 2000, .after = 1000, .state = "enabled", .ops = "simple",
		  .enable_seq = 8, .nr_rejected = 1 },
		{ .time = 3000, .after = 2000, .state = "enabled", .ops = "simple",
		  .enable_seq = 8, .nr_rejected = 9 },
	};
	struct schedtape_scheduler expected;
	struct schedtape_tape *tape;
	struct blob b;

	blob_init(&b);
	expected = early[1];
	expected.time = 1000;
	same_scheduler(write_schedulers(&b, early, 3, 2, &tape), &expected,
		       "the second one takes the place of the first");
	schedtape_tape_close(tape);
	expected = more[1];
	expected.nr_rejected = 9;
	same_scheduler(write_schedulers(&b, more, 3, 2, &tape) + 1, &expected,
		       "the last number of rejected tasks counts");
	schedtape_tape_close(tape);
	close(b.fd);
}

/* Schedulers are read in the order of time, whatever their order in the file. */
TEST(schedulers)
{
	static const struct schedtape_scheduler all[] = {
		{ .time = 990, .state = "disabled" },
		{ .time = 2000, .after = 1000, .state = "enabled", .ops = "sim\"ple",
		  .enable_seq = 7, .nr_rejected = 3, .switch_all = true },
		{ .time = 3000, .after = 2000, .state = "later kernels", .enable_seq = 7 },
	};
	const struct schedtape_scheduler *got;
	struct schedtape_writer *w;
	struct schedtape_tape *tape;
	struct blob b;
	size_t n, i;

	blob_init(&b);
	ok(!tape_writer_create(b.path, sample.meta, NULL, &w, &err) &&
	   !schedtape_writer_scheduler(w, &all[0], &err) &&
	   !schedtape_writer_scheduler(w, &all[2], &err) &&
	   !schedtape_writer_scheduler(w, &all[1], &err) &&
	   !schedtape_writer_end(w, &sample.end, &err) &&
	   !schedtape_writer_close(w, &err), "schedulers are written");
	if (!ok(!schedtape_tape_open(b.path, &tape, &err) && !schedtape_tape_damage(tape),
		"and read"))
		return;
	got = schedtape_tape_schedulers(tape, &n);
	ok(n == 3, "all of them");
	for (i = 0; i < n && i < 3; i++)
		same_scheduler(&got[i], &all[i], all[i].state);
	schedtape_tape_close(tape);
	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	if (ok(!schedtape_tape_open(b.path, &tape, &err), "a tape without"))
		schedtape_tape_schedulers(tape, &n);
	ok(!n, "has none");
	schedtape_tape_close(tape);
	close(b.fd);
}

/* Makes each entry of a PLAYERS record longer, as a later version may. */
static unsigned char *make_players_longer(unsigned char *data, size_t *size)
{
	unsigned char *at = find_record(data, *size, 7, 0);
	size_t i, n = (record_size(at) - 32) / 32;

	data = insert_zeros(data, size, at - data + record_size(at), 8 * n);
	at = find_record(data, *size, 7, 0);
	for (i = n; i-- > 0; ) {
		memmove(at + 32 + i * 40, at + 32 + i * 32, 32);
		memset(at + 32 + i * 40 + 32, 0xff, 8);
		put32(at + 32 + i * 40, 40);
	}
	put32(at + 12, 40 * n);
	put32(at + 16, 40 * n);
	seal_record(at);
	return data;
}

static void has_players(struct schedtape_tape *tape, const struct schedtape_player *all,
			size_t expected, const char *what)
{
	const struct schedtape_player *got = NULL;
	size_t n = 0, i, same = 0;

	if (tape)
		got = schedtape_tape_players(tape, &n);
	for (i = 0; i < n && i < expected; i++)
		same += got[i].time == all[i].time && got[i].task_start == all[i].task_start &&
			got[i].pid == all[i].pid && got[i].task_pid == all[i].task_pid;
	ok(tape && !schedtape_tape_damage(tape) && n == expected && same == n, "%s", what);
	schedtape_tape_close(tape);
}

static void write_players(struct blob *b, const struct schedtape_player *players, size_t n)
{
	struct schedtape_writer *w;

	if (tape_writer_create(b->path, sample.meta, NULL, &w, &err) ||
	    schedtape_writer_players(w, players, n, &err) ||
	    schedtape_writer_end(w, &sample.end, &err) || schedtape_writer_close(w, &err))
		printf("Bail out! %s\n", err.text);
}

/* More players than one record has. */
TEST(players)
{
	static struct schedtape_player all[1500];
	const struct schedtape_copy_options options = { .size = sizeof(options), .recover = true };
	struct schedtape_tape *tape = NULL;
	struct blob b, copy;
	unsigned char *data;
	uint64_t bytes;
	size_t size, i;

	for (i = 0; i < 1500; i++)
		all[i] = (struct schedtape_player){ 1000 + i, UINT64_MAX - i, 100 + i, 7 * i };
	blob_init(&b);
	blob_init(&copy);
	write_players(&b, all, 1500);
	schedtape_tape_open(b.path, &tape, &err);
	has_players(tape, all, 1500, "players are written and read");
	if (!schedtape_tape_open(b.path, &tape, &err) &&
	    !schedtape_tape_copy(tape, copy.path, &options, &bytes, &err)) {
		schedtape_tape_close(tape);
		schedtape_tape_open(copy.path, &tape, &err);
	}
	has_players(tape, all, 1500, "a copy has them, too");
	write_players(&b, all, 3);
	data = blob_get(&b, &size);
	data = make_players_longer(data, &size);
	has_players(blob_open(&b, data, size, &err), all, 3, "entries of a later version");
	free(data);
	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	schedtape_tape_open(b.path, &tape, &err);
	has_players(tape, NULL, 0, "a tape of no replay has none");
	close(b.fd);
	close(copy.fd);
}

static bool has_group(struct schedtape_tape *tape, uint32_t pid, uint64_t time, uint32_t autogroup,
		      int32_t nice)
{
	const struct schedtape_group *group = tape_group_find(tape, pid, 5, time);

	return group && group->autogroup == autogroup && group->nice == nice && group->core == 3;
}

/* Returns a tape with these groups, or NULL after a message. */
static struct schedtape_tape *groups_tape(struct blob *b, const struct schedtape_group *groups,
					  size_t n)
{
	struct schedtape_tape *tape = NULL;
	struct schedtape_writer *w;

	blob_init(b);
	if (tape_writer_create(b->path, sample.meta, NULL, &w, &err) ||
	    tape_writer_groups(w, groups, n, &err) ||
	    schedtape_writer_end(w, &sample.end, &err) || schedtape_writer_close(w, &err) ||
	    schedtape_tape_open(b->path, &tape, &err))
		printf("Bail out! %s\n", err.text);
	return tape;
}

/* More entries than one record has, two of them of one task; one with an impossible nice value. */
TEST(groups)
{
	const uint64_t later = 2 * TAPE_GROUPS_SLACK + 10;
	static struct schedtape_group all[1500];
	struct schedtape_tape *tape;
	struct blob b;
	size_t i;

	for (i = 0; i < 1500; i++)
		all[i] = (struct schedtape_group){ later - i % 2, 5, 2000 - i, i, -20, 3 };
	all[1].pid = all[0].pid;
	all[1].time = 0;
	all[7].nice = 20;
	tape = groups_tape(&b, all, 1500);
	if (!tape)
		return;
	ok(!schedtape_tape_damage(tape) && tape_has_groups(tape) &&
	   has_group(tape, 501, later - 1, 1499, -20), "groups are written and read");
	ok(has_group(tape, 2000, later, 0, -20) && has_group(tape, 2000, 0, 1, -20),
	   "a task has the entry that was listed at a time");
	ok(has_group(tape, 2000, later - 9, 0, -20) && has_group(tape, 2000, 9, 1, -20) &&
	   !tape_group_find(tape, 2000, 5, later / 2), "or about then");
	ok(has_group(tape, 1993, later - 1, 7, SCHEDTAPE_NICE_UNKNOWN),
	   "a nice value that is not known");
	ok(!tape_group_find(tape, 2000, 6, later) && !tape_group_find(tape, 3, 5, later),
	   "no other task has one");
	schedtape_tape_close(tape);
	close(b.fd);
}

/* @group: with a number that no PID can have */
static void impossible_group(struct schedtape_group group, const char *what)
{
	struct schedtape_tape *tape;
	struct blob b;

	tape = groups_tape(&b, &group, 1);
	if (!tape)
		return;
	ok(schedtape_tape_damage(tape) && !tape_has_groups(tape), "%s", what);
	schedtape_tape_close(tape);
	close(b.fd);
}

int main(void)
{
	sample_make(&sample);
	tap_run();
	impossible_group((struct schedtape_group){ .pid = STAPE_PID_MASK + 1 },
			 "a group with an impossible PID");
	impossible_group((struct schedtape_group){ .pid = 1, .autogroup = STAPE_PID_MASK + 1 },
			 "an impossible autogroup");
	json_object_put(sample.meta);
	return tap_done();
}
