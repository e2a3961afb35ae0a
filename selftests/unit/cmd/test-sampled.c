// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: phases of a sample's directory, and of its tape alone: where intervals end, what
 * they count for, and how to sample again.
 */
#include <sys/stat.h>

#include "printed.h"

#define MS	1000000ULL
#define ID	"0123456789abcdef0123456789abcdef"

static char folder[64], manifest[96], tape[96];

/* 10 runs all the time; in the second half it falls asleep every 10 ms. Each 100 ms are marked. */
static void make_sample(void)
{
	static unsigned char pages[2][STAPE_PAGE_SIZE];
	struct maker m;
	uint64_t time;
	int i;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1000ms irq wakes 10; 1000ms R -> 10");
	for (i = 0; i < 50; i++) {
		maker_switch(&m, (1505 + 10 * i) * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
		time = (1509 + 10 * i) * MS;
		maker_wake(&m, time, 10, STAPE_CTX_HARDIRQ, time, 0);
		maker_switch(&m, time, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	}
	maker_begin(&m, pages[1], STAPE_CPU_NONE, 0, 1000 * MS);
	for (i = 1; i < 10; i++)
		maker_interval(&m, (1000 + 100 * i) * MS, i);
	write_second_of(pages, 2, "riscv64", json_tokener_parse("{\"sample\": \"" ID "\"}"));
}

/*
 * Intervals of the second half count three times as much as those of the first one, and the first
 * three have no page faults. The last line is not there whole.
 */
static void make_manifest(const char *id, const char *chosen)
{
	FILE *to = fopen(manifest, "w");
	int i, count = 0;

	if (!to)
		puts("Bail out! no manifest");
	fprintf(to, "{\"format\":1,\"id\":\"%s\",\"event\":\"task-clock\","
		    "\"events\":[\"task-clock\",\"page-faults\"],\"interval\":100,"
		    "%s\"command\":[\"a b\",\"-c\"]}\n", id, chosen);
	for (i = 1; i < 10; i++) {
		count += i > 5 ? 300 : 100;
		fprintf(to, "{\"interval\":%d,\"end_ns\":1,\"count\":%d,\"skid\":0,\"counts\":"
			    "{\"task-clock\":100,\"page-faults\":%d}}\n", i, count,
			i > 5 ? 300 : i > 3 ? 100 : 0);
	}
	fputs("{\"interval\":10,\"end_ns\":", to);
	fclose(to);
}

static void begin(void)
{
	make_sample();
	snprintf(folder, sizeof(folder), "/tmp/schedtape-sampled-XXXXXX");
	if (!mkdtemp(folder))
		puts("Bail out! no folder");
	snprintf(manifest, sizeof(manifest), "%s/manifest", folder);
	snprintf(tape, sizeof(tape), "%s/tape", folder);
	if (symlink(the_tape.path, tape))
		puts("Bail out! no link");
	make_manifest(ID, "");
}

TEST(directory)
{
	begin();
	ok(!run_on(folder, cmd_phases, NULL, NULL, NULL), "a directory that still grows");
	has("\nEach letter is an interval of the sample:\nAAAAABBBBB\n", "marks are the borders");
	squeeze_blanks();
	/* 500 of 500 + 4 * 300 + the average of the others for the rest. */
	has("\nA 26.5 5 ", "an interval counts as much as its event has counted");
	has("\nschedtape sample --event=task-clock,page-faults --interval=100 --at=1,6 -o ",
	    "the events");
	has("-at -- 'a b' -c\n", "the command");
	run_on(folder, cmd_phases, "--interval=250ms", NULL, NULL);
	has("\nEach letter is an interval of 250.000 ms:\nAABB\n", "or other intervals");
	run_on(folder, cmd_phases, "--time=1.35,1.95", NULL, NULL);
	has("\nAABBBBB\n", "intervals are cut by --time");
}

TEST(chosen)
{
	make_manifest(ID, "\"max\":9,");
	run_on(folder, cmd_phases, NULL, NULL, NULL);
	has("sample, up to its last mark:\nAAAAABBBB\n", "--max: what comes after it is left out");
	squeeze_blanks();
	/* 500 of 500 + 4 * 300. */
	has("\nA 29.4 5 ", "and does not count");
	make_manifest(ID, "\"at\":[[1,9]],");
	run_on(folder, cmd_phases, NULL, NULL, NULL);
	has("sample, up to its last mark:\nAAAAABBBB\n", "--at");
	ok(run_on(folder, cmd_phases, "--time=1.95,1.97", NULL, NULL) == CMD_FAILURE &&
	   strstr(said, "--time: the sample has nothing then"), "nothing after it");
	make_manifest(ID, "");
}

TEST(names)
{
	char slashes[80], name[80];

	snprintf(slashes, sizeof(slashes), "%s//", folder);
	snprintf(name, sizeof(name), " -o %s-at -- ", folder);
	run_on(slashes, cmd_phases, NULL, NULL, NULL);
	has(name, "the new directory is beside the old one");
	if (chdir(folder))
		puts("Bail out! no folder");
	run_on("./", cmd_phases, NULL, NULL, NULL);
	has(" -o sample-at -- ", "of which the name may not be known");
	if (chdir("/"))
		puts("Bail out! no root");
}

TEST(json)
{
	run_on(folder, cmd_phases, "--json", "--time=1.35,1.95", NULL);
	squeeze();
	has("\"intervals\":[{\"interval\":3,\"begin_ns\":1350000000,\"end_ns\":1400000000,",
	    "numbers");
	has("{\"interval\":9,\"begin_ns\":1900000000,\"end_ns\":1950000000,\"phase\":\"B\",",
	    "of the last one, too");
}

TEST(simpoint)
{
	char option[96], name[96];
	unsigned int line;
	FILE *file;

	snprintf(option, sizeof(option), "--simpoint=%s/of", folder);
	run_on(folder, cmd_phases, "--time=1.35,1.95", "-k1", option);
	squeeze_blanks();
	has("\nA 100.0 7 5 ", "interval 5 of 3 to 9 stands for all");
	snprintf(name, sizeof(name), "%s/of.simpoints", folder);
	file = fopen(name, "r");
	ok(file && fscanf(file, "%u", &line) == 1 && line == 2, "in SimPoint's file it is line 2");
	if (file)
		fclose(file);
	unlink(name);
	snprintf(name, sizeof(name), "%s/of.bb", folder);
	unlink(name);
	snprintf(name, sizeof(name), "%s/of.weights", folder);
	unlink(name);
}

TEST(counts)
{
	run_on(folder, cmd_phases, "-k3", NULL, NULL);
	has_not("\nAAABBCCCCC\n", "the tape alone has the same in the first half");
	ok(!run_on(folder, cmd_phases, "--counts", "-k3", NULL), "--counts");
	has("\nAAABBCCCCC\n", "what other events counted tells intervals apart");
	ok(run_on(the_tape.path, cmd_phases, "--counts", NULL, NULL) == CMD_FAILURE &&
	   strstr(said, "no directory of sample"), "a tape alone has no counts");
}

TEST(tape)
{
	ok(!run_on(the_tape.path, cmd_phases, NULL, NULL, NULL), "the tape alone");
	has("\nAAAAABBBBB\n", "has the marks");
	squeeze_blanks();
	has("\nA 50.0 5 ", "without the manifest, they count the same");
	has("\nschedtape sample --at=", "and sample is told the numbers");
}

TEST(wrong)
{
	make_manifest("another", "");
	ok(run_on(folder, cmd_phases, NULL, NULL, NULL) == CMD_FAILURE &&
	   strstr(said, "of different samples"), "the tape of another sample");
	unlink(manifest);
	if (symlink("/dev/null", manifest))
		puts("Bail out! no link");
	ok(run_on(folder, cmd_phases, NULL, NULL, NULL) == CMD_FAILURE &&
	   strstr(said, "is not that of a sample"), "no manifest");
	unlink(manifest);
	unlink(tape);
	rmdir(folder);
}

TEST_MAIN_AFTER(blob_init(&the_tape))
