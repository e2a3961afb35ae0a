// SPDX-License-Identifier: GPL-2.0-only
/* Description: any memory has sessions that become valid tapes, or none. */
#include <recover/internal.h>

#include "../unit/image.h"
#include "try.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct blob blob = { .fd = -1 };
	struct image image = { .data = (unsigned char *)data, .bytes = size };
	struct memory memory = image_memory(&image);
	struct schedtape_error err;
	struct crash_tape made;
	struct found found;
	size_t load, i;

	if (blob.fd < 0)
		blob_init(&blob);
	if (found_search(&found, &memory, &err))
		abort();
	/* 0: the one that is chosen. */
	for (load = 0; load <= found.nr_loads; load++) {
		if (found_choose(&found, &memory, load, &err))
			abort();
		for (i = 0; i < found.nr_sessions; i++)
			if (!crash_tape_write(&memory, &found.sessions[i], blob.path, &made, &err))
				try_tape(blob.path);
	}
	found_free(&found);
	return 0;
}
