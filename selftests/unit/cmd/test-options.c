// SPDX-License-Identifier: GPL-2.0-only
/* Description: each argument of record and replay has its effect, or is refused. */
#include <stdlib.h>
#include <string.h>

#include <tape/meta.h>

#include "options.h"
#include "record/options.h"
#include "replay/options.h"
#include "tap.h"

/* No tape is opened here. */
struct json_object *tape_meta(struct schedtape_tape *tape)
{
	(void)tape;
	return NULL;
}

/* -- record ---------------------------------------------------------------- */

static bool takes(struct record_options *opts, const char *option)
{
	static char arg[256];
	char *argv[4] = { "record", "-a", arg };

	record_options_free(opts);
	snprintf(arg, sizeof(arg), "%s", option);
	record_options_parse(opts, 3, argv);
	return !refused;
}

TEST(numbers)
{
	/* Includes numbers that would be valid if cut to fewer bits. */
	static const char * const bad[] = {
		"-z23", "-z-1", "-zx", "-z1x", "-z4294967297", "-z18446744073709551617",
		"-r0", "-r100", "-r", "-r4294967297", "-r1x",
		"-m0", "-m-1", "-m1T", "-m1KB", "-mK", "-m18446744073709551615K",
		"-m -18446744073709551615", "-m99999999999999999999",
		"-M0", "-M1X", "-M", "-M-1",
		"--switch-output=1", "--switch-output=", "--max-size=0", "--max-size=100",
		"--switch-max-files=2", "--snapshot-max-bytes=2M",
		"-p0", "-p-1", "-p1,", "-p,1", "-p1 2", "-p4294967297", "-p2147483648",
		"-p -18446744073709551615", "-p1,-2", "-tx", "-t",
	};
	struct record_options opts = { .output = NULL };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!takes(&opts, bad[i]), "not %s", bad[i]);
	ok(takes(&opts, "-z22") && opts.level == 22, "-z22");
	ok(takes(&opts, "-z0") && !opts.level, "-z0");
	ok(takes(&opts, "-z") && opts.level == 1, "-z");
	ok(takes(&opts, "-q") && opts.level == 1, "without -z");
	ok(takes(&opts, "-M1M") && !opts.level, "without -z, snapshots are not compressed");
	ok(!takes(&opts, "--no-final"), "not --no-final alone");
	ok(takes(&opts, "-r99") && opts.realtime == 99, "-r99");
	ok(takes(&opts, "-m3K") && opts.ring_bytes == 3072, "-m3K");
	ok(takes(&opts, "--switch-output") && opts.parts.end == PARTS_SIGNAL, "--switch-output");
	ok(takes(&opts, "--switch-output=2G") && opts.parts.bytes == 2ULL << 30,
	   "--switch-output=2G");
	ok(takes(&opts, "--max-size=3K") && opts.max_size == 3072, "--max-size=3K");
	ok(takes(&opts, "--no-follow") && opts.targets.no_follow, "--no-follow");
	ok(takes(&opts, "-p7,2147483647") && opts.targets.filter.nr_pids == 2 &&
	   opts.targets.filter.pids[1] == 2147483647, "-p7,2147483647");
	record_options_free(&opts);
}

/* Returns the size of each ring, or 0. */
static uint64_t ring(const char *option, const unsigned char *mask, size_t bytes)
{
	const struct schedtape_module_info info = { .cpus = 6, .ring_pages_max = 65536 };
	struct record_options opts = { .output = NULL };
	uint64_t size = 0;
	bool taken = takes(&opts, option);

	if (!taken || record_options_rings(&opts, mask, bytes, &info, &size))
		size = 0;
	record_options_free(&opts);
	return size;
}

TEST(rings)
{
	static const unsigned char three[] = { 0x81, 0x01 };
	struct record_options opts = { .output = NULL };
	char *both[] = { "record", "-a", "-m1M", "-M1M" };
	char *threads[] = { "record", "-a", "--threads", "-M1M" };

	ok(ring("-q", NULL, 0) == 1 << 20, "the usual size");
	ok(ring("-m3K", NULL, 0) == 3072, "-m: of each CPU");
	ok(ring("-M96K", NULL, 0) == 16384, "-M: of all CPUs, the least");
	ok(!ring("-M95K", NULL, 0), "not less");
	ok(ring("-M191K", NULL, 0) == 16384, "a power of two of pages each, not more than -M");
	ok(ring("-M192K", NULL, 0) == 32768, "the next one");
	ok(ring("-M48K", three, 2) == 16384, "of the CPUs of -C");
	ok(ring("-M1536M", NULL, 0) == 256 << 20, "the most");
	ok(!ring("-M1537M", NULL, 0), "not more");
	ok(takes(&opts, "-M96K") && opts.overwrite, "-M overwrites");
	record_options_free(&opts);
	refused = false;
	record_options_parse(&opts, 4, both);
	ok(refused, "not -m and -M");
	record_options_free(&opts);
	record_options_parse(&opts, 4, threads);
	ok(refused, "nor --threads and -M");
	record_options_free(&opts);
}

/* FILE.latency.20261127T124501.123456Z has at most 255 bytes. */
TEST(lengths)
{
	struct record_options opts = { .output = NULL };
	char file[300] = "/tmp/";
	char *argv[] = { "record", "-a", "-M1M", "--trigger=latency:5ms", "-o", file };

	memset(file + 5, 'a', 255 - 24 - 8);
	record_options_parse(&opts, 6, argv);
	ok(!refused, "a long -o, to which a trigger's name and the time can be added");
	record_options_free(&opts);
	strcat(file, "a");
	record_options_parse(&opts, 6, argv);
	ok(refused, "a longer one");
	record_options_free(&opts);
}

TEST(patterns)
{
	static const char * const bad[] = {
		"--exclude-comm=sixteen letters!!", "--exclude-comm=[a]???????????????",
		"--exclude-comm=****************************************************************",
	};
	static const char * const good[] = {
		"--exclude-comm=fifteen letters", "--exclude-comm=*[!]a-z]*", "--exclude-comm=\\",
		"--exclude-comm=[", "--exclude-comm=[!", "--exclude-comm=[abcdefghijklmnop]",
	};
	struct record_options opts = { .output = NULL };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!takes(&opts, bad[i]), "not %s", bad[i]);
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(takes(&opts, good[i]), "%s", good[i]);
	record_options_free(&opts);
}

/* -- replay ---------------------------------------------------------------- */

static bool plays(struct replay_options *opts, const char *option)
{
	static char arg[256];
	char *argv[3] = { "replay", arg };

	replay_options_free(opts);
	snprintf(arg, sizeof(arg), "%s", option);
	replay_options_parse(opts, 2, argv);
	return !refused;
}

TEST(replay)
{
	static const char * const bad[] = {
		"--speed=0", "--speed=nan", "--speed=1001", "--speed=1x", "--scale-cpu=-1",
		"--time=2,1", "--time=1,1", "--time=", "--time=x", "--time=18446744073,",
		"--only=", "--only=pid=", "--exclude=tgid=1-", "--only=cgroup=", "--only=comm=",
		"--only=name=app", "--exclude=pids=1", "-r0", "-r4294967296", "--cpus=0:",
		"--cpus=:0", "--cpus=0-4294967295", "--burn=no", "--engine=kernel", "--external=x",
	};
	struct replay_options opts = { .record = NULL };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!plays(&opts, bad[i]), "not %s", bad[i]);
	ok(plays(&opts, "--speed=0.001") && opts.speed == 0.001, "--speed=0.001");
	ok(plays(&opts, "--time=1.25,") && opts.program.from == 1250000000 && !opts.program.to,
	   "--time=1.25,");
	ok(plays(&opts, "-r4294967295") && opts.repeat == 4294967295, "-r4294967295");
	ok(plays(&opts, "--kthreads") && opts.program.kthreads && plays(&opts, "-q") &&
	   !opts.program.kthreads, "--kthreads");
	ok(plays(&opts, "--record=tape/") && !strcmp(opts.record, "tape"), "--record=tape/");
	ok(plays(&opts, "--only=pid=1-3,7") && choice_made(&opts.choice), "--only=pid=1-3,7");
	replay_options_free(&opts);
}

/* The message of --cpus names the CPUs that this process may use. */
TEST(usable)
{
	struct replay_options opts = { .record = NULL };
	cpu_set_t before, first;
	char *usable;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_getaffinity(0, sizeof(before), &before) ||
	    sched_setaffinity(0, sizeof(first), &first)) {
		ok(true, "this process may use CPU 0 # SKIP");
		return;
	}
	usable = cpus_usable();
	ok(usable && !strcmp(usable, "0"), "this process may use CPU 0: %s", usable);
	ok(plays(&opts, "--cpus=0") && !plays(&opts, "--cpus=1"), "and no other one");
	sched_setaffinity(0, sizeof(before), &before);
	replay_options_free(&opts);
	free(usable);
}

/* Returns the selected ones of these tasks, one digit each; "0" is the first. */
static const char *chosen(const char *option, const char *other)
{
	static const struct schedtape_task tasks[] = {
		{ .pid = 20, .tgid = 20, .comm = "app" }, { .pid = 21, .tgid = 20, .comm = "work" },
		{ .pid = 22, .tgid = 22, .comm = "app" },
		{ .pid = 120, .tgid = 120, .comm = "app" },
		{ .pid = 121, .tgid = 120, .comm = "app", .cgroup = 20 },
		{ .pid = 130, .tgid = 130, .comm = "a=b" },
	};
	char *argv[4] = { "replay", (char *)option, (char *)other };
	struct replay_options opts = { .record = NULL };
	static char numbers[8];
	size_t i, n = 0;

	replay_options_parse(&opts, other ? 3 : 2, argv);
	if (refused || choice_check(&opts.choice, NULL, "t"))
		return "refused";
	for (i = 0; i < sizeof(tasks) / sizeof(*tasks); i++)
		if (choice_keeps(&opts.choice, &tasks[i]))
			numbers[n++] = '0' + i;
	numbers[n] = '\0';
	replay_options_free(&opts);
	return numbers;
}

TEST(choice)
{
	static const struct {
		const char *option, *other, *numbers;
	} choices[] = {
		{ "--only=tgid=20", NULL, "01" },
		{ "--only=tgid=21", NULL, "" },
		{ "--only=tgid=21-120", NULL, "234" },
		{ "--only=tgid=22,20", NULL, "012" },
		{ "--exclude=tgid=20", NULL, "2345" },
		{ "--exclude=tgid=1-4000000", NULL, "" },
		{ "--only=tgid=20", "--exclude=pid=20", "1" },
		{ "--only=pid=20", "--only=tgid=120", "034" },
		{ "--only=pid=20", NULL, "0" },
		{ "--exclude=pid=20-22", NULL, "345" },
		{ "--only=app", NULL, "0234" },
		{ "--only=comm=app", NULL, "0234" },
		{ "--only=comm=[wx]*", "--only=comm=a=*", "15" },
		{ "--only=[a]=b", NULL, "5" },
		{ "--only=app", "--exclude=tgid=20", "234" },
		{ "--exclude=[!a]*", NULL, "02345" },
		{ "--only=cgroup=id:20", NULL, "4" },
		{ "--exclude=cgroup=id:20", "--only=tgid=120", "3" },
	};
	const char *numbers;
	size_t i;

	for (i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		numbers = chosen(choices[i].option, choices[i].other);
		if (!ok(!strcmp(numbers, choices[i].numbers), "%s %s", choices[i].option,
			choices[i].other ? choices[i].other : ""))
			printf("# are %s, not %s\n", numbers, choices[i].numbers);
	}
}

TEST_MAIN
