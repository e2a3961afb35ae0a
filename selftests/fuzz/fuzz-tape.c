// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: any bytes open as a tape and can be read to the end, or are refused, from a file
 * and from a pipe; and a recovered tape is complete.
 */
#include "try.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_bytes(const void *data, size_t size)
{
	static struct blob blob = { .fd = -1 };

	if (blob.fd < 0)
		blob_init(&blob);
	blob_put(&blob, data, size);
	try_tape(blob.path);
	try_pipe(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *sealed = malloc(size + 1);

	if (!sealed)
		return 0;
	memcpy(sealed, data, size);
	try_bytes(data, size);
	seal(sealed, size);
	try_bytes(sealed, size);
	free(sealed);
	return 0;
}
