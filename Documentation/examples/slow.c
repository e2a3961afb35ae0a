// SPDX-License-Identifier: GPL-2.0-only
/*
 * slow - load slow.bpf.o, and pin its ring buffer, until it is interrupted
 *
 *	cc slow.c -o slow -lbpf
 *	sudo ./slow slow.bpf.o /sys/fs/bpf/slow
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

static void stop(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 3 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_map *map = object ? bpf_object__find_map_by_name(object, "slow") : NULL;
	struct bpf_program *program;

	if (!map || bpf_map__set_pin_path(map, argv[2]) || bpf_object__load(object)) {
		fprintf(stderr, "usage: %s FILE.bpf.o PATH\n", argv[0]);
		return 1;
	}
	bpf_object__for_each_program(program, object) {
		if (!bpf_program__attach(program)) {
			perror(bpf_program__name(program));
			return 1;
		}
	}
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = stop }, NULL);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = stop }, NULL);
	puts("ready");
	fflush(stdout);
	pause();
	unlink(argv[2]);
	return 0;
}
