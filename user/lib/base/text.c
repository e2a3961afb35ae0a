// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/text.h"

#include <string.h>

/* Returns the bytes of the UTF-8 character at @text, 0: not UTF-8, or not printable. */
static size_t utf8_length(const unsigned char *text)
{
	size_t n, i;

	if (text[0] < 0x80)
		return text[0] >= ' ' && text[0] != 0x7f;
	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		n = 2;
	else if (text[0] >= 0xe0 && text[0] <= 0xef)
		n = 3;
	else if (text[0] >= 0xf0 && text[0] <= 0xf4)
		n = 4;
	else
		return 0;
	for (i = 1; i < n; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* C1 controls, longer forms than needed, surrogates, beyond the last one */
	if ((text[0] == 0xc2 && text[1] < 0xa0) || (text[0] == 0xe0 && text[1] < 0xa0) ||
	    (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return n;
}

void text_put(FILE *to, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + len;
	size_t run, n;

	while (at < end) {
		for (run = 0; at + run < end; run += n) {
			n = utf8_length(at + run);
			if (!n)
				break;
		}
		fwrite(at, 1, run, to);
		at += run;
		if (at == end)
			return;
		at++;
		fputc('?', to);
	}
}

void text_print(FILE *to, const char *text)
{
	text_put(to, text, strlen(text));
}

const char *text_safe(char *buffer, size_t size, const char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t at = 0;

	while (*from && at < size - 1) {
		size_t n = utf8_length(from);

		if (at + n > size - 1)
			break;
		if (n)
			memmove(buffer + at, from, n);
		else
			buffer[at] = '?';
		at += n ? n : 1;
		from += n ? n : 1;
	}
	buffer[at] = '\0';
	return buffer;
}

const char *text_behind(const char *text, const char *name)
{
	size_t n;

	for (; *name; name += n, text += n) {
		n = utf8_length((const unsigned char *)name);
		if (n ? strncmp(text, name, n) : *text != '?' && *text != *name)
			return NULL;
		n = n ? n : 1;
	}
	return text;
}

const char *text_name(char buffer[TEXT_NAME_LEN], const char *comm)
{
	return text_safe(buffer, TEXT_NAME_LEN, comm);
}

const char *text_task(char buffer[TEXT_TASK_LEN], const char *comm, uint32_t pid)
{
	char name[TEXT_NAME_LEN];

	snprintf(buffer, TEXT_TASK_LEN, "%s:%u", *comm ? text_name(name, comm) : "?", pid);
	return buffer;
}
