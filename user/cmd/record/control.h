/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --control: another process enables, disables or stops the recording through a pipe, as
 * with perf record.
 */
#ifndef SCHEDTAPE_CONTROL_H
#define SCHEDTAPE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

/* Orders to a recording. */
enum order {
	ORDER_NONE,
	ORDER_ENABLE,
	ORDER_DISABLE,
	ORDER_PING,
	ORDER_SNAPSHOT,
	ORDER_STATUS,
	ORDER_STOP,
};

/**
 * struct control - a source of orders
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
/* Returns the order that is this word of @len bytes, or ORDER_NONE. */
enum order control_order(const char *word, size_t len);
/* Opens the descriptors or FIFOs that @text names.  Returns 0, or -errno after a message. */
int control_open(struct control *control, const char *text);
void control_close(struct control *control);
/* Reads available orders into @buffer.  Closes @fd at its end or after an error. */
void control_read(struct control *control);
/* Takes the next order out of @buffer.  Returns ORDER_NONE if there is no more. */
enum order control_next(struct control *control);
/* Acknowledges an order, if there is @ack. */
void control_ack(struct control *control);

#endif /* SCHEDTAPE_CONTROL_H */
