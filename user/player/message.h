/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of players, which have no printf().
 */
#ifndef SCHEDTAPE_MESSAGE_H
#define SCHEDTAPE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct message - one line of text; all 0: an empty one
 * @length: of @text, which has room for a longer one
 */
struct message {
	size_t length;
	char text[512];
};

/* These functions leave out what has no room. */
void message_add(struct message *message, const char *text);
void message_add_number(struct message *message, int64_t number);
/* Adds a time as ms with three decimals. */
void message_add_ms(struct message *message, uint64_t ns);
/* Writes the message to stderr, in one piece. */
void message_print(struct message *message);

#endif /* SCHEDTAPE_MESSAGE_H */
