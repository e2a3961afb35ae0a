// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: export: switches, states, wakers and arrows; what a tape does not show gets
 * no state; selections; files.
 */
#include "delays-tape.h"

#include "export/perfetto.pb-c.h"

static char out[64];

/* -- traces as text -------------------------------------------------------- */

static Pf__Trace *trace;

static int by_time(const void *a, const void *b)
{
	const Pf__FtraceEvent *x = *(Pf__FtraceEvent * const *)a;
	const Pf__FtraceEvent *y = *(Pf__FtraceEvent * const *)b;

	if (x->timestamp != y->timestamp)
		return x->timestamp < y->timestamp ? -1 : 1;
	return 0;
}

static char state_char(int64_t state)
{
	static const char chars[] = "RSDTtXZPI";
	unsigned int i;

	for (i = 0; i < sizeof(chars) - 2; i++)
		if (state == 1 << i)
			return chars[i + 1];
	return state ? '?' : 'R';
}

static size_t print_event(char *to, size_t room, const Pf__FtraceEvent *ev, uint32_t cpu)
{
	const Pf__SchedSwitchFtraceEvent *change = ev->sched_switch;
	int n = snprintf(to, room, "%u ms [%u] ", (unsigned int)(ev->timestamp / MS), cpu);

	to += n;
	room -= n;
	if (change)
		return n + snprintf(to, room, "%s:%d %c %s:%d\n", change->prev_comm,
				    change->prev_pid, state_char(change->prev_state),
				    change->next_comm, change->next_pid);
	if (ev->sched_waking)
		return n + snprintf(to, room, "wakes %s:%d by %u flags %u\n",
				    ev->sched_waking->comm, ev->sched_waking->pid, ev->pid,
				    ev->common_flags);
	if (ev->task_newtask)
		return n + snprintf(to, room, "fork %s:%d of %u flags %#llx\n",
				    ev->task_newtask->comm, ev->task_newtask->pid, ev->pid,
				    (unsigned long long)ev->task_newtask->clone_flags);
	if (ev->task_rename)
		return n + snprintf(to, room, "rename %d %s\n", ev->task_rename->pid,
				    ev->task_rename->newcomm);
	return n + snprintf(to, room, "end %d\n", ev->sched_process_free->pid);
}

/* Puts the events of each CPU, by time, into @text. */
static void print_events(void)
{
	static Pf__FtraceEvent *events[1024];
	size_t i, k, n, at = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < 8; cpu++) {
		for (i = n = 0; i < trace->n_packet; i++) {
			const Pf__FtraceEventBundle *bundle = trace->packet[i]->ftrace_events;

			for (k = 0; bundle && bundle->cpu == cpu && k < bundle->n_event; k++)
				events[n++] = bundle->event[k];
		}
		for (i = 1; i < n; i++)
			ok(by_time(&events[i - 1], &events[i]) <= 0, "events come by time");
		for (i = 0; i < n; i++)
			at += print_event(text + at, sizeof(text) - at, events[i], cpu);
	}
}

/* Exports a tape.  @a, @b: options; NULL: none.  Returns the exit status. */
static int export(const char *a, const char *b)
{
	char *argv[9] = { (char *)"export", (char *)"perfetto", (char *)the_tape.path, (char *)"-q",
			 (char *)"-o", out, (char *)a, (char *)b, NULL };
	static unsigned char data[1 << 20];
	size_t n = 0;
	int status;
	FILE *from;

	if (trace)
		pf__trace__free_unpacked(trace, NULL);
	trace = NULL;
	unlink(out);
	begin_capture();
	status = cmd_export(6 + !!a + !!b, argv);
	end_capture();
	from = fopen(out, "r");
	if (from) {
		n = fread(data, 1, sizeof(data), from);
		fclose(from);
		trace = pf__trace__unpack(NULL, n, data);
	}
	if (status)
		return status;
	if (ok(trace, "the trace can be unpacked"))
		print_events();
	return status;
}

/* Finds the event of a track with this type and, unless it is NULL, name. */
static const Pf__TracePacket *find_event(Pf__TrackEvent__Type type, const char *name)
{
	size_t i;

	for (i = 0; trace && i < trace->n_packet; i++) {
		const Pf__TrackEvent *ev = trace->packet[i]->track_event;

		if (ev && ev->type == type && (!name || (ev->name && !strcmp(ev->name, name))))
			return trace->packet[i];
	}
	return NULL;
}

static const Pf__TrackDescriptor *find_track(uint64_t uuid)
{
	size_t i;

	for (i = 0; trace && i < trace->n_packet; i++)
		if (trace->packet[i]->track_descriptor &&
		    trace->packet[i]->track_descriptor->uuid == uuid)
			return trace->packet[i]->track_descriptor;
	return NULL;
}

static bool is_at(const Pf__TracePacket *packet, uint64_t time, int32_t tid)
{
	const Pf__TrackDescriptor *track;

	track = packet ? find_track(packet->track_event->track_uuid) : NULL;
	return track && track->thread && track->thread->tid == tid && packet->timestamp == time;
}

static void exports(const char *option, const char *expected, const char *what)
{
	if (export(option, NULL))
		printf("# it fails: %s\n", said);
	has(expected, what);
}

/* -- tests ----------------------------------------------------------------- */

TEST(scheduling)
{
	make_delays();
	exports(NULL,
		"1000 ms [0] unknown/0:4194305 R swapper/0:0\n"
		"1000 ms [0] wakes shell:10 by 0 flags 8\n"
		"1001 ms [0] swapper/0:0 R shell:10\n"
		"1010 ms [0] fork shell:20 of 10 flags 0x10000\n"
		"1100 ms [0] shell:10 R shell:20\n"
		"1150 ms [0] shell:20 S shell:10\n"
		"1200 ms [0] shell:10 S other/0:4194306\n"
		"1000 ms [3] unknown/3:4194311 R swapper/3:0\n"
		"1300 ms [3] wakes shell:10 by 0 flags 8\n"
		"1302 ms [3] swapper/3:0 R shell:10\n"
		"1400 ms [3] shell:10 S other/3:4194312\n", "switches, wakings, a fork");
	exports("--tid=20",
		"1010 ms [0] fork shell:20 of 4194306 flags 0x10000\n"
		"1100 ms [0] other/0:4194306 R shell:20\n"
		"1150 ms [0] shell:20 S other/0:4194306\n", "one task");
	has_not("shell:10", "no other task");
	exports("--time=1.05,1.12",
		"1050 ms [0] unknown/0:4194305 R shell:10\n"
		"1100 ms [0] shell:10 R shell:20\n"
		"1120 ms [0] shell:20 ? unknown/0:4194305\n"
		"1120 ms [0] unknown/0:4194305 R shell:10\n"
		"1120 ms [0] shell:10 ? unknown/0:4194305\n", "a part of the time");
	has_not("1200 ms", "nothing behind it");
	exports("--cpu=3",
		"1302 ms [3] swapper/3:0 R shell:10\n"
		"1400 ms [3] shell:10 S other/3:4194312\n", "one CPU");
	has_not("1200 ms [0]", "no other CPU");
	ok(export("--comm=none", NULL) == CMD_FAILURE && access(out, F_OK) &&
	   strstr(said, "matches --comm; it has the tasks shell:10"), "nothing matches: no file");
}

/*
 * Events are lost from 1.1 to 1.2 s, while task 20 sleeps and task 10 runs.  Then task 30 runs and
 * ends; its name has an escape.  Task 10 runs after it.
 */
static void make_loss(void)
{
	static unsigned char pages[2][STAPE_PAGE_SIZE];
	struct maker m;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1010ms R -> 20; 1020ms D -> 10");
	maker_begin(&m, pages[1], 0, 1, 1200 * MS);
	maker_lost(&m, 5, 1100 * MS, 1200 * MS);
	m.header.curr = 30;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_finish(&m);
	maker_rename(&m, 1250 * MS, 30, "\033[2J");
	maker_story(&m, "1300ms exit 30; 1310ms X -> 10; 1320ms woken 20; 1330ms R -> 20");
	write_second(pages, 2);
}

TEST(loss)
{
	const Pf__TracePacket *gap;
	const Pf__TrackDescriptor *track;

	make_loss();
	exports(NULL,
		"1010 ms [0] swapper/0:0 R :20\n"
		"1020 ms [0] :20 D shell:10\n"
		"1100 ms [0] shell:10 ? unknown/0:4194305\n"
		"1100 ms [0] unknown/0:4194305 R :20\n"
		"1100 ms [0] :20 ? unknown/0:4194305\n"
		"1200 ms [0] unknown/0:4194305 R ",
		"in a loss no task has a state");
	has("1250 ms [0] rename 30 ?[2J\n", "a name is made safe");
	has("1310 ms [0] ?[2J:30 X shell:10\n1310 ms [0] end 30\n", "it ends after it has left");
	has("1320 ms [0] wakes :20 by 4194305 flags 0\n", "a lost waking");
	has("1330 ms [0] shell:10 R :20\n2000 ms [0] :20 ? unknown/0:4194305\n",
	    "at the end of the tape no state is known");
	gap = find_event(PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, "5 events lost");
	track = gap ? find_track(gap->track_event->track_uuid) : NULL;
	ok(gap && gap->timestamp == 1100 * MS && track &&
	   !strcmp(track->name, "events lost: CPU 0"), "a loss is on a track of its own");
	export("--time=1.3,", NULL);
	ok(!find_event(PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, "5 events lost"),
	   "unless it is in another part of the time");
}

/* CPU 0 loses events from 1.1 to 1.2, while 20 leaves CPU 1. */
static void make_far_loss(void)
{
	static unsigned char pages[2][STAPE_PAGE_SIZE];
	struct maker m;

	maker_begin(&m, pages[0], 0, 0, 1200 * MS);
	maker_lost(&m, 5, 1100 * MS, 1200 * MS);
	maker_switch(&m, 1300 * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_begin(&m, pages[1], 1, 0, 1000 * MS);
	maker_story(&m, "1010ms R -> 20; 1150ms S -> idle");
	write_second(pages, 2);
}

TEST(far_loss)
{
	make_far_loss();
	exports(NULL, "1150 ms [1] :20 S swapper/1:0\n", "a task leaves in a loss");
	has("1200 ms [0] unknown/0:4194305 R :20\n1200 ms [0] :20 ? unknown/0:4194305\n"
	    "1200 ms [0] unknown/0:4194305 R swapper/0:0\n", "it is not known what it does then");
}

/* Two tasks: 10 wakes 20. */
static void make_waker(void)
{
	static unsigned char pages[1][STAPE_PAGE_SIZE];
	struct maker m;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1010ms R -> 20; 1020ms S -> 10; 1029ms waking 20; 1030ms woken 20; "
			"1050ms S -> 20");
	write_second(pages, 1);
}

TEST(arrows)
{
	const Pf__TracePacket *from, *to;
	const Pf__TrackDescriptor *track;

	make_waker();
	exports(NULL, "1029 ms [0] wakes :20 by 10 flags 0\n", "a waker");
	from = find_event(PF__TRACK_EVENT__TYPE__TYPE_INSTANT, "wakes ?:20");
	to = find_event(PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, "woken by shell:10");
	ok(is_at(from, 1029 * MS, 10), "an arrow begins at the waker");
	ok(is_at(to, 1030 * MS, 20), "and ends at the wait");
	ok(from && to && from->track_event->n_flow_ids == 1 &&
	   to->track_event->n_terminating_flow_ids == 1 &&
	   from->track_event->flow_ids[0] == to->track_event->terminating_flow_ids[0],
	   "both have its number");
	ok(is_at(find_event(PF__TRACK_EVENT__TYPE__TYPE_SLICE_END, NULL), 1050 * MS, 20),
	   "the wait ends when the task gets a CPU");
	from = find_event(PF__TRACK_EVENT__TYPE__TYPE_COUNTER, NULL);
	track = from ? find_track(from->track_event->track_uuid) : NULL;
	ok(track && track->counter && !strcmp(track->name, "delay") &&
	   from->timestamp == 1050 * MS && from->track_event->counter_value == 20 * MS,
	   "its delay is a counter");
	exports("--tid=20", "1029 ms [0] wakes :20 by 4194306 flags 0\n",
		"a waker that is not selected");
	ok(!find_event(PF__TRACK_EVENT__TYPE__TYPE_INSTANT, NULL), "and no arrow");
}

/* 10 runs at 1.1, 1.6 and 1.8; the machine sleeps for 5 s before 1.7. */
static void make_slept(void)
{
	static const struct stape_clock_sample samples[] = {
		{ 1000 * MS, 1000 * MS, 1000 * MS + 51, 1 * S, 1000000, 0 },
		{ 1500 * MS, 1500 * MS, 1500 * MS + 20, 1500 * MS, 1000000, 0 },
		{ 1700 * MS, 1700 * MS, 6700 * MS + 40, 6700 * MS, 1000000, 0 },
	};
	static const struct schedtape_cpu cpu = { .cpu = 0, .events = 5 };
	static const struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 1 * S, .stop_time = 2 * S, .cpus = &cpu, .nr_cpus = 1,
	};
	struct schedtape_writer_options options = { .size = sizeof(options) };
	static unsigned char page[STAPE_PAGE_SIZE];
	struct schedtape_writer *writer;
	struct schedtape_error err = { "" };
	struct maker m;
	size_t i;
	int ret;

	maker_begin(&m, page, 0, 0, 1000 * MS);
	maker_story(&m, "1100ms R -> 10; 1200ms S -> idle; 1600ms R -> 10; 1650ms S -> idle; "
			"1800ms R -> 10");
	ret = schedtape_writer_create(the_tape.path, "{}", &options, &writer, &err);
	for (i = 0; i < 3 && !ret; i++)
		ret = schedtape_writer_clock(writer, &samples[i], &err);
	if (!ret)
		ret = schedtape_writer_pages(writer, page, 1, &err);
	if (!ret)
		ret = schedtape_writer_end(writer, &end, &err);
	if (ret || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
}

TEST(clocks)
{
	size_t i, n = 0;

	make_slept();
	exports(NULL, "1650 ms [0] :10 S swapper/0:0\n6800 ms [0] swapper/0:0 R :10\n",
		"times count when the machine slept");
	for (i = 0; i < trace->n_packet; i++) {
		const Pf__TracePacket *packet = trace->packet[i];

		n += !!packet->clock_snapshot;
		if (packet->ftrace_events)
			ok(packet->ftrace_events->event[1]->timestamp == 1100 * MS,
			   "but not the time between two readings of clocks");
	}
	ok(n == 3, "all readings are in the trace");
}

/* Exports a tape as JSON into @text. */
static void export_json(const char *option)
{
	char *argv[7] = { (char *)"export", (char *)"chrome", (char *)the_tape.path, (char *)"-o",
			  (char *)"-", (char *)option, NULL };

	begin_capture();
	ok(!cmd_export(option ? 6 : 5, argv), "a trace for Chrome");
	end_capture();
}

TEST(chrome)
{
	struct json_object *root;

	make_waker();
	export_json(NULL);
	root = json_tokener_parse(text);
	ok(root, "is JSON");
	json_object_put(root);
	has("{\"ph\":\"X\",\"pid\":20,\"tid\":20,\"ts\":1010000.000,\"dur\":10000.000,"
	    "\"name\":\"running\",\"args\":{\"cpu\":0}}", "a run");
	has("\"tid\":20,\"ts\":1020000.000,\"dur\":10000.000,\"name\":\"asleep\"}", "a sleep");
	has("\"tid\":20,\"ts\":1030000.000,\"dur\":20000.000,\"name\":\"runnable\"}", "a delay");
	has("\"s\",\"pid\":10,\"tid\":10,\"ts\":1029000.000,\"id\":1,", "an arrow begins");
	has("\"f\",\"pid\":20,\"tid\":20,\"ts\":1030000.000,\"id\":1,", "and ends");
	has("\"name\":\"delay ?:20\",\"args\":{\"us\":20000.000}}", "a counter");
	export_json("--time=1.015,1.025");
	has("\"ts\":1015000.000,\"dur\":5000.000,\"name\":\"running\"", "a part of a run");
	has("\"ts\":1020000.000,\"dur\":5000.000,\"name\":\"asleep\"}", "and of a sleep");
	make_loss();
	export_json(NULL);
	has("\"pid\":4325376,\"tid\":4325377,\"ts\":1100000.000,\"dur\":100000.001,"
	    "\"name\":\"lost\",\"args\":{\"events\":5}}", "a loss");
	has("\"tid\":10,\"ts\":1020000.000,\"dur\":80000.000,\"name\":\"running\"",
	    "a run ends at the loss");
	has_not("\"name\":\"blocked\"", "a sleep with a loss in it is not shown");
}

TEST(intervals)
{
	static unsigned char pages[2][STAPE_PAGE_SIZE];
	const Pf__TrackDescriptor *track;
	const Pf__TracePacket *end;
	struct maker m;

	maker_begin(&m, pages[0], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_interval(&m, 1100 * MS, 7);
	maker_begin(&m, pages[1], 0, 0, 1000 * MS);
	maker_story(&m, "1010ms R -> 20; 1200ms S -> idle");
	write_second(pages, 2);
	export(NULL, NULL);
	end = find_event(PF__TRACK_EVENT__TYPE__TYPE_INSTANT, "interval 7 ends");
	track = end ? find_track(end->track_event->track_uuid) : NULL;
	ok(end && end->timestamp == 1100 * MS && track && !strcmp(track->name, "intervals"),
	   "the end of an interval");
	export("--time=1.15,", NULL);
	ok(!find_event(PF__TRACK_EVENT__TYPE__TYPE_INSTANT, NULL), "is outside of this time");
	export_json(NULL);
	has("{\"ph\":\"i\",\"pid\":0,\"tid\":0,\"ts\":1100000.000,\"s\":\"g\","
	    "\"name\":\"interval 7 ends\"}", "as JSON");
	export_json("--time=1.15,");
	has_not("interval", "and outside there, too");
}

TEST(files)
{
	char *argv[6] = { (char *)"export", (char *)"perfetto", (char *)the_tape.path, (char *)"-o",
			 out, NULL };
	FILE *file = fopen(out, "w");

	fputs("a letter", file);
	fclose(file);
	begin_capture();
	ok(cmd_export(5, argv) == CMD_FAILURE, "a file that is no trace");
	end_capture();
	ok(strstr(said, "this is no trace, so it is not replaced"), "is not replaced: %s", said);
	export(NULL, NULL);
	begin_capture();
	ok(!cmd_export(5, argv), "an earlier trace");
	end_capture();
	ok(strstr(said, " MB to "), "is replaced");
	unlink(out);
}

int main(void)
{
	blob_init(&the_tape);
	snprintf(out, sizeof(out), "/tmp/test-export-%d", getpid());
	tap_run();
	if (trace)
		pf__trace__free_unpacked(trace, NULL);
	return tap_done();
}
