/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --trigger: what asks for a snapshot, or ends a tape, besides signals and orders.
 */
#ifndef SCHEDTAPE_TRIGGERS_H
#define SCHEDTAPE_TRIGGERS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <schedtape/client.h>

/* Of a record of a BPF program no more bytes are written as a text. */
#define BPF_RING_BYTES		1024
/* "0x", and two digits for each of them */
#define BPF_RING_TEXT_LEN	(2 + 2 * BPF_RING_BYTES + 1)

struct bpf_ring;

enum trigger_kind {
	TRIGGER_EXEC,	/* a command exits with status 0 */
	TRIGGER_PSI,	/* the kernel reports pressure */
	TRIGGER_BPF,	/* a BPF program has put a record into its ring buffer */
	TRIGGER_SESSION,	/* the module finds it, see enum stape_trigger_kind */
};

/**
 * struct trigger - one of them; times are in ms, moments of CLOCK_MONOTONIC
 * @said: as it was given
 * @text: the same, in parts
 * @name: of the snapshots
 * @what: the command; or the resource, "cpu"; or the path of a ring buffer; or the limit
 * @spec: of TRIGGER_PSI: what is written to the file of the resource
 * @session: of TRIGGER_SESSION: what the module is asked for
 * @every: of TRIGGER_EXEC: from one start of the command to the next
 * @after: from the moment when it fires to the snapshot
 * @holdoff: it does not fire again for this long
 * @max: how often it fires; 0: there is no limit
 * @stop: the recording ends after its snapshot
 * @fired: how often it has fired
 * @at: when it fired last, ns of CLOCK_MONOTONIC
 * @rest: it does not fire before that
 * @begun: the recording has begun, so that there is something to take a snapshot of
 * @due: when the snapshot is to be taken; 0: none is
 * @next: of TRIGGER_EXEC: when the command starts again
 * @pid: of the command that runs; 0: none does
 * @fd: of TRIGGER_PSI: the file of the resource; -1: it is not open
 * @ring: of TRIGGER_BPF: the ring buffer; NULL: it is not open
 * @note: of TRIGGER_BPF: the record for which it has fired, as a text
 */
struct trigger {
	enum trigger_kind kind;
	char *said;
	char *text;
	const char *name;
	char *what;
	const char *spec;
	struct schedtape_trigger session;
	uint64_t every;
	uint64_t after;
	uint64_t holdoff;
	uint64_t max;
	bool stop;
	uint64_t fired;
	uint64_t at;
	uint64_t rest;
	bool begun;
	uint64_t due;
	uint64_t next;
	pid_t pid;
	int fd;
	struct bpf_ring *ring;
	char note[BPF_RING_TEXT_LEN];
};

/**
 * struct triggers - all of a recorder
 * @in_child: called in a command's process before exec; NULL: nothing is
 * @on: they may fire
 */
struct triggers {
	struct trigger *list;
	size_t nr;
	size_t room;
	void (*in_child)(void);
	bool on;
};

/* Files that are polled: of TRIGGER_PSI and TRIGGER_BPF. */
#define TRIGGERS_FILES_MAX	16

/* Adds a trigger.  Returns 0; -EINVAL: @text is none, and @err says why; -ENOMEM. */
int triggers_add(struct triggers *triggers, const char *text, struct schedtape_error *err);
/* Prints what a text of a trigger may be. */
void triggers_print_help(void);
/* Fills in @list with those that the module finds.  Returns how many there are. */
size_t triggers_of_session(const struct triggers *triggers, struct schedtape_trigger *list);
/*
 * Fires the trigger of triggers_of_session() with this @number.  @time: when the module found it,
 * ns of CLOCK_MONOTONIC
 */
void triggers_fire(struct triggers *triggers, uint32_t number, uint64_t time);
/* They may fire from now on.  Returns 0 or -errno. */
int triggers_open(struct triggers *triggers, struct schedtape_error *err);
/*
 * Fills in what has to be polled, TRIGGERS_FILES_MAX entries at most.  Returns how many.  A poll()
 * of a resource's file consumes its event, so it cannot be in an epoll set.
 */
size_t triggers_poll(const struct triggers *triggers, struct pollfd *fds);
/* Looks what poll() has found in these entries. */
void triggers_polled(struct triggers *triggers, const struct pollfd *fds, size_t n);
/*
 * Looks whether commands have ended, each time after SIGCHLD, and starts those that are due.  To be
 * called from the beginning of the recording on: nothing but the module fires before.
 */
void triggers_look(struct triggers *triggers);
/* Returns a trigger whose snapshot is to be taken now; NULL: there is none.  Call it until then. */
const struct trigger *triggers_next(struct triggers *triggers);
/* Returns how long it is until triggers_look() or triggers_next() has something to do, ms. */
int triggers_wait(const struct triggers *triggers, int most);
void triggers_free(struct triggers *triggers);
/*
 * Writes a record of a BPF program as a text: as it is, or, if it is none, its bytes as a
 * hexadecimal number.  A line's end is left out, and so are zeros at the end: a program's text may
 * be in an array.
 */
void bpf_ring_text(char text[BPF_RING_TEXT_LEN], const unsigned char *record, size_t bytes);

#endif /* SCHEDTAPE_TRIGGERS_H */
