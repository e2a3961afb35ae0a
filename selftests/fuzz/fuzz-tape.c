// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: any bytes at all open as a tape and read to their end, or are
 * refused.  Checksums would stop a fuzzer at the door, so every input is read
 * twice: as it is, and with the checksums of all that looks like a record made
 * right.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

#include "../unit/tapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(unsigned char *tape, size_t size)
{
	uint64_t at, bytes;

	if (size < 32 || get32(tape + 12) < 32 || get32(tape + 12) > size)
		return;
	seal_header(tape);
	for (at = get32(tape + 12); at + 32 <= size; at += bytes) {
		bytes = 32 + (uint64_t)get32(tape + at + 8) + get32(tape + at + 12);
		if (bytes > size - at)
			return;
		seal_record(tape + at);
		bytes = (bytes + 7) & ~7ULL;
	}
}

static void check_tasks(struct schedtape_tape *tape)
{
	const struct schedtape_task *tasks;
	unsigned int sum = 0;
	size_t n, i, k;

	tasks = schedtape_tape_tasks(tape, &n);
	for (i = 0; i < n; i++) {
		if (tasks[i].comm[STAPE_COMM_LEN - 1])
			abort();
		for (k = 0; k < tasks[i].affinity_bytes; k++)
			sum += tasks[i].affinity[k];
	}
	/* So that nobody leaves the reading out. */
	if (sum == UINT32_MAX)
		abort();
}

static void read_all(struct schedtape_tape *tape, uint64_t *events)
{
	uint64_t most = schedtape_tape_pages(tape) * 512 + 2 * schedtape_tape_chunks(tape) +
			schedtape_tape_end(tape)->nr_cpus;
	struct schedtape_error err;
	struct schedtape_event ev;
	uint64_t time = 0;
	int ret;

	for (*events = 0; *events <= 2 * most; ++*events) {
		ret = schedtape_tape_next(tape, &ev, &err);
		if (!ret)
			return;
		if (ret < 0 && ret != -EBADMSG)
			abort();
		if (ret == 1) {
			if (ev.time < time || ev.curr_kind > STAPE_NEXT_OTHER ||
			    ev.lost_first > ev.lost_last)
				abort();
			time = ev.time;
		}
	}
	abort();
}

static void try_tape(const void *data, size_t size)
{
	static struct blob blob = { .fd = -1 };
	struct schedtape_error err;
	struct schedtape_tape *tape;
	uint64_t first, again;

	if (blob.fd < 0)
		blob_init(&blob);
	blob_put(&blob, data, size);
	if (schedtape_tape_open(blob.path, &tape, &err))
		return;
	if (schedtape_tape_end(tape)->start_time > schedtape_tape_end(tape)->stop_time)
		abort();
	json_object_to_json_string(schedtape_tape_meta(tape));
	check_tasks(tape);
	read_all(tape, &first);
	schedtape_tape_rewind(tape, &err);
	read_all(tape, &again);
	if (first != again)
		abort();
	schedtape_tape_close(tape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *sealed = malloc(size + 1);

	if (!sealed)
		return 0;
	memcpy(sealed, data, size);
	try_tape(data, size);
	seal(sealed, size);
	try_tape(sealed, size);
	free(sealed);
	return 0;
}
