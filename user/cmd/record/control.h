/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --control: who started the recording, or another program, steers it through
 * a pipe, as perf record has it.
 */
#ifndef SCHEDTAPE_CONTROL_H
#define SCHEDTAPE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

/* What a recording is told to do. */
enum order {
	ORDER_NONE,
	ORDER_ENABLE,
	ORDER_DISABLE,
	ORDER_PING,
	ORDER_STOP,
};

/**
 * struct control - where orders come from
 * @fd: orders, or -1
 * @ack: where what was done is acknowledged, or -1
 * @buffer: read and not yet taken
 */
struct control {
	int fd;
	int ack;
	char buffer[64];
	size_t used;
};

#define CONTROL_CLOSED	{ .fd = -1, .ack = -1 }

/* Is it fd:CTL[,ACK] or fifo:CTL[,ACK]? */
bool control_valid(const char *text);
/* Opens what it names, or says why not: -errno. */
int control_open(struct control *control, const char *text);
void control_close(struct control *control);
/* Reads what has come; closes what will send nothing any more. */
void control_read(struct control *control);
/* The next order of those read. */
enum order control_next(struct control *control);
void control_ack(struct control *control);

#endif /* SCHEDTAPE_CONTROL_H */
