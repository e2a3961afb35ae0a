/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of other tracepoints, which a command puts among the events of scheduling.
 */
#ifndef SCHEDTAPE_CMD_SAMPLES_H
#define SCHEDTAPE_CMD_SAMPLES_H

#include <stdbool.h>

#include <json-c/json.h>

#include <schedtape-decode.h>

/**
 * struct samples - where in the samples the output is
 * @reader: NULL: none are read
 * @decoder: NULL: the tape has none
 * @next: the next one
 * @any: there is a next one
 */
struct samples {
	struct schedtape_samples *reader;
	struct schedtape_decoder *decoder;
	struct schedtape_sample next;
	bool any;
};

/* Makes the decoder, if the tape has other tracepoints.  Returns 0, or -errno after a message. */
int samples_decode(struct samples *samples, struct schedtape_tape *tape);
/* Begins with the first sample.  Returns 0, or -errno after a message. */
int samples_begin(struct samples *samples, struct schedtape_tape *tape, const char *path);
/* Goes to the next one.  Returns 0, or -errno after a message. */
int samples_advance(struct samples *samples);
void samples_end(struct samples *samples);
/* Returns the tracepoint of the next one, "irq:irq_handler_entry"; "?" if the tape has no name. */
const char *samples_name(const struct samples *samples);
/* Returns an object with the fields of the next one, NULL: it cannot be decoded. */
struct json_object *samples_json(struct samples *samples);

#endif /* SCHEDTAPE_CMD_SAMPLES_H */
