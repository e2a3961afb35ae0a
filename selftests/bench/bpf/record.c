// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest recorder with BPF: loads events.bpf.o, and every 10 ms appends the content of
 * its ring to a file, until it gets a SIGINT.
 *
 *	bpf-record OBJECT FILE RING-BYTES
 *
 * Prints "ready", and at the end the number of lost events.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t over;

static void on_signal(int signal)
{
	over = signal;
}

static int append(void *file, void *data, size_t size)
{
	fwrite(data, size, 1, file);
	return 0;
}

static struct bpf_object *load(const char *path, size_t ring_bytes)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	struct bpf_map *ring;

	if (!object)
		err(1, "%s", path);
	ring = bpf_object__find_map_by_name(object, "ring");
	if (bpf_map__set_max_entries(ring, ring_bytes) || bpf_object__load(object))
		err(1, "%s: cannot load it", path);
	bpf_object__for_each_program(program, object)
		if (!bpf_program__attach(program))
			err(1, "%s", bpf_program__name(program));
	return object;
}

/* libbpf makes a map of one element for the program's only variable. */
static unsigned long long lost(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".bss");
	unsigned long long value = 0;
	int zero = 0;

	if (!map || bpf_map_lookup_elem(bpf_map__fd(map), &zero, &value))
		err(1, "cannot read the number of lost events");
	return value;
}

int main(int argc, char **argv)
{
	static const struct timespec pause = { .tv_nsec = 10000000 };
	struct sigaction action = { .sa_handler = on_signal };
	struct bpf_object *object;
	struct ring_buffer *ring;
	FILE *file;

	if (argc != 4)
		errx(2, "usage: %s OBJECT FILE RING-BYTES", argv[0]);
	sigaction(SIGINT, &action, NULL);
	file = fopen(argv[2], "w");
	if (!file)
		err(1, "%s", argv[2]);
	object = load(argv[1], strtoul(argv[3], NULL, 0));
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), append, file,
				NULL);
	if (!ring)
		err(1, "cannot read the ring");
	puts("ready");
	fflush(stdout);
	while (!over) {
		nanosleep(&pause, NULL);
		ring_buffer__consume(ring);
	}
	if (fclose(file))
		err(1, "%s", argv[2]);
	printf("lost=%llu\n", lost(object));
	return 0;
}
