// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: options of a program that is older or newer than the library: sizes FILE COPY.
 * Prints what each function returns.
 */
#include <stddef.h>
#include <stdio.h>

#include <schedtape.h>

static struct schedtape_error err;

/* The struct of a program that was built for a later version, which has one more member. */
#define LATER(type)	struct { struct schedtape_##type now; uint64_t later; }
/* The size of struct schedtape_end in an older version, where @stop_time was the last member. */
#define OLDER_END	(offsetof(struct schedtape_end, stop_time) + sizeof(uint64_t))

static void write_one(const char *path, const struct schedtape_writer_options *options,
		      const struct schedtape_end *end, const char *what)
{
	struct schedtape_writer *writer;
	int ret = schedtape_writer_create(path, "{}", options, &writer, &err);

	printf("%s: %d", what, ret);
	if (!ret) {
		printf(" %d", schedtape_writer_end(writer, end, &err));
		schedtape_writer_close(writer, NULL);
	}
	printf("\n");
}

static void write_all(const char *path)
{
	LATER(writer_options) options = { { .size = sizeof(options), .level = 1 }, 0 };
	LATER(end) later = { { .size = sizeof(later), .start_time = 1, .stop_time = 2 }, 0 };
	struct schedtape_end end = later.now;
	struct schedtape_cpu cpu = { .lost = 1 };

	write_one(path, &options.now, &later.now, "newer");
	later.later = 1;
	write_one(path, &options.now, &later.now, "newer end");
	options.later = 1;
	write_one(path, &options.now, &later.now, "newer options");
	options.now.size = 0;
	write_one(path, &options.now, &later.now, "no size");
	/* A struct of this size has no @level: the library must not read the wrong one. */
	options.now.size = sizeof(size_t);
	options.now.level = 1000;
	/* An older struct has no @cpus: the library must not read them. */
	end.size = OLDER_END;
	end.cpus = &cpu;
	end.nr_cpus = 1;
	write_one(path, &options.now, &end, "older");
}

static int born(void *arg, const struct schedtape_task *task,
		const struct schedtape_task *parent, uint64_t time)
{
	(void)task;
	(void)parent;
	(void)time;
	++*(int *)arg;
	return 0;
}

static void read_all(const char *path, const char *to)
{
	LATER(timeline_ops) ops = { { .size = sizeof(ops), .born = born }, 0 };
	LATER(copy_options) copy = { { .size = sizeof(copy) }, 0 };
	struct schedtape_timeline *timeline;
	struct schedtape_tape *tape;
	uint64_t bytes;
	int tasks = 0;

	if (schedtape_tape_open(path, &tape, &err)) {
		printf("open: %s\n", err.text);
		return;
	}
	printf("CPUs: %zu\n", schedtape_tape_end(tape)->nr_cpus);
	printf("size: %d\n", schedtape_tape_end(tape)->size == sizeof(struct schedtape_end));
	printf("newer ops: %d", schedtape_timeline_run(tape, &ops.now, &tasks, &timeline, &err));
	schedtape_timeline_free(timeline);
	ops.later = 1;
	printf(" %d\n", schedtape_timeline_run(tape, &ops.now, &tasks, &timeline, &err));
	printf("newer copy: %d", schedtape_tape_copy(tape, to, &copy.now, &bytes, &err));
	copy.later = 1;
	printf(" %d\n", schedtape_tape_copy(tape, to, &copy.now, &bytes, &err));
	copy.now.size = sizeof(size_t);
	printf("older copy: %d\n", schedtape_tape_copy(tape, to, &copy.now, &bytes, &err));
	schedtape_tape_close(tape);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	write_all(argv[1]);
	read_all(argv[1], argv[2]);
	return 0;
}
