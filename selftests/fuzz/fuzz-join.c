// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: two tapes with any bytes are joined, or refused, and the new tape is whole. The
 * input begins with the length of the first one, 16 bits; the second one has the rest.
 */
#include <tape/joining.h>

#include "try.h"

static struct blob tapes[2] = { { .fd = -1 }, { .fd = -1 } }, joined = { .fd = -1 };

static void put_tape(struct blob *blob, const uint8_t *data, size_t size, bool sealed)
{
	/* A buffer of its own, so that the sanitizer detects an access beyond it. */
	unsigned char *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (sealed)
		seal(copy, size);
	blob_put(blob, copy, size);
	free(copy);
}

static void check_joined(void)
{
	struct schedtape_error err;
	struct schedtape_tape *tape;

	if (schedtape_tape_open(joined.path, &tape, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	if (schedtape_tape_damage(tape)) {
		fprintf(stderr, "%s\n", schedtape_tape_damage(tape));
		abort();
	}
	schedtape_tape_close(tape);
	try_tape(joined.path);
}

static void try_join(void)
{
	const char * const paths[] = { tapes[0].path, tapes[1].path };
	const struct tape_join_options options = { .fd = joined.fd };
	struct tape_join_result result;
	struct schedtape_error err;
	int ret;

	blob_put(&joined, "", 0);
	lseek(joined.fd, 0, SEEK_SET);
	ret = tape_join(paths, 2, joined.path, &options, &result, &err);
	json_object_put(result.merged);
	if (!ret)
		check_joined();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t first;
	int sealed;

	if (size < 2)
		return 0;
	if (joined.fd < 0) {
		blob_init(&tapes[0]);
		blob_init(&tapes[1]);
		blob_init(&joined);
	}
	first = data[0] | data[1] << 8;
	if (first > size - 2)
		first = size - 2;
	for (sealed = 0; sealed < 2; sealed++) {
		put_tape(&tapes[0], data + 2, first, sealed);
		put_tape(&tapes[1], data + 2 + first, size - 2 - first, sealed);
		try_join();
	}
	return 0;
}
