/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scripts in Perl: an interpreter runs as a child, and gets events through a pipe.  The pipe is
 * standard output meanwhile, so that everything that prints events can write to it.
 */
#ifndef SCHEDTAPE_SCRIPT_PERL_H
#define SCHEDTAPE_SCRIPT_PERL_H

#include "script/print.h"

/* bindings/perl/engine.pl */
extern const char perl_engine[];

struct perl;
struct samples;

/*
 * Starts a script with @args, up to NULL; NULL: none.  @decoder has the other tracepoints of the
 * tape; it is NULL if the tape has none.  Returns when the script has begun, 0, or CMD_FAILURE
 * after a message.
 */
int perl_begin(struct print *print, const struct schedtape_decoder *decoder, const char *script,
	       char **args);
/* Gives it an event. */
void print_perl(struct print *print, const struct schedtape_event *ev);
/* Returns true if it has a function for other tracepoints. */
bool perl_wants_samples(const struct perl *perl);
/* Gives it the next sample. */
void perl_sample(struct print *print, struct samples *samples);
/* Returns the samples that were missing among these; @unknown: those that cannot be decoded. */
uint64_t perl_lost(const struct perl *perl, uint64_t *unknown);
/*
 * Ends the events and waits for the script.  Returns its exit status, or @status if that is 0.
 */
int perl_end(struct print *print, int status);

#endif /* SCHEDTAPE_SCRIPT_PERL_H */
