/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of a tape, as they are stored.
 */
#ifndef SCHEDTAPE_TAPE_RECORDS_H
#define SCHEDTAPE_TAPE_RECORDS_H

#include <xxhash.h>
#include <zstd.h>

#include "tape/bytes.h"

/**
 * struct tape_decoder - buffers and states to read records; each thread has its own
 * @buffer: a stored record
 * @columns: pages before their columns are joined
 */
struct tape_decoder {
	unsigned char *buffer;
	size_t capacity;
	unsigned char *columns;
	size_t columns_bytes;
	ZSTD_DCtx *zstd;
	XXH64_state_t *sum;
};

/**
 * struct tape_head - a record header, unpacked
 * @next: offset of the record behind it
 */
struct tape_head {
	uint64_t offset;
	uint64_t next;
	uint64_t sum;
	uint32_t extra;
	uint32_t stored;
	uint32_t raw;
	uint16_t type;
	uint16_t flags;
};

/* Returns 0 or -ENOMEM.  The caller calls tape_decoder_exit() in both cases. */
int tape_decoder_init(struct tape_decoder *decoder);
void tape_decoder_exit(struct tape_decoder *decoder);

/*
 * These return 0; -EBADMSG: the record is corrupt, for the reason @why; another -errno:
 * the file cannot be read.
 */
int tape_head_read(const struct tape_file *file, uint64_t offset, struct tape_head *head,
		   const char **why);
int tape_head_check(const struct tape_file *file, struct tape_decoder *decoder,
		    const struct tape_head *head, const char **why);
/* Reads a record into @decoder->buffer, unchanged, and checks it. */
int tape_record_read(const struct tape_file *file, struct tape_decoder *decoder,
		     const struct tape_head *head, const char **why);
/*
 * Decompresses the payload of a record in memory, whose checksum is right.  @to: room for
 * @head->raw bytes, at most TAPE_MAX_RAW.
 */
int tape_payload_unpack(struct tape_decoder *decoder, const struct tape_head *head,
			const unsigned char *record, void *to, const char **why);
/* Reads a record, and decompresses its payload. */
int tape_payload_read(const struct tape_file *file, struct tape_decoder *decoder,
		      const struct tape_head *head, void *to, const char **why);
/* Checks limits that hold for every known type.  Returns which one is exceeded, or NULL. */
const char *tape_head_limits(const struct tape_head *head);

#endif /* SCHEDTAPE_TAPE_RECORDS_H */
