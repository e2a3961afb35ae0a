// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a C++ program that writes a tape and reads it again, then counts the events of
 * another one: tape FILE TAPE
 */
#include <cstdio>
#include <cstring>

#include <schedtape.h>

static schedtape_error err;

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, err.text);
	return 1;
}

static int write_tape(const char *path)
{
	schedtape_writer_options options = schedtape_writer_options();
	schedtape_task_info task = schedtape_task_info();
	schedtape_end end = schedtape_end();
	schedtape_writer *writer;

	options.size = sizeof(options);
	options.level = 1;
	task.pid = task.tgid = 7;
	strcpy(task.comm, "seven");
	end.size = sizeof(end);
	end.start_time = 1000;
	end.stop_time = 2000;
	if (schedtape_writer_create(path, "{\"arch\": \"c++\"}", &options, &writer, &err))
		return fail("create");
	if (schedtape_writer_tasks(writer, &task, 1, &err) ||
	    schedtape_writer_end(writer, &end, &err))
		return fail("write");
	return schedtape_writer_close(writer, &err) ? fail("close") : 0;
}

static int read_tape(const char *path)
{
	const schedtape_task_info *tasks;
	schedtape_tape *tape;
	size_t n;

	if (schedtape_tape_open(path, &tape, &err))
		return fail("open");
	tasks = schedtape_tape_tasks(tape, &n);
	printf("%s %zu %s %u %llu\n", schedtape_tape_meta(tape), n, tasks[0].comm, tasks[0].pid,
	       (unsigned long long)schedtape_tape_end(tape)->stop_time);
	schedtape_tape_close(tape);
	return 0;
}

static int born(void *arg, const schedtape_task *task, const schedtape_task *, uint64_t)
{
	printf("%s%s", task->index ? " " : "", task->first_comm);
	++*static_cast<int *>(arg);
	return 0;
}

static int count(const char *path)
{
	schedtape_timeline_ops ops = schedtape_timeline_ops();
	schedtape_timeline *timeline;
	schedtape_tape *tape;
	schedtape_event ev;
	int events = 0, tasks = 0, ret;

	if (schedtape_tape_open(path, &tape, &err))
		return fail("open");
	while ((ret = schedtape_tape_next(tape, &ev, &err)) > 0)
		events++;
	ops.size = sizeof(ops);
	ops.born = born;
	if (ret || schedtape_timeline_run(tape, &ops, &tasks, &timeline, &err))
		return fail("read");
	printf(": %d tasks, %d events\n", tasks, events);
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	return write_tape(argv[1]) || read_tape(argv[1]) || count(argv[2]);
}
