// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a record is stored uncompressed if compression would make it larger; and writes
 * that the kernel cuts short or interrupts are continued.
 *
 * The test defines writev(), which writes only some bytes, and sometimes fails.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

#include <sys/uio.h>

#include "tap.h"
#include "tapes.h"

#define AT_ONCE	100

static unsigned int writes;

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	int i;

	if (++writes % 3 == 0) {
		errno = EINTR;
		return -1;
	}
	for (i = 0; i < n && !iov[i].iov_len; i++)
		;
	if (i == n)
		return 0;
	return write(fd, iov[i].iov_base, iov[i].iov_len < AT_ONCE ? iov[i].iov_len : AT_ONCE);
}

int main(void)
{
	const struct schedtape_writer_options options = { .size = sizeof(options), .level = 3 };
	struct json_object *meta = json_object_new_object();
	unsigned char page[STAPE_PAGE_SIZE], *data, *chunk, *meta_record;
	struct schedtape_tape *tape;
	struct schedtape_writer *w;
	struct schedtape_error err;
	uint64_t noise = 88172645463325252ULL;
	struct maker m;
	struct blob b;
	size_t size, i;

	maker_begin(&m, page, 0, 0, 1000);
	for (i = sizeof(m.header); i < sizeof(page); i += sizeof(noise)) {
		noise ^= noise << 13;
		noise ^= noise >> 7;
		noise ^= noise << 17;
		memcpy(page + i, &noise, sizeof(noise));
	}
	blob_init(&b);
	if (tape_writer_create(b.path, meta, &options, &w, &err) ||
	    schedtape_writer_pages(w, page, 1, &err) || schedtape_writer_close(w, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	data = blob_get(&b, &size);
	ok(writes > sizeof(page) / AT_ONCE, "it takes %u writes", writes);
	meta_record = find_record(data, size, 1, 0);
	ok(get32(meta_record + 12) == 2 && !memcmp(meta_record + 32, "{}", 2),
	   "a short text is stored as it is");
	chunk = find_record(data, size, 3, 0);
	ok(get32(chunk + 12) == sizeof(page) && !chunk[6] && !chunk[7] &&
	   !memcmp(chunk + 32 + get32(chunk + 8), page, sizeof(page)),
	   "a page of noise is stored as it is");
	ok(!schedtape_tape_open(b.path, &tape, &err) && schedtape_tape_chunks(tape) == 1 &&
	   !strstr(schedtape_tape_damage(tape), "damaged"), "the tape is sound as far as it goes");
	schedtape_tape_close(tape);
	json_object_put(meta);
	free(data);
	close(b.fd);
	return tap_done();
}
