// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: estimate multiplies what replays of intervals show, without what there is only
 * because a replay begins and ends, and refuses tapes that do not belong together.
 */
#include "printed.h"
#include "tape/part.h"

#define MS	1000000ULL
#define ID	"0123456789abcdef0123456789abcdef"

/* The run is the_tape.  Each test may write @other. */
static struct blob first, second, whole, restored, unnamed, other;

/* In the next tapes there is a child, which waits for the CPU at 1.5 s and then ends. */
static bool with_child;
/* The next recording of the run is paused for 4 ms. */
static bool with_pause;
/* The next tape of a replay is of one that has not reached its end. */
static bool interrupted;
/* The next tape of a replay lacks events. */
static bool lossy;
/* The next tape of a replay is as of before format 2.14. */
static bool old;
/* The cost of a player's end, ns */
static int exit_cost = MS;
/* Its --speed, and a player's CPU time for each ns of its task's */
static double speed = 1, rate = 1;

/* Task 10 runs for half a second, and then sleeps for 4 of each 10 ms.  The half is marked. */
static void make_run(void)
{
	static unsigned char pages[3][STAPE_PAGE_SIZE];
	struct maker m;
	uint64_t time;
	int i;

	maker_begin(&m, pages[1], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_interval(&m, 1500 * MS, 1);
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	for (i = 0; i < 50; i++) {
		time = (1505 + 10 * i) * MS;
		if (with_child && !i) {
			maker_event(&m, 1499 * MS, STAPE_EV_FORK, 11, 0);
			maker_switch(&m, time, 11, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
			maker_switch(&m, time + MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
		} else {
			maker_switch(&m, time, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
		}
		time += 4 * MS;
		maker_wake(&m, time, 10, STAPE_CTX_HARDIRQ, time, 0);
		maker_switch(&m, time + 2000, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
		if (with_pause && i == 4) {
			maker_begin(&m, pages[2], 0, 1, 1554 * MS);
			m.header.curr = 10;
			m.header.curr_kind = STAPE_NEXT_TASK;
			maker_paused(&m, 1550 * MS, 1554 * MS);
		}
	}
	write_second_of(pages, with_pause ? 3 : 2, "riscv64",
			json_tokener_parse("{\"sample\": \"" ID "\"}"));
}

static void write_replay(struct blob *to, unsigned char *page, const char *id, int from, int until)
{
	const struct schedtape_player player = {
		.time = 1 * S, .pid = 110, .task_pid = 10, .task_start = 1 * S,
	};
	struct schedtape_cpu cpu = { .cpu = 0, .lost = lossy };
	struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1 * S, .stop_time = 9 * S, .cpus = &cpu,
		.nr_cpus = 1,
	};
	struct schedtape_task_info task = {
		.time = 1 * S, .start_time = 5, .pid = 110, .tgid = 110, .comm = "shell",
	};
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	struct json_object *meta, *told = interrupted ? NULL : json_object_new_array();
	char part[256];

	snprintf(part, sizeof(part),
		 "{\"replay_part\": {\"tape\": \"%s\", \"from\": %d000000, \"to\": %d000000, "
		 "\"speed\": %f}, \"replay_costs\": {\"exit\": %d, \"leave\": 7, "
		 "\"rate\": %f}}", id, from, until, speed, exit_cost, rate);
	if (to == &restored)
		snprintf(part, sizeof(part), "{\"sample\": \"%s\", \"interval\": 2}", id);
	if (old)
		snprintf(part, sizeof(part), "{\"replay_of\": \"a.tape\"}");
	if (to == &unnamed)
		snprintf(part, sizeof(part), "{\"sample\": \"\"}");
	meta = json_tokener_parse(part);
	cpu.events = ((struct stape_page_header *)page)->events;
	if (tape_writer_create(to->path, meta, NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, &task, 1, &err) ||
	    schedtape_writer_players(writer, &player, 1, &err) ||
	    schedtape_writer_pages(writer, page, 1, &err) ||
	    tape_writer_end(writer, &end, told, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
	json_object_put(told);
}

/*
 * The player is woken at the start, after which it waits for 90 us.  It plays @bursts of 1 or 6 ms,
 * each after a wait for 3 us, and ends.
 */
static void make_replay(struct blob *to, const char *id, int from, int until, int bursts)
{
	static unsigned char page[STAPE_PAGE_SIZE] __attribute__((aligned(8)));
	struct maker m;
	uint64_t time;
	int i;

	maker_begin(&m, page, 0, 0, 1000 * MS);
	maker_wake(&m, 1100 * MS, 110, STAPE_CTX_HARDIRQ, 1100 * MS, 0);
	maker_switch(&m, 1100 * MS + 90000, 110, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	for (i = 0; i < bursts; i++) {
		time = (1105 + 10 * i) * MS;
		maker_switch(&m, time, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
		time += 4 * MS;
		maker_wake(&m, time, 110, STAPE_CTX_HARDIRQ, time, 0);
		maker_switch(&m, time + 3000, 110, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	}
	if (with_child) {
		maker_event(&m, 1599 * MS, STAPE_EV_FORK, 111, 0);
		maker_switch(&m, 1600 * MS, 111, STAPE_NEXT_TASK, STAPE_STATE_DEAD);
	}
	maker_switch(&m, 1600 * MS + with_child, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
	write_replay(to, page, id, from, until);
}

static int estimate(const char *a, const char *b)
{
	return run_on(the_tape.path, cmd_estimate, "--interval=500ms", a, b);
}

TEST(sums)
{
	ok(!estimate(second.path, first.path), "an estimate");
	squeeze_blanks();
	has("\nrun time, s 1.000000 1.000000 0.0 %\n", "a part lasts as long as its interval");
	has("\nCPU time, ms 799.670 799.900 -0.0 %\n", "the player has burnt less for its end");
	has("\nswitches 50 50 0.0 %\n", "the switch at the player's end does not count");
	has("\nwake-up latency, 99 %, us 3.000 2.000 50.0 %\n",
	    "the wake-up at the player's start does not count");
	has("\nA 50.0 0 ", "the first tape is of interval 0");
	has("\nB 50.0 1 ", "the second tape is of interval 1");
}

TEST(costly_end)
{
	exit_cost = 310 * MS;
	make_replay(&other, ID, 1500, 2000, 50);
	exit_cost = MS;
	ok(!estimate(other.path, first.path),
	   "an end that needs 10.1 ms more than the task");
	squeeze_blanks();
	has("\nCPU time, ms 789.570 799.900 -1.3 %\n", "these 10.1 ms are left out");
}

TEST(forked_player)
{
	with_child = true;
	make_run();
	make_replay(&other, ID, 1000, 1500, 0);
	with_child = false;
	ok(!estimate(other.path, second.path),
	   "a child that is runnable at the end of an interval");
	squeeze_blanks();
	has("\nswitches 50 51 -2.0 %\n", "the switch at the end of its player does not count");
	make_run();
}

TEST(pause)
{
	with_pause = true;
	make_run();
	with_pause = false;
	ok(!estimate(second.path, first.path), "a recording with a pause");
	squeeze_blanks();
	has("\nrun time, s 0.996000 0.996000 0.0 %\n", "neither run time has the pause");
	make_run();
}

TEST(whole)
{
	ok(!run_on(the_tape.path, cmd_estimate, "-k1", "--interval=500ms", second.path),
	   "an estimate from one interval");
	squeeze_blanks();
	has("\nCPU time, ms 599.520 799.900 -25.1 %\n", "one interval counts for all");
	ok(!run_more(cmd_estimate, "-k1", first.path, second.path),
	   "an estimate from two intervals of a phase");
	squeeze_blanks();
	has("\nA 50.0 0 ", "the first interval counts for a half");
	has("\nA 50.0 1 ", "the second interval counts for the other half");
	ok(run_on(whole.path, cmd_estimate, "-k1", "--interval=500ms", the_tape.path) ==
		   CMD_FAILURE && strstr(said, "no tape is of phase A:"),
	   "a replay of the whole is of no interval");
}

TEST(losses)
{
	lossy = true;
	make_replay(&other, ID, 1000, 2000, 50);
	lossy = false;
	ok(!run_more(cmd_estimate, "-k1", second.path, other.path) &&
	   strstr(said, "only the run time is compared with it"),
	   "a replay of the whole that lacks events");
	squeeze_blanks();
	has("\nswitches 100 (not known) (not known)\n",
	    "the other quantities of the whole replay are not known");
}

TEST(restored)
{
	ok(!run_on(the_tape.path, cmd_estimate, restored.path, first.path, NULL),
	   "a restored interval of a sample, beside a replay");
	squeeze_blanks();
	has("\nB 50.0 1 ", "its number is that of the mark at which it begins");
	/* All of its tape counts, which is 8 s long. */
	has("\nrun time, s 8.500000 1.000000 750.0 %\n", "it lasts as long as its tape");
	has("\nswitches 51 50 2.0 %\n", "nothing is left out");
	ok(estimate(restored.path, first.path) == CMD_FAILURE &&
	   strstr(said, "it is of the sample's interval 2, which is none of"),
	   "an interval of the sample with --interval");
}

/* Returns true if a tape of the same recording has this identifier. */
static bool has_id(struct blob *b, const char *id)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;
	char found[TAPE_ID_LEN];

	if (schedtape_tape_open(b->path, &tape, &err))
		return false;
	tape_id(tape, found);
	schedtape_tape_close(tape);
	return !strcmp(found, id);
}

TEST(ids)
{
	ok(has_id(&the_tape, ID), "the tape of a sample has its identifier");
	ok(!has_id(&restored, ID), "the tape of a restored interval has another identifier");
	ok(!has_id(&unnamed, ""), "an empty identifier is ignored");
}

TEST(wrong)
{
	ok(estimate(first.path, NULL) == CMD_FAILURE && strstr(said, "no tape is of phase B:"),
	   "no tape of a phase");
	ok(estimate(first.path, first.path) == CMD_FAILURE &&
	   strstr(said, "it replays the same interval as"), "two tapes of one interval");
	ok(estimate(the_tape.path, NULL) == CMD_FAILURE && strstr(said, "it is of a whole run, as"),
	   "two tapes of whole runs");
	ok(run_on(first.path, cmd_estimate, second.path, NULL, NULL) == CMD_FAILURE &&
	   strstr(said, "the tape of the run is missing"), "no tape of the run");
	make_replay(&other, "0", 1000, 1500, 0);
	ok(estimate(other.path, NULL) == CMD_FAILURE && strstr(said, "it replays another tape"),
	   "a replay of another run");
	make_replay(&other, ID, 1000, 1400, 0);
	ok(estimate(other.path, NULL) == CMD_FAILURE && strstr(said, "which is no interval of"),
	   "a replay of no interval");
	ok(run_on(the_tape.path, cmd_estimate, "--time=1,1.5", whole.path, first.path) ==
		   CMD_FAILURE && strstr(said, "which is no interval of"),
	   "a replay of more than --time");
	old = true;
	make_replay(&other, ID, 1000, 1500, 0);
	old = false;
	ok(run_on(other.path, cmd_estimate, first.path, second.path, NULL) == CMD_FAILURE &&
	   strstr(said, "it is of a replay, but does not say which part"),
	   "a replay on a tape before format 2.14");
	interrupted = true;
	make_replay(&other, ID, 1000, 1500, 0);
	interrupted = false;
	ok(estimate(other.path, second.path) == CMD_FAILURE &&
	   strstr(said, "it does not say that the replay reached its end"),
	   "a replay that was interrupted");
	speed = 2;
	make_replay(&other, ID, 1000, 1500, 0);
	ok(estimate(other.path, second.path) == CMD_FAILURE &&
	   strstr(said, "it was replayed at a speed of 2, not 1"), "a replay at another speed");
	speed = 1;
	rate = 0.5;
	make_replay(&other, ID, 1000, 1500, 0);
	ok(estimate(other.path, second.path) == CMD_FAILURE &&
	   strstr(said, "its players had to use 0.5 times the CPU time"),
	   "a replay with other CPU times");
	rate = 1;
}

int main(void)
{
	blob_init(&the_tape);
	blob_init(&first);
	blob_init(&second);
	blob_init(&whole);
	blob_init(&restored);
	blob_init(&unnamed);
	blob_init(&other);
	make_run();
	make_replay(&first, ID, 1000, 1500, 0);
	make_replay(&second, ID, 1500, 2000, 50);
	make_replay(&whole, ID, 1000, 2000, 50);
	make_replay(&restored, ID, 0, 0, 50);
	make_replay(&unnamed, "", 0, 0, 0);
	tap_run();
	return tap_done();
}
