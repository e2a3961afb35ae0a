/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tape that may be of "schedtape sample": the ends of its intervals, and what the manifest in its
 * directory says of them.
 */
#ifndef SCHEDTAPE_SAMPLED_H
#define SCHEDTAPE_SAMPLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

struct json_object;

#define SAMPLED_NONE	UINT64_MAX	/* a count that is not known */

/**
 * struct sampled_end - the end of an interval
 * @time: ns of the tape's clock
 * @number: of the interval, from 1 on
 * @count: what its event has counted since the start
 */
struct sampled_end {
	uint64_t time;
	uint64_t number;
	uint64_t count;
};

/**
 * struct sampled - a tape, alone or in the directory of a sample
 * @path: of the directory or the tape, as it was given
 * @tape_path: of the tape
 * @first: the first line of the manifest; NULL: there is none
 * @interval: what the event counts in an interval; 0: not known
 * @chosen: there was --max or --at: what comes after the last of @ends may be many intervals
 * @ends: @nr of them on the tape, by time, read by sampled_read()
 * @counts: for each of @ends what each of @nr_events has counted in the interval before it
 */
struct sampled {
	const char *path;
	char *tape_path;
	struct schedtape_tape *tape;
	struct json_object *first;
	uint64_t interval;
	bool chosen;
	struct sampled_end *ends;
	size_t nr;
	size_t room;
	uint64_t *counts;
	size_t nr_events;
};

/* Opens a tape, or that of a sample's directory.  Returns 0, or -errno after a message. */
int sampled_open(struct sampled *sample, const char *path);
/*
 * Reads the ends of intervals.  A directory may still be written: the last line of its manifest may
 * be incomplete, and its tape may end before.  Returns 0, or -errno after a message.
 */
int sampled_read(struct sampled *sample);
/* Warns if a part of the tape that was read is truncated or corrupt. */
void sampled_close(struct sampled *sample);

#endif /* SCHEDTAPE_SAMPLED_H */
