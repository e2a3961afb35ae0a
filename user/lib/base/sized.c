// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/sized.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

/* Reads the size that a caller has set; 0: none. */
static size_t their_size(const void *theirs)
{
	size_t size;

	memcpy(&size, theirs, sizeof(size));
	return size < sizeof(size) ? 0 : size;
}

static int no_size(const char *what, struct schedtape_error *err)
{
	return schedtape_fail(err, -EINVAL, "%s: the program has not set the struct's size", what);
}

int sized_get(void *ours, size_t size, const void *theirs, const char *what,
	      struct schedtape_error *err)
{
	const unsigned char *at = theirs;
	size_t known, i;

	memset(ours, 0, size);
	if (!theirs)
		return 0;
	known = their_size(theirs);
	if (!known)
		return no_size(what, err);
	for (i = size; i < known; i++)
		if (at[i])
			return schedtape_fail(err, -E2BIG, "%s: the program sets an option "
					      "that this version of the library does not have",
					      what);
	memcpy(ours, theirs, known < size ? known : size);
	return 0;
}

int sized_put(void *theirs, const void *ours, size_t size, const char *what,
	      struct schedtape_error *err)
{
	size_t known = their_size(theirs), both = known < size ? known : size;

	if (!known)
		return no_size(what, err);
	memset((char *)theirs + sizeof(size_t), 0, known - sizeof(size_t));
	memcpy((char *)theirs + sizeof(size_t), (const char *)ours + sizeof(size_t),
	       both - sizeof(size_t));
	return 0;
}
