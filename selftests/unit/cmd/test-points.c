// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: script prints other tracepoints between the events of scheduling, as text, as perf
 * and as JSON; what it cannot decode costs nothing else.
 */
#include "points.h"
#include "printed.h"

/* Times are those of CLOCK_MONOTONIC. */
static const struct stape_clock_sample clock_sample = {
	.counter = S, .mono = S, .boot = S, .real = S, .khz = 1000000,
};

/* 10 runs from 2 s on, and an interrupt comes at 2.5 s.  At 3 s the CPU becomes idle. */
static void make_points(const struct schedtape_formats *formats)
{
	static const struct schedtape_cpu cpu = { .cpu = 1, .events = 2 };
	static const struct schedtape_task_info task = { .pid = 10, .tgid = 9, .comm = "shell" };
	static const struct schedtape_end end = {
		.size = sizeof(end), .start_time = S, .stop_time = 9 * S,
		.cpus = &cpu, .nr_cpus = 1,
	};
	static unsigned char page[STAPE_PAGE_SIZE];
	const struct point_entry entry = point_entry(9, "eth0\033\"x");
	const struct point_exit exits[] = { point_exit(9, 1), point_exit(-4, 0) };
	const uint16_t unknown = 77;
	const struct schedtape_sample samples[] = {
		{ .time = 5 * S / 2, .cpu = 1, .pid = 9, .tid = 10, .bytes = sizeof(entry),
		  .data = &entry },
		{ .time = 3 * S, .cpu = 1, .pid = 9, .tid = 10, .bytes = sizeof(exits[0]),
		  .data = &exits[0] },
		{ .time = 4 * S, .cpu = 1, .lost = 12, .bytes = sizeof(exits[1]),
		  .data = &exits[1] },
		{ .time = 5 * S, .cpu = 1, .pid = 50, .tid = 50, .bytes = 9, .data = &exits[0] },
		{ .time = 6 * S, .cpu = 1, .bytes = sizeof(unknown), .data = &unknown },
		{ .time = 7 * S, .cpu = 1, .pid = UINT32_MAX, .tid = UINT32_MAX,
		  .bytes = sizeof(exits[0]), .data = &exits[0] },
	};
	struct json_object *meta = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *w;
	struct maker m;

	maker_begin(&m, page, 1, 0, S);
	maker_switch(&m, 2 * S, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_switch(&m, 3 * S, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	if (tape_writer_create(the_tape.path, meta, NULL, &w, &err) ||
	    schedtape_writer_clock(w, &clock_sample, &err) ||
	    schedtape_writer_tasks(w, &task, 1, &err) ||
	    schedtape_writer_formats(w, formats, &err) ||
	    schedtape_writer_samples(w, samples, 6, &err) ||
	    schedtape_writer_pages(w, page, 1, &err) || schedtape_writer_end(w, &end, &err) ||
	    schedtape_writer_close(w, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
}

TEST(text)
{
	ok(!run(cmd_script, NULL), "script");
	has("          <idle>-0       [001]      2.000000:     switch: idle ==> shell:10\n"
	    "           shell-10      [001]      2.500000: irq:irq_handler_entry: irq=9 name=eth0?\"x\n"
	    "           shell-10      [001]      3.000000: irq:irq_handler_exit: irq=9 ret=handled\n"
	    "           shell-10      [001]      3.000000:     switch: shell:10 [S] ==> idle\n"
	    "          <lost>-0       [001]      4.000000:       lost: events of other tracepoints: 12\n"
	    "          <idle>-0       [001]      4.000000: irq:irq_handler_exit: irq=-4 ret=unhandled\n",
	    "samples are printed by time, before an event of the same time, and losses");
	has("               ?-50      [001]      5.000000: irq:irq_handler_exit: 07 00 00 00",
	    "one that is too short is printed as bytes");
	has("          <idle>-0       [001]      6.000000:          ?: 4d 00\n",
	    "so is one of a tracepoint that the tape does not describe");
	has("         <other>-0       [001]      7.000000: irq:irq_handler_exit: irq=9 ret=",
	    "a task that was reaped before has no PID");
}

TEST(info)
{
	run(cmd_info, NULL);
	has("\nother events     : 6 of 2 tracepoints, 12 lost\n",
	    "info counts samples, and losses");
	has_not("bytes an event", "and leaves out the size of an event, which has samples in it");
	run(cmd_info, "--json");
	has("\"samples\": 6,\n  \"samples_lost\": 12,\n  \"samples_dropped\": 0,\n"
	    "  \"tracepoints\": [\n    {\n"
	    "      \"name\": \"irq:irq_handler_entry\",\n      \"filter\": \"irq>2\"\n    },\n"
	    "    {\n      \"name\": \"irq:irq_handler_exit\",\n      \"filter\": null\n    }\n",
	    "info --json names the tracepoints");
}

TEST(perf)
{
	run(cmd_script, "-Fperf");
	has("           shell      10 [001]     2.500000:    irq:irq_handler_entry: irq=9 "
	    "name=eth0?\"x\n", "as perf prints them");
	has("# LOST events of other tracepoints: 12\n"
	    "         swapper       0 [001]     4.000000:     irq:irq_handler_exit: irq=-4 "
	    "ret=unhandled\n", "losses are comments");
}

TEST(json)
{
	run(cmd_script, "--json");
	has("{\"time_ns\":2500000000,\"cpu\":1,\"event\":\"irq:irq_handler_entry\","
	    "\"curr_kind\":\"task\",\"curr_pid\":10,\"curr_comm\":\"shell\","
	    "\"fields\":{\"irq\":9,\"name\":\"eth0?\\\"x\"}}\n", "a text and a number as JSON");
	has("\"event\":\"samples_lost\",\"lost\":12}\n", "a loss");
	has("\"fields\":{\"irq\":-4,\"ret\":0}}\n", "a negative number");
	has("\"curr_pid\":50,\"curr_comm\":\"\",\"fields\":null}\n", "fields that are not known");
}

TEST(selection)
{
	run(cmd_script, "-eirq:*_entry");
	has(" irq:irq_handler_entry: ", "-e selects one");
	has_not("irq_handler_exit", "without the other");
	has_not("switch", "and without events of scheduling");
	run(cmd_script, "-eswitch");
	has_not("irq:", "or only an event of scheduling");
	run(cmd_script, "--pid=9");
	has(" irq:irq_handler_entry: ", "--pid selects a task's");
	has_not("irq=-4", "and none of the idle task");
	has("lost: events of other tracepoints: 12\n", "but losses, which may hide some");
	run(cmd_script, "--time=3.5,4.5");
	has("irq=-4", "--time selects one");
	has_not("irq=9", "without those before");
	has_not("4d 00", "and without those behind");
	run(cmd_script, "--cpu=0");
	has_not("irq:", "--cpu selects those of a CPU");
	ok(run(cmd_script, "-enet:*") == CMD_FAILURE &&
	   strstr(said, "no event of the tape matches -e\n"), "one that the tape has not: %s",
	   said);
}

/* Names are printed as they are, so the tape may have only those that the kernel can have. */
TEST(names)
{
	static char longest[70000];
	const char * const names[] = { longest, "x\",\"y", "x\033[31m", "" };
	struct schedtape_format format = {
		.id = POINT_EXIT, .system = "irq", .format = points[1].format,
	};
	const struct schedtape_formats formats = {
		.size = sizeof(formats), .formats = &format, .n = 1,
		.long_bytes = sizeof(long), .big_endian = points_formats.big_endian,
	};
	size_t i;

	memset(longest, 'n', sizeof(longest) - 1);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		format.name = names[i];
		make_points(&formats);
		ok(!run(cmd_script, NULL) && strstr(said, "FORMATS"),
		   "the tape's FORMATS record is refused: %s", said);
		has("switch: idle ==> shell:10\n", "events of scheduling are printed");
		has_not("irq:", "a sample has no name then");
	}
}

/* Formats that nothing can be done with. */
TEST(formats)
{
	static const char * const wrong[] = {
		"", "name: x\nID: 7\nformat:\n",
		"name: x\nID: 7\nformat:\n\tfield:int irq;\toffset:70000;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", REC->irq\n",
		"name: x\nID: 7\nformat:\n\tfield:int irq;\toffset:4294967294;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", REC->irq\n",
	};
	struct schedtape_format format = { .id = POINT_EXIT, .system = "irq", .name = "x" };
	const struct schedtape_formats formats = {
		.size = sizeof(formats), .formats = &format, .n = 1,
		.long_bytes = sizeof(long), .big_endian = points_formats.big_endian,
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		format.format = wrong[i];
		make_points(&formats);
		ok(!run(cmd_script, NULL), "format %zu", i);
		has("irq:x: 07 00 00 00", "its samples are printed as bytes");
		has(" switch: shell:10 [S] ==> idle\n", "and scheduling as ever");
	}
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_points(&points_formats))
