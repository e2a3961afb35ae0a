// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: records of BPF programs as texts.
 */
#include <string.h>

#include "record/triggers.h"

#include "tap.h"

/* Is a record's text @expected? */
static bool is(const void *record, size_t bytes, const char *expected)
{
	char text[BPF_RING_TEXT_LEN];

	memset(text, 'x', sizeof(text));
	bpf_ring_text(text, record, bytes);
	return !strcmp(text, expected);
}

TEST(texts)
{
	ok(is("slow", 4, "slow") && is("slow", 5, "slow"), "a text");
	ok(is("slow\n\0\0\0", 8, "slow"), "in an array, with a line's end");
	ok(is("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f"), "in UTF-8");
	ok(is("", 0, "") && is("\0\0", 2, ""), "an empty one");
}

TEST(bytes)
{
	char record[BPF_RING_BYTES + 1], expected[BPF_RING_TEXT_LEN] = "0x";

	ok(is("\x01\x02\xff", 3, "0x0102ff"), "bytes");
	ok(is("\x10\0\0\0", 4, "0x10000000"), "of a number, all of them");
	ok(is("a\0b", 3, "0x610062"), "a zero inside");
	ok(is("a\nb", 3, "0x610a62"), "two lines");
	ok(is("gr\xc3", 3, "0x6772c3"), "half a character");
	memset(record, '\1', sizeof(record));
	while (strlen(expected) < sizeof(expected) - 1)
		strcat(expected, "01");
	ok(is(record, sizeof(record), expected), "as many as are kept");
	memset(record, 'a', sizeof(record));
	memset(expected, 'a', BPF_RING_BYTES);
	expected[BPF_RING_BYTES] = '\0';
	ok(is(record, sizeof(record), expected), "of a text, too");
}

TEST_MAIN
