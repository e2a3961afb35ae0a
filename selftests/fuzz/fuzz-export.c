// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: any tape that opens can be exported, or an error says why not.
 */
#include "export/internal.h"
#include "try.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_export(const char *path, int (*write)(struct export *export,
						      struct schedtape_error *err))
{
	static const struct selection all;
	struct schedtape_error err = { "" };
	struct export export = {
		.path = path, .selection = &all, .worst = 3,
		.copying = { .off = true, .signals = -1 },
	};

	if (schedtape_tape_open(path, &export.tape, &err))
		return;
	export.to = fopen("/dev/null", "w");
	export.start = schedtape_tape_end(export.tape)->start_time;
	if (export.to) {
		write(&export, &err);
		fclose(export.to);
	}
	schedtape_tape_close(export.tape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *sealed = malloc(size + 1);
	struct blob blob;

	if (!sealed)
		return 0;
	memcpy(sealed, data, size);
	seal(sealed, size);
	blob_init(&blob);
	blob_put(&blob, sealed, size);
	try_export(blob.path, export_perfetto);
	try_export(blob.path, export_chrome);
	close(blob.fd);
	free(sealed);
	return 0;
}
