// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: each key of each command's --json is in schedtape-json(5). Each key of that page is
 * printed, and has the type that its name promises. This test answers in place of the module.
 */
#include <program/program.h>

#include <commands.h>
#include <record/internal.h>
#include <replay/internal.h>
#include <tape/groups.h>
#include <tape/write.h>
#include <top/internal.h>

#include "fake-client.h"
#include "fake-dump.h"
#include "fake-recorders.h"
#include "points.h"
#include "tap.h"
#include "tapes.h"

#define S		1000000000ULL
#define MAX_KEYS	512
#define KEY_LEN		96

static char text[1 << 18];

/* -- keys -------------------------------------------------------------------------- */

struct keys {
	char names[MAX_KEYS][KEY_LEN];
	size_t nr;
};

static struct keys seen, documented;

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name);

	return len > strlen(end) && !strcmp(name + len - strlen(end), end);
}

/* Fails if a key's value is not the number, or null, that the key's name promises. */
static void check_type(const char *name, struct json_object *value)
{
	static const char * const ends[] = { "_ns", "_bytes", "_count", "_index" };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends_in(name, ends[i]) && value && !json_object_is_type(value, json_type_int))
			ok(false, "%s is no whole number", name);
}

static void add_key(struct keys *keys, const char *name)
{
	size_t i;

	for (i = 0; i < keys->nr; i++)
		if (!strcmp(keys->names[i], name))
			return;
	if (keys->nr == MAX_KEYS)
		abort();
	snprintf(keys->names[keys->nr++], KEY_LEN, "%s", name);
}

static bool has_key(const struct keys *keys, const char *name)
{
	size_t i;

	for (i = 0; i < keys->nr; i++)
		if (!strcmp(keys->names[i], name))
			return true;
	return false;
}

/*
 * Adds all keys of a value, as "tasks[].pid". The contents of "meta" and of "fields" are copied
 * from the tape; "total" has the keys of the lines that it adds up.
 */
static void walk(struct json_object *value, const char *path)
{
	char below[KEY_LEN];
	size_t i;

	if (!strcmp(path, "meta") || !strcmp(path, "fields") || !strcmp(path, "total"))
		return;
	if (json_object_is_type(value, json_type_array)) {
		snprintf(below, sizeof(below), "%s[]", path);
		for (i = 0; i < json_object_array_length(value); i++)
			walk(json_object_array_get_idx(value, i), below);
	}
	if (!json_object_is_type(value, json_type_object))
		return;
	json_object_object_foreach(value, key, member) {
		snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", key);
		add_key(&seen, below);
		check_type(below, member);
		walk(member, below);
	}
}

/* Reads the keys of a command: those of ".It Va KEY" below ".Ss COMMAND". */
static void read_page(const char *command)
{
	const char *build = getenv("SCHEDTAPE_BUILD");
	char path[PATH_MAX], line[256], wanted[64];
	bool there = false;
	FILE *page;

	snprintf(path, sizeof(path), "%s/man/schedtape-json.5", build ? build : "../../build");
	page = fopen(path, "r");
	if (!page) {
		puts("Bail out! no schedtape-json.5");
		exit(1);
	}
	documented.nr = 0;
	add_key(&documented, "format");
	add_key(&documented, "version");
	snprintf(wanted, sizeof(wanted), ".Ss %s\n", command);
	while (fgets(line, sizeof(line), page)) {
		if (line[0] == '.' && line[1] == 'S')
			there = !strcmp(line, wanted);
		line[strcspn(line, "\n")] = '\0';
		if (there && !strncmp(line, ".It Va ", 7))
			add_key(&documented, line + 7);
	}
	fclose(page);
}

/* -- output ------------------------------------------------------------------------ */

static void parse(const char *command, bool lines)
{
	struct json_object *object;
	char expected[64], *at = text, *end;

	snprintf(expected, sizeof(expected), "{%s\"format\":%s\"schedtape-%s\",%s\"version\":%s1",
		 lines ? "" : "\n  ", lines ? "" : " ", command, lines ? "" : "\n  ",
		 lines ? "" : " ");
	ok(!strncmp(text, expected, strlen(expected)), "%s: format and version are first", command);
	while (*at) {
		end = lines ? at + strcspn(at, "\n") : at + strlen(at);
		if (*end)
			*end++ = '\0';
		object = json_tokener_parse(at);
		if (!object)
			ok(false, "%s: not JSON: %s", command, at);
		walk(object, "");
		json_object_put(object);
		at = end;
	}
}

static void capture(void (*print)(void *arg), void *arg)
{
	int out = memfd_create("out", MFD_CLOEXEC), saved = dup(STDOUT_FILENO);
	ssize_t n;

	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	print(arg);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	n = pread(out, text, sizeof(text) - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	close(saved);
	close(out);
}

struct call {
	int (*command)(int argc, char **argv);
	char *argv[8];
};

static void call(void *arg)
{
	struct call *c = arg;
	int argc = 0;

	while (c->argv[argc])
		argc++;
	c->command(argc, c->argv);
}

static void prints(const char *command, struct call c)
{
	capture(call, &c);
	parse(command, !strncmp(text, "{\"", 2));
}

/* Compares the keys printed since the last call with the page. */
static void check(const char *command)
{
	size_t i, bad = 0;

	read_page(command);
	for (i = 0; i < seen.nr; i++) {
		if (has_key(&documented, seen.names[i]))
			continue;
		printf("# %s prints %s, which schedtape-json.5 has not\n", command, seen.names[i]);
		bad++;
	}
	for (i = 0; i < documented.nr; i++) {
		if (has_key(&seen, documented.names[i]))
			continue;
		printf("# schedtape-json.5 has %s, which %s does not print\n",
		       documented.names[i], command);
		bad++;
	}
	ok(!bad, "%s: %zu keys, and those of the page", command, seen.nr);
	seen.nr = 0;
}

/* -- tapes ------------------------------------------------------------------------- */

/* One event of each kind, a loss, a pause, a deadline, and tasks that wake each other. */
static uint64_t make_page(unsigned char *page)
{
	/* The last ones are a cgroup, a deadline, and an autogroup with a cookie. */
	uint64_t words[10] = {
		1ULL << 32 | 20, maker_prio_word(6, 0, 0, -1, false), 15 * S / 10,
		3ULL << 32 | STAPE_STATE_SLEEPING, 2, 77, 1000000, 2000000, 2000000,
		5ULL << 32 | 9,
	};
	const uint64_t in_futex = STAPE_STATE_SLEEPING | STAPE_SWITCH_SYSCALL | 202 << 10;
	const uint64_t mask = 5;
	struct maker m;

	maker_begin(&m, page, 0, 0, 7 * S);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_paused(&m, 5 * S, 7 * S);
	maker_task_words(&m, 7 * S, 20, STAPE_TASK_ENTERS, "server", words, 10);
	maker_wake(&m, 7 * S + 1000, 20, STAPE_CTX_TASK, 7 * S + 2000, 3);
	maker_event(&m, 7 * S + 3000, STAPE_EV_FORK, 30, 1);
	maker_event(&m, 7 * S + 4000, STAPE_EV_MIGRATE, 30, 1);
	maker_wish(&m, 7 * S + 5000, 10, maker_prio_word(0, -5, 0, 49, true), S / 10, 1,
		   1025 << 16 | 1);
	maker_affinity(&m, 7 * S + 6000, 10, &mask, 1);
	maker_exec(&m, 7 * S + 7000, 10, 10);
	maker_rename(&m, 7 * S + 8000, 10, "other");
	maker_trigger(&m, 7 * S + 8000, 10, S, STAPE_TRIGGER_LASTS |
		      (uint64_t)STAPE_TRIGGER_BURST << STAPE_TRIGGER_KIND_SHIFT);
	maker_trigger(&m, 7 * S + 8000, 0, 700,
		      (uint64_t)STAPE_TRIGGER_RATE << STAPE_TRIGGER_KIND_SHIFT);
	maker_event(&m, 7 * S + 9000, STAPE_EV_SWITCH, 20, in_futex);
	maker_wake(&m, 7 * S + 10000, 10, STAPE_CTX_TASK, 7 * S + 11000, 0);
	maker_event(&m, 8 * S, STAPE_EV_SWITCH, 10, in_futex);
	maker_event(&m, 8 * S + 500, STAPE_EV_EXIT, 10, 0);
	maker_switch(&m, 8 * S + 1000, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	maker_idle(&m, 8 * S + 1500, 500, 500, STAPE_NEXT_IDLE);
	maker_interval(&m, 8 * S + 1600, 1);
	/* This takes long enough to be the quota of its cgroup. */
	maker_wake(&m, 8 * S + 2000, 20, STAPE_CTX_HARDIRQ, 8 * S + 3000, 0);
	maker_switch(&m, 8 * S + S / 2, 20, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	return m.header.events;
}

/* The kernel's counts of the cgroup 77, at some time. */
static void put_quota(struct schedtape_writer *writer, const char *time,
		      struct schedtape_error *err)
{
	struct json_object *object = json_object_new_object();
	static const char cgroup[] = "[{\"id\":77,\"path\":\"/a\",\"max\":\"20000 100000\","
		"\"stat\":{\"nr_periods\":9,\"nr_throttled\":%s,\"throttled_usec\":5}}]";
	char list[sizeof(cgroup) + 32];

	snprintf(list, sizeof(list), cgroup, time);
	json_object_object_add(object, "began", json_tokener_parse(time));
	json_object_object_add(object, "time", json_tokener_parse(time));
	json_object_object_add(object, "cgroups", json_tokener_parse(list));
	if (tape_writer_json(writer, TAPE_CGROUPS, object, err))
		printf("Bail out! %s\n", err->text);
	json_object_put(object);
}

#define META(files)	"{\"arch\": \"x86_64\", \"syscalls\": true, \"sched_settings\": " \
			"{\"files\": {" files "}}}"

static void write_tape(const char *path, const char *text_of_meta)
{
	static unsigned char page[STAPE_PAGE_SIZE];
	struct schedtape_task_info tasks[] = {
		{ .time = 7 * S, .start_time = 5, .pid = 10, .tgid = 10, .comm = "shell",
		  .policy = 6, .dl = { 1000000, 2000000, 2000000 } },
		{ .time = 7 * S, .start_time = 6, .pid = 20, .tgid = 20, .comm = "server",
		  .cgroup = 77 },
	};
	struct schedtape_cpu cpus[] = {
		{ .cpu = 0 },
		{ .cpu = 3, .lost = 12, .lost_first = 2 * S, .lost_last = 3 * S, .overwritten = 5 },
	};
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 1 * S, .stop_time = 9 * S, .cpus = cpus, .nr_cpus = 2,
	};
	const struct schedtape_scheduler scheduler = { .time = 1, .state = "disabled" };
	const struct stape_clock_sample clocks[] = {
		{ .counter = 1 * S, .mono = 1 * S, .boot = 1 * S, .real = 1 * S, .khz = 1000000 },
		{ .counter = 9 * S, .mono = 9 * S, .boot = 49 * S, .real = 99 * S, .khz = 1000000 },
	};
	const struct point_exit data = point_exit(1, 0);
	const struct schedtape_sample sample = {
		.time = 2 * S, .bytes = sizeof(data), .data = &data,
	};
	const struct schedtape_group group = {
		.time = 7 * S, .start_time = 5, .pid = 10, .autogroup = 9, .nice = 1, .core = 5,
	};
	const struct schedtape_player player = {
		.time = 7 * S, .pid = 10, .task_pid = 10, .task_start = 1 * S,
	};
	struct json_object *meta = json_tokener_parse(text_of_meta);
	bool replay = json_object_object_get_ex(meta, "replay_of", NULL);
	struct json_object *told = replay ? json_object_new_array() : NULL;
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;

	cpus[0].events = make_page(page);
	if (tape_writer_create(path, meta, NULL, &writer, &err))
		printf("Bail out! %s\n", err.text);
	put_quota(writer, "500000000", &err);
	put_quota(writer, "9500000000", &err);
	if (schedtape_writer_tasks(writer, tasks, 2, &err) ||
	    (replay && schedtape_writer_players(writer, &player, 1, &err)) ||
	    tape_writer_groups(writer, &group, 1, &err) ||
	    schedtape_writer_clock(writer, &clocks[0], &err) ||
	    schedtape_writer_scheduler(writer, &scheduler, &err) ||
	    schedtape_writer_formats(writer, &points_formats, &err) ||
	    schedtape_writer_samples(writer, &sample, 1, &err) ||
	    schedtape_writer_pages(writer, page, 1, &err) ||
	    schedtape_writer_clock(writer, &clocks[1], &err) ||
	    tape_writer_end(writer, &end, told, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
	json_object_put(told);
}

/* -- output without a command ------------------------------------------------------ */

static void print_record(void *arg)
{
	result_print_json("tape", arg);
}

static void print_replay(void *arg)
{
	const struct replay_options options = { .quiet = true };
	const struct schedtape_replay_state state = { .id = 1 };
	struct json_object *rounds = json_object_new_array();

	replay_print(&options, arg, &state, 2500000000, rounds);
	replay_print_json("tape", rounds);
}

/* A task had one run, with a delay. */
static void print_top(void *arg)
{
	static struct task_entry task = { .pid = 10, .tgid = 10, .comm = "shell" };
	static struct interval_sum sum = { .task = 0, .sum.counts.switches = 1 };
	const struct interval interval = {
		.begin = 1 * S, .end = 2 * S, .tasks = &task, .nr_tasks = 1, .sums = &sum,
		.nr_sums = 1,
	};
	struct top_view view = { .by = GROUPS_TASK };
	struct sheet sheet;

	(void)arg;
	sheet_options_init(&view.sheet, top_columns, "task");
	if (delays_note(&sum.sum.delays, 1000, 1 * S, 0) || top_fill(&sheet, &interval, &view))
		printf("Bail out! not enough memory\n");
	top_print_json(&interval, &sheet);
	sheet_free(&sheet);
	schedtape_histogram_free(&sum.sum.delays.delays);
}

TEST(tapes)
{
	char folder[] = "/tmp/schedtape-json-XXXXXX", copy[64], data[64];
	struct blob a, b;

	blob_init(&a);
	blob_init(&b);
	write_tape(a.path, META("\"one\": \"1\", \"two\": \"1\""));
	write_tape(b.path, META("\"one\": \"2\""));
	prints("report", (struct call) { cmd_report, { "report", "--json", a.path } });
	prints("report", (struct call) { cmd_report, { "report", "--json", "--by=comm", a.path } });
	check("report");
	prints("why", (struct call) { cmd_why, { "why", "--json", "10", a.path } });
	prints("why", (struct call) { cmd_why, { "why", "--json", "--sleeps", "10", a.path } });
	prints("why", (struct call) { cmd_why, { "why", "--json", "20", a.path } });
	prints("why", (struct call) { cmd_why, { "why", "--json", "--path", "10", a.path } });
	prints("why", (struct call) {
		cmd_why, { "why", "--json", "--path", "--top=1", "10", a.path },
	});
	prints("why", (struct call) { cmd_why, { "why", "--json", "--summary", a.path } });
	check("why");
	prints("diff", (struct call) { cmd_diff, { "diff", "--json", a.path, b.path } });
	write_tape(b.path, "{\"sched_settings\": {\"files\": {}, "
			   "\"not_readable\": {\"one\": \"EPERM\"}}}");
	prints("diff", (struct call) { cmd_diff, { "diff", "--json", a.path, b.path } });
	write_tape(b.path, "{\"replay_of\": \"a\", \"replay_costs\": {\"step\": 1, \"fork\": 1, "
			   "\"exit\": 1, \"spawn\": 1, \"leave\": 1, \"rate\": 1}}");
	prints("diff", (struct call) { cmd_diff, { "diff", "--json", a.path, b.path } });
	check("diff");
	write_tape(b.path, "{\"replay_of\": \"a\", \"replay_part\": {\"tape\": "
			   "\"0000000000000000000000003b9aca00\", \"from\": 1000000000, "
			   "\"to\": 9000000000, \"speed\": 1}}");
	prints("phases", (struct call) { cmd_phases, { "phases", "--json", a.path } });
	check("phases");
	prints("estimate", (struct call) {
		cmd_estimate, { "estimate", "--json", "--interval=9s", a.path, b.path },
	});
	check("estimate");
	prints("info", (struct call) { cmd_info, { "info", "--json", a.path } });
	check("info");
	prints("script", (struct call) { cmd_script, { "script", "--json", a.path } });
	check("script");
	prints("latency", (struct call) {
		cmd_latency, { "latency", "--json", "--histogram", a.path },
	});
	check("latency");
	prints("stat", (struct call) { cmd_stat, { "stat", "--json", a.path } });
	check("stat");
	prints("map", (struct call) { cmd_map, { "map", "--json", a.path } });
	check("map");
	prints("timehist", (struct call) {
		cmd_timehist, { "timehist", "--json", "-wMn", "--show-prio", a.path },
	});
	prints("timehist", (struct call) { cmd_timehist, { "timehist", "--json", "-s", a.path } });
	prints("timehist", (struct call) { cmd_timehist, { "timehist", "--json", "-I", a.path } });
	check("timehist");
	if (!mkdtemp(folder))
		puts("Bail out! no folder");
	snprintf(data, sizeof(data), "%s/data", folder);
	snprintf(copy, sizeof(copy), "%s.copy", folder);
	write_tape(data, META("\"one\": \"1\""));
	prints("pack", (struct call) { cmd_pack, { "pack", "--json", "-o", copy, folder } });
	check("pack");
	unlink(copy);
	unlink(data);
	write_tape(b.path, "{\"part\": 1, \"trigger\": {\"name\": \"slow\", "
			   "\"text\": \"latency:5ms\", \"note\": \"x\", \"time\": 5, "
			   "\"uid\": 0, \"pid\": 7}}");
	prints("merge", (struct call) { cmd_merge, { "merge", "--json", "-o", copy, b.path } });
	check("merge");
	unlink(copy);
	prints("recover", (struct call) {
		cmd_recover, { "recover", "--json", "-o", copy, a.path },
	});
	unlink(copy);
	prints("recover", (struct call) {
		cmd_recover, { "recover", "--json", "-o", copy, "--vmcore", "dump" },
	});
	check("recover");
	unlink(copy);
	rmdir(folder);
	close(a.fd);
	close(b.fd);
}

TEST(module)
{
	struct schedtape_program program = { 0 };
	struct part part = { .path = "tape" };
	struct parts parts = { .kept = &part, .nr = 1 };
	struct recorder recorder = { .parts = &parts, .has_samples = true };

	prints("list", (struct call) { cmd_list, { "list", "--json" } });
	check("list");
	prints("status", (struct call) { cmd_status, { "status", "--json" } });
	check("status");
	prints("steer", (struct call) { cmd_steer, { "steer", "--json", "1", "players" } });
	check("steer");
	capture(print_top, NULL);
	parse("top", true);
	check("top");
	capture(print_record, &recorder);
	parse("record", false);
	check("record");
	capture(print_replay, &program);
	parse("replay", false);
	check("replay");
}

TEST_MAIN
