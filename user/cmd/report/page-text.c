// SPDX-License-Identifier: GPL-2.0-only
#include "report/page-text.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define DEFLATE_ONLY	(-15)	/* without a header, as the page's DecompressionStream has it */
#define MEMORY		8	/* zlib's own default */

/* Writes base64, RFC 4648.  Returns the number of letters. */
static size_t write_base64(FILE *to, const unsigned char *bytes, size_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t three;
	size_t i;

	for (i = 0; i < n; i += 3) {
		three = bytes[i] << 16;
		three |= i + 1 < n ? bytes[i + 1] << 8 : 0;
		three |= i + 2 < n ? bytes[i + 2] : 0;
		putc_unlocked(letters[three >> 18], to);
		putc_unlocked(letters[three >> 12 & 63], to);
		putc_unlocked(i + 1 < n ? letters[three >> 6 & 63] : '=', to);
		putc_unlocked(i + 2 < n ? letters[three & 63] : '=', to);
	}
	return (n + 2) / 3 * 4;
}

int page_write_text(FILE *to, const unsigned char *bytes, size_t n, size_t *written)
{
	z_stream stream = { .next_in = (unsigned char *)bytes, .avail_in = n };
	unsigned char *packed = NULL;
	int rc = -ENOMEM;
	uLong room;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, DEFLATE_ONLY, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, n);
	packed = malloc(room);
	stream.next_out = packed;
	stream.avail_out = room;
	if (packed && deflate(&stream, Z_FINISH) == Z_STREAM_END) {
		*written = write_base64(to, packed, stream.total_out);
		rc = ferror(to) ? page_io_error() : 0;
	}
	deflateEnd(&stream);
	free(packed);
	return rc;
}
