/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tape on disk; not part of the library's interface.
 * Documentation/tape-format.rst is the manual of this file.
 *
 *  +-------------+------+-------+-----------+---------+-------+-------+     +-------+-----+
 *  | file header | META | CLOCK | SCHEDULER | CGROUPS | TASKS | CHUNK | ... | CLOCK | END |
 *  +-------------+------+-------+-----------+---------+-------+-------+     +-------+-----+
 *
 *  A record:
 *  +---------------+----------------+---------------------+---------------+
 *  | record header | extra: by type | payload, maybe zstd | zeros up to 8 |
 *  +---------------+----------------+---------------------+---------------+
 *  |<------------- checksum over all of this ------------>|
 *
 * All numbers are little-endian, except inside of ring pages.
 *
 * A tape may also be a directory: the file "data" with all but the chunks, and
 * "data.0", "data.1", ..., one for every thread that wrote chunks.
 */
#ifndef SCHEDTAPE_TAPE_FORMAT_H
#define SCHEDTAPE_TAPE_FORMAT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <linux/types.h>

#include <schedtape.h>

#define TAPE_MAGIC		"SCHEDTAP"
#define TAPE_MAJOR		2
#define TAPE_MINOR		14
#define TAPE_MINOR_MERGED	9	/* the first one with the member "merged" of META */
#define TAPE_MINOR_IDLE		11	/* the first one with idle times of CPUs */

#define TAPE_BIG_ENDIAN		0x0001	/* file flag: the ring pages are big-endian */

#define TAPE_RECORD_MAGIC	"STrc"
#define TAPE_ALIGN		8
#define TAPE_BLOCK		65536		/* bytes that a search for records looks at */

/* Limits of the format, so that a reader's memory has a bound. */
#define TAPE_MAX_PAGES		1024	/* in a chunk */
/* Of any known payload. */
#define TAPE_MAX_RAW		(TAPE_MAX_PAGES * (size_t)STAPE_PAGE_SIZE)
#define TAPE_MAX_EXTRA		4096	/* of any known type */
#define TAPE_MAX_HEADER		4096
/* Of any known type, if its payload was compressed with ZSTD_compressBound(). */
#define TAPE_MAX_RECORD		(sizeof(struct tape_record) + TAPE_MAX_EXTRA + TAPE_MAX_RAW + \
				 TAPE_MAX_RAW / 256 + 64)
#define TAPE_MAX_CPUS		16384		/* twice as many as any kernel has */
#define TAPE_MAX_LISTS		65536		/* objects and arrays of a JSON payload */
#define TAPE_MAX_COMMAS		(1U << 18)	/* between members and elements of these */
#define TAPE_MAX_TASKS		(1U << STAPE_PID_BITS)	/* of all TASKS records together */
#define TAPE_MAX_PLAYERS	TAPE_MAX_TASKS	/* of all PLAYERS records together */
#define TAPE_MAX_CLOCKS		(1U << 22)	/* of all CLOCK records together */
#define TAPE_MAX_SCHEDULERS	(1U << 20)	/* of all SCHEDULER records together */
#define TAPE_MAX_CGROUPS	(1U << 18)	/* entries of all CGROUPS records together */
#define TAPE_MAX_FORMATS	65536		/* of all FORMATS records together */
#define TAPE_MAX_POINT_NAME	100		/* bytes of a tracepoint's system or name */
#define TAPE_MAX_STREAMS	65536		/* of a directory */

/* Limits of a task's attributes.  Unknown policies are valid: later kernels may have more. */
#define TAPE_MAX_POLICY		UINT8_MAX
#define TAPE_MIN_NICE		(-20)
#define TAPE_MAX_NICE		19
#define TAPE_MAX_RT_PRIORITY	99
#define TAPE_MAX_CLAMP		1024

/* Would the kernel take these utilization clamps, STAPE_CLAMP_*? */
static inline bool tape_clamps_are_possible(uint64_t clamps)
{
	uint64_t min = clamps >> STAPE_CLAMP_MIN_SHIFT & STAPE_CLAMP_MASK;
	uint64_t max = clamps >> STAPE_CLAMP_MAX_SHIFT;

	/* Each is 1 higher than what was set. */
	return min <= TAPE_MAX_CLAMP + 1 && max <= TAPE_MAX_CLAMP + 1 &&
	       (!max || min <= max);
}

/*
 * Limits the memory for the content of all records, or for the chunks of all CPUs, by the
 * size of the file, because a small corrupt tape must not need much memory.
 */
#define TAPE_LEAST_ROOM		(1U << 24)
#define TAPE_ROOM_FACTOR	64

static inline uint64_t tape_room(uint64_t file_bytes)
{
	return TAPE_LEAST_ROOM + TAPE_ROOM_FACTOR * file_bytes;
}

#define TAPE_MAIN_FILE		"data"		/* in a directory */

enum tape_type {
	TAPE_META = 1,
	TAPE_TASKS = 2,
	TAPE_CHUNK = 3,
	TAPE_END = 4,
	TAPE_CLOCK = 5,
	TAPE_SCHEDULER = 6,
	TAPE_PLAYERS = 7,
	TAPE_DESCRIPTIONS = 8,	/* as TAPE_CHUNK, of STAPE_CPU_NONE */
	TAPE_PROGRESS = 9,
	TAPE_CGROUPS = 10,
	TAPE_FORMATS = 11,
	TAPE_SAMPLES = 12,
	TAPE_GROUPS = 13,
};

#define TAPE_KNOWN_TYPES	TAPE_GROUPS	/* from 1 to this one */

/* Returns true for records with ring pages. */
static inline bool tape_type_has_pages(unsigned int type)
{
	return type == TAPE_CHUNK || type == TAPE_DESCRIPTIONS;
}

#define TAPE_ZSTD		0x0001	/* record flag: the payload is zstd frames */
#define TAPE_BY_COLUMNS		0x0002	/* and decompressed, its words are by columns */
#define TAPE_KNOWN_FLAGS	(TAPE_ZSTD | TAPE_BY_COLUMNS)

struct tape_header {
	char magic[8];
	__le16 major;
	__le16 minor;
	__le32 size;
	__le32 flags;
	__le32 reserved;
	__le64 sum;
};

struct tape_record {
	char magic[4];
	__le16 type;
	__le16 flags;
	__le32 extra;
	__le32 stored;
	__le32 raw;
	__le32 reserved;
	__le64 sum;
};

/* The extra of a CHUNK and of DESCRIPTIONS. */
struct tape_chunk {
	__le32 cpu;
	__le32 pages;
	__le64 seq;
	__le64 time;
	__le64 end;
	__le64 events;
	__le64 lost;
};

/* An entry of a TASKS payload; the affinity begins at @fixed, then zeros up to @size. */
struct tape_task {
	__le32 size;
	__le32 fixed;
	__le64 time;
	__le64 start_time;
	__le64 cpu_time;
	__le32 pid;
	__le32 tgid;
	__le32 ppid;
	__le32 ns_pid;
	__le32 cpu;
	__le32 state;
	__le32 policy;
	__le32 nice;
	__le32 rt_priority;
	__le32 affinity_bytes;
	char comm[STAPE_COMM_LEN];
	__le64 cgroup;
	/* Since 2.1. */
	__le64 dl_runtime;
	__le64 dl_deadline;
	__le64 dl_period;
};

#define TAPE_TASK_LEAST		offsetof(struct tape_task, dl_runtime)

/* An entry of a CLOCK payload. */
struct tape_clock {
	__le32 size;
	__le32 flags;
	__le32 khz;
	__le32 reserved;
	__le64 counter;
	__le64 mono;
	__le64 boot;
	__le64 real;
};

#define TAPE_CLOCK_UNSTABLE	0x0001

/* An entry of a PLAYERS payload. */
struct tape_player {
	__le32 size;
	__le32 pid;
	__le32 task_pid;
	__le32 reserved;
	__le64 time;
	__le64 task_start;
};

/* An entry of a GROUPS payload. */
struct tape_group {
	__le32 size;
	__le32 pid;
	__le64 time;
	__le64 start_time;
	__le32 autogroup;
	__le32 nice;
	__le32 core;
	__le32 reserved;
};

/* The payload of a PROGRESS record. */
struct tape_progress {
	__le64 offset;
	__le64 time;
	__le64 start_time;
	__le64 window_start;
};

/* The extra of SAMPLES. */
struct tape_samples {
	__le32 cpu;
	__le32 samples;
	__le64 time;
	__le64 end;
	__le64 lost;
	/* Since 2.13. */
	__le64 dropped;
};

#define TAPE_SAMPLES_LEAST	offsetof(struct tape_samples, dropped)

/* An entry of SAMPLES; @bytes of the tracepoint's own data follow, then zeros up to @size. */
struct tape_sample {
	__le32 size;
	__le32 bytes;
	__le32 pid;
	__le32 tid;
	__le64 time;
	__le64 lost;
};

_Static_assert(sizeof(struct tape_header) == 32, "no hidden padding");
_Static_assert(sizeof(struct tape_record) == 32, "no hidden padding");
_Static_assert(sizeof(struct tape_chunk) == 48, "no hidden padding");
_Static_assert(sizeof(struct tape_task) == 120, "no hidden padding");
_Static_assert(sizeof(struct tape_player) == 32, "no hidden padding");
_Static_assert(sizeof(struct tape_group) == 40, "no hidden padding");
_Static_assert(sizeof(struct tape_clock) == 48, "no hidden padding");
_Static_assert(sizeof(struct tape_progress) == 32, "no hidden padding");
_Static_assert(sizeof(struct tape_samples) == 40, "no hidden padding");
_Static_assert(sizeof(struct tape_sample) == 32, "no hidden padding");
_Static_assert(sizeof(struct stape_page_header) % TAPE_ALIGN == 0, "pages keep the alignment");
_Static_assert(sizeof(off_t) == 8, "tapes grow beyond 2 GiB: build with _FILE_OFFSET_BITS=64");

static inline size_t tape_padding(uint64_t bytes)
{
	return -bytes & (TAPE_ALIGN - 1);
}

/*
 * Copies the entry at @raw to @entry.  @bytes: what is left of the payload.  @size: of an entry in
 * this version, whose first member is its size on the tape (__le32).  Bytes that later versions
 * append are not copied.  Returns the size on the tape, behind which the next entry is; 0: the
 * entry is not valid.
 */
static inline uint32_t tape_entry_get(void *entry, size_t size, const unsigned char *raw,
				      size_t bytes)
{
	uint32_t own;

	if (bytes < size)
		return 0;
	memcpy(entry, raw, size);
	memcpy(&own, raw, sizeof(own));
	own = le32toh(own);
	return own < size || own > bytes ? 0 : own;
}

#endif /* SCHEDTAPE_TAPE_FORMAT_H */
