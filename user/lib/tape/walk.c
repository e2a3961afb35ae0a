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

#include "base/error.h"
#include "tape/bytes.h"
#include "tape/cgroups.h"
#include "tape/content.h"
#include "tape/format.h"
#include "tape/formats.h"
#include "tape/groups.h"
#include "tape/index.h"
#include "tape/records.h"
#include "tape/tape.h"
#include "tape/walk.h"

/* Stop searching a file after so many bytes behind false record headers, by its size. */
#define RESYNC_LEAST	(1U << 26)
#define RESYNC_SHARE	4

/* -- the file header ------------------------------------------------------- */

static int header_read(const struct tape_file *file, unsigned char *bytes, uint32_t *size,
		       struct schedtape_error *err)
{
	struct tape_header header;
	ssize_t got;

	got = tape_file_read(file, bytes, sizeof(header), 0);
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
	if (*size >= sizeof(header) && *size <= TAPE_MAX_HEADER && !(*size % TAPE_ALIGN))
		got = tape_file_read(file, bytes, *size, 0);
	else
		got = 0;
	if (got == (ssize_t)*size)
		return 0;
	return got < 0 ? schedtape_fail(err, got, "%s: %s", file->path, strerror(-got)) :
			 schedtape_fail(err, -EBADMSG, "%s: the tape's header is damaged",
					file->path);
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
	file->minor = le16toh(header.minor);
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
static int content_take(struct schedtape_tape *tape, struct tape_file *file,
			const struct tape_head *head, unsigned char **raw)
{
	size_t bytes = head->raw;
	int ret;

	switch (head->type) {
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
	case TAPE_PROGRESS:
		return tape_content_progress(tape, *raw, bytes, head->offset);
	case TAPE_CGROUPS:
		return tape_content_cgroups(tape, (const char *)*raw, bytes);
	case TAPE_GROUPS:
		return tape_content_groups(tape, *raw, bytes);
	case TAPE_FORMATS:
		return tape_content_formats(tape, (const char *)*raw, bytes);
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
	if (tape->content > tape_room(schedtape_tape_bytes(tape) + tape_file_bytes(file)))
		return -EBADMSG;
	raw = malloc(head->raw + 1);
	if (!raw)
		return -ENOMEM;
	ret = tape_payload_read(file, &tape->decoder, head, raw, why);
	if (!ret) {
		*why = "its content is impossible";
		ret = content_take(tape, file, head, &raw);
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
	case TAPE_PROGRESS:
	case TAPE_CGROUPS:
	case TAPE_GROUPS:
	case TAPE_FORMATS:
		ret = record_content(tape, file, head, why);
		break;
	}
	/* samples.c reads SAMPLES.  Other types are of a later version, and not needed. */
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
	case TAPE_PROGRESS:
		return "PROGRESS record";
	case TAPE_CGROUPS:
		return "CGROUPS record";
	case TAPE_GROUPS:
		return "GROUPS record";
	case TAPE_FORMATS:
		return "FORMATS record";
	case TAPE_SAMPLES:
		return "SAMPLES record";
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
	if (!ret && head.type >= TAPE_META && head.type <= TAPE_KNOWN_TYPES &&
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
 * Looks for a valid record in a block at @offset.  Returns 1, with its place in @next; 0: there
 * is none; -EFBIG: too much has been tried; another -errno.
 */
static int resync_block(struct schedtape_tape *tape, const struct tape_file *file,
			unsigned char *block, uint64_t offset, uint64_t *tried, uint64_t *next)
{
	ssize_t got, i;
	int ret;

	got = tape_file_read(file, block, TAPE_BLOCK, offset);
	if (got < 0)
		return got;
	for (i = 0; i + TAPE_ALIGN <= got; i += TAPE_ALIGN) {
		if (memcmp(block + i, TAPE_RECORD_MAGIC, strlen(TAPE_RECORD_MAGIC)))
			continue;
		ret = resync_try(tape, file, offset + i, tried);
		if (ret > 0)
			*next = offset + i;
		if (ret)
			return ret;
		if (*tried > RESYNC_LEAST + RESYNC_SHARE * tape_file_bytes(file))
			return -EFBIG;
	}
	return 0;
}

/*
 * Finds the next valid record after a corrupt one at @offset; the file's size if there is
 * none.  Does not use the length in the corrupt header, because it may be wrong.
 */
static int tape_resync(struct schedtape_tape *tape, const struct tape_file *file,
		       uint64_t offset, uint64_t *tried, uint64_t *next)
{
	unsigned char *block;
	int ret = 0;

	block = malloc(TAPE_BLOCK);
	if (!block)
		return -ENOMEM;
	for (offset += TAPE_ALIGN; !ret && offset < tape_file_size(file); offset += TAPE_BLOCK) {
		tape_file_drop(file, offset);
		ret = resync_block(tape, file, block, offset, tried, next);
	}
	if (ret == -EFBIG)
		tape_file_stop(file);
	if (!ret || ret == -EFBIG)
		*next = tape_file_size(file);
	free(block);
	return ret < 0 && ret != -EFBIG ? ret : 0;
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
	/* Of a pipe it is gone.  The next chunk of the CPU shows that one is missing. */
	if (tape_type_has_pages(head->type) && !file->pipe)
		ret = tape_index_chunk(tape, file, head, true, &why);
	return ret == -EBADMSG ? 0 : ret;
}

/* Notes a corrupt record at the file's offset, and goes on to the next valid one. */
static int walk_over(struct schedtape_tape *tape, struct tape_file *file,
		     const struct tape_head *head, const char *why)
{
	uint64_t next = 0;
	int ret;

	ret = tape_resync(tape, file, file->offset, &file->tried, &next);
	if (!ret)
		ret = walk_damage(tape, file, head, why, file->offset, next - file->offset);
	if (!ret)
		file->offset = next;
	return ret;
}

/*
 * Uses a record, and its length, only after its checksum was found right.  So the whole file
 * is read once, and damage affects only the record that it is in.
 */
static int walk_record(struct schedtape_tape *tape, struct tape_file *file)
{
	struct tape_head head;
	const char *why;
	bool whole;
	int ret;

	ret = tape_head_read(file, file->offset, &head, &why);
	whole = !ret;
	if (whole)
		ret = tape_head_check(file, &tape->decoder, &head, &why);
	if (ret == -EBADMSG)
		return walk_over(tape, file, whole ? &head : NULL, why);
	if (ret)
		return ret;

	ret = tape_record(tape, file, &head, &why);
	if (ret == -EBADMSG)
		tape_note(tape, "%sbyte %" PRIu64 ": damaged %s: %s", file->name, file->offset,
			  type_name(head.type), why);
	else if (ret)
		return ret;
	file->offset = head.next;
	return 0;
}

static void walk_end(struct schedtape_tape *tape, const struct tape_file *file)
{
	if (!file->described)
		tape_note(tape, "%sthere is no valid META record", file->name);
	if (!file->ended) {
		tape_note(tape, "%s%sno end record until byte %" PRIu64, file->name,
			  tape->unfinished ? "" : "the recording was not finished, or still runs: ",
			  file->offset);
		tape->unfinished = true;
	}
}

int tape_walk_next(struct schedtape_tape *tape, struct tape_file *file,
		   struct schedtape_error *err)
{
	int ret;

	tape_file_drop(file, file->offset);
	ret = tape_file_reach(file, file->offset, 1);
	if (!ret && file->offset >= tape_file_size(file)) {
		walk_end(tape, file);
		return 0;
	}
	if (!ret)
		ret = walk_record(tape, file);
	return ret ? schedtape_fail(err, ret, "%s: byte %" PRIu64 ": %s", file->path, file->offset,
				    ret == -ESTALE ? "of another recording" : strerror(-ret)) : 1;
}

static int walk_all(struct schedtape_tape *tape, struct tape_file *file,
		    struct schedtape_error *err)
{
	int ret;

	do {
		ret = tape_walk_next(tape, file, err);
	} while (ret > 0);
	return ret;
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
	*file = (struct tape_file) {
		.interrupt = &tape->interrupt,
		.stream = name && strcmp(name, TAPE_MAIN_FILE),
	};
	if (name)
		snprintf(file->name, sizeof(file->name), "%s: ", name);

	ret = tape_file_open(file, path, tape->once, err);
	if (!ret)
		ret = header_check(file, err);
	if (!ret)
		file->offset = file->header;
	if (!ret && !file->pipe)
		ret = walk_all(tape, file, err);
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
	tape->nr_groups = before.nr_groups;
	tape->clocks.nr_samples = before.clocks.nr_samples;
	tape->nr_schedulers = before.nr_schedulers;
	tape_cgroups_forget(tape, before.nr_cgroups);
	tape_formats_forget(tape, before.nr_formats);
	tape->nr_cpus = before.nr_cpus;
	tape->ended = before.ended;
	tape->begun = before.begun;
	tape->window = before.window;
	if (!before.meta) {
		json_object_put(tape->meta);
		tape->meta = NULL;
	}
	if (!before.end_players) {
		json_object_put(tape->end_players);
		tape->end_players = NULL;
	}
	if (!before.recording) {
		free(tape->recording);
		tape->recording = NULL;
	}
	tape_file_close(file);
	return ret;
}
