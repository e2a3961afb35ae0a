/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape export share.
 */
#ifndef SCHEDTAPE_EXPORT_INTERNAL_H
#define SCHEDTAPE_EXPORT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <schedtape.h>

#include "common/new-tape.h"
#include "common/selection.h"

/**
 * struct export - an export
 * @path: of the tape
 * @to: where it is written
 * @copying: the progress, and signals that end it
 * @start: when the tape begins
 * @span: its length; 0: not known, because it comes through a pipe
 * @worst: how many of the worst waits are explained
 * @any: something of what is selected was written
 */
struct export {
	const char *path;
	struct schedtape_tape *tape;
	const struct selection *selection;
	FILE *to;
	struct copying copying;
	uint64_t start;
	uint64_t span;
	size_t worst;
	bool any;
};

/* Shows how far the export has come.  Returns 0; -EINTR: a signal has come. */
static inline int export_reached(struct export *export, uint64_t time)
{
	return copying_show(&export->copying, time - export->start, export->span);
}

/* Writes the tape as a trace of Perfetto.  Returns 0 or -errno, with or without a text in @err. */
int export_perfetto(struct export *export, struct schedtape_error *err);

#endif /* SCHEDTAPE_EXPORT_INTERNAL_H */
