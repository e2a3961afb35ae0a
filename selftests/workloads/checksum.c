// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: always the same work, of which it prints a checksum in the end, with the same exit
 * status, 3.  With CHILDREN it is done by a pipeline of so many processes.  Each step writes a line
 * of FILE and a page of memory, which the checksum includes.
 */
#include "work.h"

#define STEPS	60
#define ROUNDS	2000000
#define PAGE	4096

static uint64_t compute(uint64_t x)
{
	int i;

	/* Xorshift, Marsaglia, 2003. */
	for (i = 0; i < ROUNDS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

/*
 * Starts a process that computes between @from and the returned descriptor.  @first: where the
 * pipeline begins, which only this process may have open
 */
static int start_child(int from, int first)
{
	int to[2];
	uint64_t x;
	pid_t pid;

	if (pipe(to))
		err(1, "pipe");
	pid = work_fork();
	if (pid) {
		close(from);
		close(to[1]);
		return to[0];
	}
	close(to[0]);
	close(first);
	while (read(from, &x, sizeof(x)) == sizeof(x)) {
		x = compute(x);
		if (write(to[1], &x, sizeof(x)) != sizeof(x))
			break;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long children = work_arg(argc, argv, 1, 0, 16, "CHILDREN [FILE]"), i;
	FILE *file = argc > 2 ? fopen(argv[2], "w+") : tmpfile();
	static uint64_t pages[STEPS][PAGE / sizeof(uint64_t)];
	uint64_t x = 88172645463325252;
	int in, out = -1, ends[2], c;

	if (!file)
		err(1, "%s", argc > 2 ? argv[2] : "tmpfile");
	if (children) {
		if (pipe(ends))
			err(1, "pipe");
		out = ends[1];
	}
	in = children ? ends[0] : -1;
	for (i = 0; i < children; i++)
		in = start_child(in, out);
	for (i = 0; i < STEPS; i++) {
		x = compute(x);
		if (children && (write(out, &x, sizeof(x)) != sizeof(x) ||
				 read(in, &x, sizeof(x)) != sizeof(x)))
			errx(1, "a child has ended");
		pages[i][0] = x;
		fprintf(file, "%ld %llx\n", i, (unsigned long long)x);
		fflush(file);
	}
	if (children)
		close(out);
	while (children-- > 0)
		wait(NULL);
	rewind(file);
	while ((c = getc(file)) != EOF)
		x = 31 * x + c;
	for (i = 0; i < STEPS; i++)
		x = 31 * x + pages[i][0];
	printf("sum=%llx\n", (unsigned long long)x);
	return 3;
}
