/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_RECOVER_CRASH_H
#define SCHEDTAPE_RECOVER_CRASH_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct crash_options - schedtape recover --vmcore
 * @vmcore: name of the dump
 * @output: name of the tape; NULL: the dump's and ".recovered"
 * @one: make the tape of @session only
 * @load: which load of the module, counted from 1, the latest first; 0: see load_choose()
 */
struct crash_options {
	const char *vmcore;
	const char *output;
	bool one;
	uint32_t session;
	uint32_t load;
	bool quiet;
	bool json;
};

/* Makes the tapes and prints the result.  Returns an exit status. */
int crash_run(const struct crash_options *options);

/*
 * Makes "vmcore.recovered", or with @several sessions "vmcore.recovered.3".  That is in the working
 * directory if the dump is in /proc or /dev.  Returns it, to be freed; NULL: no memory.
 */
char *crash_tape_name(const struct crash_options *options, bool several, uint32_t session);

#endif /* SCHEDTAPE_RECOVER_CRASH_H */
