/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Orders to begin, pause or end a recording, and others: from another process through the pipe of
 * --control or the recorder's socket, and at the times of -D and --duration.
 */
#ifndef SCHEDTAPE_RECORD_ORDERS_H
#define SCHEDTAPE_RECORD_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recorders.h"
#include "common/select.h"
#include "common/signals.h"

enum order {
	ORDER_NONE,
	ORDER_ENABLE,
	ORDER_DISABLE,
	ORDER_PING,
	ORDER_SNAPSHOT,
	ORDER_STATUS,
	ORDER_STOP,
};

/* -- the pipe of --control, as of perf record ------------------------------ */

/**
 * struct control - a pipe with orders
 * @fd: descriptor to read orders from, or -1
 * @ack: descriptor to acknowledge executed orders on, or -1
 * @buffer: @used bytes that were read and not yet parsed
 */
struct control {
	int fd;
	int ack;
	char buffer[64];
	size_t used;
};

#define CONTROL_CLOSED	{ .fd = -1, .ack = -1 }

/* Returns true if @text is fd:CTL[,ACK] or fifo:CTL[,ACK]. */
bool control_valid(const char *text);
/* Opens the descriptors or FIFOs that @text names.  Returns 0, or -errno after a message. */
int control_open(struct control *control, const char *text);
void control_close(struct control *control);
/* Reads available orders into @buffer.  Closes @fd at its end or after an error. */
void control_read(struct control *control);
/* Takes the next order out of @buffer.  Returns ORDER_NONE if there is no more. */
enum order control_next(struct control *control);
/* Acknowledges an order, if there is @ack. */
void control_ack(struct control *control);

/* -- the socket, see common/recorders.h ------------------------------------ */

/*
 * One connection is read at a time, and for a second at most, so that none keeps the recorder from
 * others, or from its rings.
 */

#define ORDERS_WAITING	8	/* snapshots that wait for their time */

/**
 * struct orders_snapshot - an order that asks for a snapshot
 * @fd: the connection
 * @due: when it is to be taken, ms of CLOCK_MONOTONIC
 * @time: when the order came, ns of CLOCK_MONOTONIC
 * @asker: who has sent it
 * @note: a text for the snapshot, or empty
 */
struct orders_snapshot {
	int fd;
	uint64_t due;
	uint64_t time;
	struct asker asker;
	char note[RECORDERS_NOTE];
};

/**
 * struct orders - the socket
 * @path: of the socket
 * @bound: the socket is there, and this recorder's
 * @lock: a file that is locked as long as the recorder runs, so that no other has its name
 * @listener: new connections come there
 * @peer: the connection that is read; -1: there is none
 * @since: when it came, ms of CLOCK_MONOTONIC
 * @asker: who has made it
 * @line: @used bytes of it
 * @snapshot: what the last ORDER_SNAPSHOT asks for
 * @waiting: @nr_waiting snapshots that are still to be taken
 */
struct orders {
	char path[108];
	bool bound;
	int lock;
	int listener;
	int peer;
	uint64_t since;
	struct asker asker;
	char line[RECORDERS_NOTE + 64];
	size_t used;
	struct orders_snapshot snapshot;
	struct orders_snapshot waiting[ORDERS_WAITING];
	size_t nr_waiting;
};

#define ORDERS_CLOSED	{ .lock = -1, .listener = -1, .peer = -1 }

/* Returns 0, or -errno after a message; -EBUSY: another recorder has the name. */
int orders_open(struct orders *orders, const char *name);
/* Takes the PID as the name, if that is possible. */
void orders_open_unnamed(struct orders *orders);
/* Answers snapshots that are still to be taken: there will be none. */
void orders_close(struct orders *orders);
/* Returns the descriptor to poll for orders; -1: there is none. */
int orders_fd(const struct orders *orders);
/*
 * Reads what there is.  To be called also while nothing is readable, each second.  Returns an
 * order, which has to be answered, or ORDER_NONE.
 */
enum order orders_read(struct orders *orders);
/* Answers "ok" and @result, if that is not NULL; or "error" and what is wrong. */
void orders_answer(struct orders *orders, const char *result, const char *wrong);
/* After an ORDER_SNAPSHOT: keeps it until it is due, or answers that too many others are kept. */
void orders_wait_for(struct orders *orders);
/* Takes a snapshot that is due, and has to be answered.  Returns false if there is none. */
bool orders_due(struct orders *orders, struct orders_snapshot *snapshot);
/* Answers it as orders_answer() does. */
void orders_answer_snapshot(struct orders_snapshot *snapshot, const char *result,
			    const char *wrong);
/* Returns how long it is until a snapshot is due, ms, @most at most. */
int orders_wait(const struct orders *orders, int most);

/* -- the times of -D and --duration ---------------------------------------- */

/**
 * struct timing - when to record
 * @periods: periods to record, ms since timing_begin(); empty: record from the beginning on
 * @open_end: the last period has no end
 * @off: do not record until an order of --control
 * @duration: ms since the first start, pauses included; 0: no limit
 */
struct timing {
	struct select_numbers periods;
	bool open_end;
	bool off;
	uint64_t duration;
	/* private: */
	uint64_t begun;
	uint64_t started;	/* 0: not yet */
	size_t edge;		/* index of the next edge; each period has two */
};

/* Parses "-1", "MS" or "MS-MS,...".  Returns false for any other text. */
bool timing_parse_delay(struct timing *timing, const char *text);
/* Parses a number of seconds.  Returns false for any other text. */
bool timing_parse_duration(struct timing *timing, const char *text);
/* Returns true if recording does not start at the beginning. */
bool timing_delayed(const struct timing *timing);
/* Periods count from now on, or from timing_started() if that was called before. */
void timing_begin(struct timing *timing);
/* To be called after each start of the session. */
void timing_started(struct timing *timing);
/* Returns the next order that is due.  Call it until it returns ORDER_NONE. */
enum order timing_next(struct timing *timing);
/* Returns how long it is until an order is due, ms, @most at most. */
int timing_wait(const struct timing *timing, int most);
void timing_free(struct timing *timing);

#endif /* SCHEDTAPE_RECORD_ORDERS_H */
