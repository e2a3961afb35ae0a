// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module/versions.h"

#include <errno.h>

#include <schedtape/event.h>

#include "base/error.h"

int versions_check(uint32_t wire_version, struct schedtape_error *err)
{
	if (wire_version < STAPE_WIRE_VERSION)
		return schedtape_fail(err, -EPROTO, VERSIONS_OLD_MODULE " (wire format %u, not %u)",
				      wire_version, STAPE_WIRE_VERSION);
	if (wire_version > STAPE_WIRE_VERSION)
		return schedtape_fail(err, -EPROTO, "this program is older than the loaded module: "
				      "sudo apt install schedtape, or make install from the module's "
				      "sources (wire format %u, not %u)",
				      STAPE_WIRE_VERSION, wire_version);
	return 0;
}
