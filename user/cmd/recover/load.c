// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory may keep pages of an earlier boot, and the machine's real-time clock may have been wrong
 * when the module was loaded.  Any program may have pages that claim a late load.  So a load counts
 * only if there is something to recover.
 */
#include "recover/load.h"

#include <errno.h>

#include "base/error.h"
#include "recover/ring.h"

static bool has_ring(const struct memory *memory, const struct found_session *session)
{
	size_t i;

	for (i = 0; i < session->nr_rings; i++)
		if (ring_is_readable(memory, &session->rings[i]))
			return true;
	return false;
}

static bool has_session(const struct found *found, const struct memory *memory)
{
	size_t i;

	for (i = 0; i < found->nr_sessions; i++)
		if (has_ring(memory, &found->sessions[i]))
			return true;
	return false;
}

int load_choose(struct found *found, const struct memory *memory, size_t number,
		struct schedtape_error *err)
{
	size_t i;
	int ret;

	if (number > found->nr_loads)
		return schedtape_fail(err, -ENOENT, "there was no load %zu of the module: the dump "
				      "has %zu", number, found->nr_loads);
	if (number)
		return found_use(found, memory, number - 1, err);
	for (i = 0; i < found->nr_loads; i++) {
		ret = found_use(found, memory, i, err);
		if (ret || has_session(found, memory))
			return ret;
	}
	return found->nr_loads ? found_use(found, memory, 0, err) : 0;
}
