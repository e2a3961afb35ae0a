/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the module as if it were of another version, with STAPE_OTHER_WIRE as the version of its
 * wire format; included before all other headers of the files that report the version.
 */
#include "../../include/schedtape/event.h"

#undef STAPE_WIRE_VERSION
#define STAPE_WIRE_VERSION STAPE_OTHER_WIRE
