// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One walk over the records of a file makes an index of its chunks and reads all other
 * records.  The valid records of a truncated or corrupt file are used, and tape_note()
 * records the damage.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "tape/read.h"
#include "base/error.h"

#define RESYNC_BLOCK	65536
/* Stop searching a file after so many bytes behind false record headers, by its size. */
#define RESYNC_LEAST	(1U << 26)
#define RESYNC_SHARE	4

/* -- the file header ------------------------------------------------------- */

static int header_read(const struct tape_file *file, unsigned char *bytes, uint32_t *size,
		       struct schedtape_error *err)
{
	struct tape_header header;
	ssize_t got;

	got = tape_file_read(file, bytes, TAPE_MAX_HEADER, 0);
	if (got < 0)
		return schedtape_fail(err, got, "%s: %s", file->path, strerror(-got));
	if (!got)
		return schedtape_fail(err, -EINVAL, "%s: not a schedtape tape (the file is empty)",
				      file->path);
	if (memcmp(bytes, TAPE_MAGIC, got < 8 ? got : 8))
		return schedtape_fail(err, -EINVAL, "%s: not a schedtape tape (wrong magic number)",
				      file->path);
	if ((size_t)got < sizeof(header))
		return schedtape_fail(err, -EINVAL, "%s: not a schedtape tape (cut off after %zd "
				      "bytes, within its header)", file->path, got);

	/* Check the version first, because the rest of the header may differ in other versions. */
	memcpy(&header, bytes, sizeof(header));
	if (le16toh(header.major) != TAPE_MAJOR)
		return schedtape_fail(err, -ENOTSUP, "%s: a tape of format %u.%u; libschedtape "
				      "reads format %u.x: get the one that wrote it, or a newer one",
				      file->path, le16toh(header.major), le16toh(header.minor),
				      TAPE_MAJOR);
	*size = le32toh(header.size);
	if (*size < sizeof(header) || *size > got || *size % TAPE_ALIGN)
		return schedtape_fail(err, -EBADMSG, "%s: the tape's header is damaged",
				      file->path);
	return 0;
}

static int header_check(struct tape_file *file, struct schedtape_error *err)
{
	unsigned char bytes[TAPE_MAX_HEADER];
	struct tape_header header;
	int ret;

	ret = header_read(file, bytes, &file->header, err);
	if (ret)
		return ret;
	memcpy(&header, bytes, sizeof(header));
	memset(bytes + offsetof(struct tape_header, sum), 0, sizeof(header.sum));
	if (XXH64(bytes, file->header, 0) != le64toh(header.sum))
		return schedtape_fail(err, -EBADMSG, "%s: the tape's header is damaged "
				      "(wrong checksum)", file->path);
	return 0;
}

/* -- records --------------------------------------------------------------- */

static int tape_keep_block(struct schedtape_tape *tape, unsigned char *block)
{
	unsigned char **blocks;

	blocks = reallocarray(tape->blocks, tape->nr_blocks + 1, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	tape->blocks = blocks;
	blocks[tape->nr_blocks++] = block;
	return 0;
}

/* Reads a payload.  Sets *@raw to NULL if the tape keeps it, because affinities point to it. */
static int content_take(struct schedtape_tape *tape, struct tape_file *file, unsigned int type,
			unsigned char **raw, size_t bytes)
{
	int ret;

	switch (type) {
	case TAPE_META:
		return tape_content_meta(tape, file, (const char *)*raw, bytes);
	case TAPE_PLAYERS:
		return tape_content_players(tape, *raw, bytes);
	case TAPE_CLOCK:
		return tape_content_clock(tape, *raw, bytes);
	case TAPE_SCHEDULER:
		return tape_content_scheduler(tape, (const char *)*raw, bytes);
	case TAPE_END:
		ret = tape_content_end(tape, (const char *)*raw, bytes);
		file->ended = file->ended || !ret;
		return ret;
	}
	ret = tape_content_tasks(tape, *raw, bytes);
	/* If tape_keep_block() fails, the tape is closed, and its tasks are not used. */
	if (!ret)
		ret = tape_keep_block(tape, *raw);
	if (!ret)
		*raw = NULL;
	return ret;
}

static int record_content(struct schedtape_tape *tape, struct tape_file *file,
			  const struct tape_head *head, const char **why)
{
	unsigned char *raw;
	int ret;

	*why = tape_head_limits(head);
	if (*why)
		return -EBADMSG;
	*why = "with it, descriptions would be larger than a tape of this size has them";
	tape->content += head->raw;
	if (tape->content > tape_room(schedtape_tape_bytes(tape) + file->size))
		return -EBADMSG;
	raw = malloc(head->raw + 1);
	if (!raw)
		return -ENOMEM;
	ret = tape_payload_read(file, &tape->decoder, head, raw, why);
	if (!ret) {
		*why = "its content is impossible";
		ret = content_take(tape, file, head->type, &raw, head->raw);
	}
	free(raw);
	return ret;
}

/* Takes a record whose checksum is right. */
static int tape_record(struct schedtape_tape *tape, struct tape_file *file,
		       const struct tape_head *head, const char **why)
{
	int ret = 0;

	switch (head->type) {
	case TAPE_CHUNK:
	case TAPE_DESCRIPTIONS:
		return tape_index_chunk(tape, file, head, false, why);
	case TAPE_META:
	case TAPE_TASKS:
	case TAPE_PLAYERS:
	case TAPE_CLOCK:
	case TAPE_SCHEDULER:
	case TAPE_END:
		ret = record_content(tape, file, head, why);
		break;
	}
	/* Other types are of a later version, and not needed. */
	return ret ? ret : tape_index_other(tape, file, head);
}

static const char *type_name(unsigned int type)
{
	switch (type) {
	case TAPE_META:
		return "META record";
	case TAPE_TASKS:
		return "TASKS record";
	case TAPE_PLAYERS:
		return "PLAYERS record";
	case TAPE_CHUNK:
		return "chunk";
	case TAPE_DESCRIPTIONS:
		return "chunk of descriptions";
	case TAPE_CLOCK:
		return "CLOCK record";
	case TAPE_SCHEDULER:
		return "SCHEDULER record";
	case TAPE_END:
		return "end record";
	default:
		return "record";
	}
}

/* -- the walk -------------------------------------------------------------- */

/*
 * Returns 1: a valid record begins at @offset; 0: none does; -errno.  Adds the bytes that it
 * reads to @tried.
 */
static int resync_try(struct schedtape_tape *tape, const struct tape_file *file,
		      uint64_t offset, uint64_t *tried)
{
	struct tape_head head;
	const char *why;
	int ret;

	ret = tape_head_read(file, offset, &head, &why);
	if (!ret && head.type >= TAPE_META && head.type <= TAPE_DESCRIPTIONS &&
	    tape_head_limits(&head))
		return 0;
	if (!ret) {
		*tried += head.next - offset;
		ret = tape_head_check(file, &tape->decoder, &head, &why);
	}
	if (!ret)
		return 1;
	return ret == -EBADMSG ? 0 : ret;
}

/*
 * Finds the next valid record after a corrupt one at @offset; the file's size if there is
 * none.  Does not use the length in the corrupt header, because it may be wrong.
 */
static int tape_resync(struct schedtape_tape *tape, const struct tape_file *file,
		       uint64_t offset, uint64_t *tried, uint64_t *next)
{
	unsigned char *block;
	ssize_t got, i;
	int ret = 0;

	block = malloc(RESYNC_BLOCK);
	if (!block)
		return -ENOMEM;

	*next = file->size;
	for (offset += TAPE_ALIGN; offset < file->size; offset += RESYNC_BLOCK) {
		got = tape_file_read(file, block, RESYNC_BLOCK, offset);
		if (got < 0) {
			ret = got;
			goto out;
		}
		for (i = 0; i + TAPE_ALIGN <= got; i += TAPE_ALIGN) {
			if (memcmp(block + i, TAPE_RECORD_MAGIC, strlen(TAPE_RECORD_MAGIC)))
				continue;
			ret = resync_try(tape, file, offset + i, tried);
			if (ret > 0)
				*next = offset + i;
			if (ret || *tried > RESYNC_LEAST + RESYNC_SHARE * file->size)
				goto out;
		}
	}
out:
	free(block);
	return ret < 0 ? ret : 0;
}

/*
 * Notes that @bytes at @offset are corrupt.  The header of a chunk, if there is one, goes into
 * the index.
 */
static int walk_damage(struct schedtape_tape *tape, const struct tape_file *file,
		       const struct tape_head *head, const char *why, uint64_t offset,
		       uint64_t bytes)
{
	int ret = 0;

	if (!head) {
		tape_note(tape, "%sbyte %" PRIu64 ": %s (%" PRIu64 " bytes are missed)",
			  file->name, offset, why, bytes);
		return 0;
	}
	tape_note(tape, "%sbyte %" PRIu64 ": damaged %s: %s", file->name, offset,
		  type_name(head->type), why);
	if (tape_type_has_pages(head->type))
		ret = tape_index_chunk(tape, file, head, true, &why);
	return ret == -EBADMSG ? 0 : ret;
}

/*
 * Uses a record, and its length, only after its checksum was found right.  So the whole file
 * is read once, and damage affects only the record that it is in.
 */
static int tape_walk(struct schedtape_tape *tape, struct tape_file *file,
		     struct schedtape_error *err)
{
	uint64_t offset, next, tried = 0;
	struct tape_head head;
	const char *why;
	bool whole;
	int ret;

	for (offset = file->header; offset < file->size; offset = next) {
		ret = tape_head_read(file, offset, &head, &why);
		whole = !ret;
		if (whole)
			ret = tape_head_check(file, &tape->decoder, &head, &why);
		if (ret == -EBADMSG) {
			ret = tape_resync(tape, file, offset, &tried, &next);
			if (!ret)
				ret = walk_damage(tape, file, whole ? &head : NULL, why, offset,
						  next - offset);
			if (ret)
				goto err_read;
			continue;
		}
		if (ret)
			goto err_read;

		next = head.next;
		ret = tape_record(tape, file, &head, &why);
		if (ret == -EBADMSG)
			tape_note(tape, "%sbyte %" PRIu64 ": damaged %s: %s", file->name, offset,
				  type_name(head.type), why);
		else if (ret)
			goto err_read;
	}
	if (!file->described)
		tape_note(tape, "%sthere is no valid META record", file->name);
	if (!file->ended) {
		tape_note(tape, "%s%sno end record until byte %" PRIu64, file->name,
			  tape->unfinished ? "" : "the recording was not finished, or still runs: ",
			  offset);
		tape->unfinished = true;
	}
	return 0;

err_read:
	return schedtape_fail(err, ret, "%s: byte %" PRIu64 ": %s", file->path, offset,
			      ret == -ESTALE ? "of another recording" : strerror(-ret));
}

int tape_walk_file(struct schedtape_tape *tape, const char *path, const char *name,
		   struct schedtape_error *err)
{
	struct tape_file *file, *files;
	struct schedtape_tape before = *tape;
	int ret;

	files = reallocarray(tape->files, tape->nr_files + 1, sizeof(*files));
	if (!files)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	tape->files = files;
	file = &files[tape->nr_files];
	*file = (struct tape_file) { .stream = name && strcmp(name, TAPE_MAIN_FILE) };
	if (name)
		snprintf(file->name, sizeof(file->name), "%s: ", name);

	ret = tape_file_open(file, path, err);
	if (!ret)
		ret = header_check(file, err);
	if (!ret)
		ret = tape_walk(tape, file, err);
	if (!ret) {
		tape->nr_files++;
		return 0;
	}
	/* Remove the file's entries.  Lists that have grown keep their memory. */
	tape->nr_index = before.nr_index;
	tape->nr_others = before.nr_others;
	tape->content = before.content;
	tape->nr_tasks = before.nr_tasks;
	tape->nr_players = before.nr_players;
	tape->clocks.nr_samples = before.clocks.nr_samples;
	tape->nr_schedulers = before.nr_schedulers;
	tape->nr_cpus = before.nr_cpus;
	tape->ended = before.ended;
	tape->window = before.window;
	if (!before.meta) {
		json_object_put(tape->meta);
		tape->meta = NULL;
	}
	if (!before.recording) {
		free(tape->recording);
		tape->recording = NULL;
	}
	tape_file_close(file);
	return ret;
}
