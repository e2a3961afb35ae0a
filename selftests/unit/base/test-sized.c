// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the library reads structs of programs that were built for an older or a newer
 * version.  The first member of such a struct is its size.
 */
#include <errno.h>
#include <string.h>

#include <base/sized.h>

#include "tap.h"

/* Our version of a struct.  An older one ends behind @first, a newer one has more. */
struct ours {
	size_t size;
	uint32_t first;
	uint32_t second;
	uint64_t third;
};

#define OLDER	(offsetof(struct ours, first) + sizeof(uint32_t))

struct newer {
	struct ours ours;
	uint64_t fourth;
};

static struct schedtape_error err;

static int get(struct ours *ours, const void *theirs)
{
	memset(ours, 0x55, sizeof(*ours));
	memset(&err, 0, sizeof(err));
	return sized_get(ours, sizeof(*ours), theirs, "options", &err);
}

TEST(get)
{
	struct ours old = { OLDER, 7, 8, 9 };	/* @second and what follows are not its own */
	struct ours same = { sizeof(same), 7, 8, 9 }, ours;
	struct newer new = { { sizeof(new), 7, 8, 9 }, 0 };
	struct ours none = { 0, 7, 8, 9 };

	ok(!get(&ours, &same) && ours.first == 7 && ours.second == 8 && ours.third == 9,
	   "options of this version");
	ok(!get(&ours, &old) && ours.first == 7 && !ours.second && !ours.third,
	   "older options: the others are 0");
	ok(!get(&ours, &new) && ours.first == 7 && ours.third == 9,
	   "newer options, of which none is set");
	new.fourth = 1ULL << 63;
	ok(get(&ours, &new) == -E2BIG && strstr(err.text, "options: "),
	   "newer options, of which one is set: %s", err.text);
	ok(get(&ours, &none) == -EINVAL && strstr(err.text, "size"), "no size: %s", err.text);
	none.size = sizeof(size_t) - 1;
	ok(get(&ours, &none) == -EINVAL, "a size without room for itself");
	ok(!get(&ours, NULL) && !ours.first && !ours.third, "no options");
}

TEST(put)
{
	struct ours old = { OLDER, 0, 1, 2 };
	const struct ours ours = { sizeof(ours), 7, 8, 9 };
	struct ours same = { .size = sizeof(same) };
	struct newer new;

	ok(!sized_put(&same, &ours, sizeof(ours), "state", &err) && same.first == 7 &&
	   same.second == 8 && same.third == 9, "a state of this version");
	ok(!sized_put(&old, &ours, sizeof(ours), "state", &err) && old.first == 7 &&
	   old.second == 1 && old.third == 2, "an older state: nothing behind it changes");
	ok(old.size == OLDER, "its size stays");
	memset(&new, 0x55, sizeof(new));
	new.ours.size = sizeof(new);
	ok(!sized_put(&new, &ours, sizeof(ours), "state", &err) && new.ours.third == 9 &&
	   !new.fourth && new.ours.size == sizeof(new), "a newer state: the others are 0");
	same = (struct ours) { .third = 1 };
	ok(sized_put(&same, &ours, sizeof(ours), "state", &err) == -EINVAL && same.third == 1,
	   "no size: %s", err.text);
}

TEST_MAIN
