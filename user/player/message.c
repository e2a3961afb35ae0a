// SPDX-License-Identifier: GPL-2.0-only
#include "player/message.h"

#include <unistd.h>

#include "player/sys.h"

static void add_char(struct message *message, char c)
{
	/* One place is for the end of the line. */
	if (message->length < sizeof(message->text) - 1)
		message->text[message->length++] = c;
}

void message_add(struct message *message, const char *text)
{
	while (*text)
		add_char(message, *text++);
}

/* Adds at least @least digits. */
static void add_digits(struct message *message, uint64_t number, int least)
{
	char digits[20];
	int n = 0;

	for (; number || n < least; number /= 10)
		digits[n++] = '0' + number % 10;
	while (n)
		add_char(message, digits[--n]);
}

void message_add_number(struct message *message, int64_t number)
{
	if (number < 0)
		add_char(message, '-');
	add_digits(message, number < 0 ? -(uint64_t)number : (uint64_t)number, 1);
}

void message_add_ms(struct message *message, uint64_t ns)
{
	uint64_t us = (ns + 500) / 1000;

	add_digits(message, us / 1000, 1);
	add_char(message, '.');
	add_digits(message, us % 1000, 3);
}

void message_print(struct message *message)
{
	message->text[message->length++] = '\n';
	sys_write(STDERR_FILENO, message->text, message->length);
}
