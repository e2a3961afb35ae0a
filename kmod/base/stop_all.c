// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether an administrator has stopped everything; control/stop_all.c sets it.
 */
#include "base/stop_all.h"

/* Changed under the lock of the module's parameters; read without a lock. */
bool stape_stop_all;
