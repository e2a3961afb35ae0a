/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --name: the socket on which a recorder takes orders, see common/recorders.h.
 *
 * One connection is read at a time, and for a second at most, so that none keeps the recorder from
 * others, or from its rings.
 */
#ifndef SCHEDTAPE_ORDERS_H
#define SCHEDTAPE_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/control.h"

/**
 * struct orders - the socket
 * @path: of the socket
 * @bound: the socket is there, and this recorder's
 * @lock: a file that is locked as long as the recorder runs, so that no other has its name
 * @listener: new connections come there
 * @peer: the connection that is read; -1: there is none
 * @since: when it came, ms of CLOCK_MONOTONIC
 * @line: @used bytes of it
 */
struct orders {
	char path[108];
	bool bound;
	int lock;
	int listener;
	int peer;
	uint64_t since;
	char line[64];
	size_t used;
};

#define ORDERS_CLOSED	{ .lock = -1, .listener = -1, .peer = -1 }

/* Returns 0, or -errno after a message; -EBUSY: another recorder has the name. */
int orders_open(struct orders *orders, const char *name);
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

#endif /* SCHEDTAPE_ORDERS_H */
