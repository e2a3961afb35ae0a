/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_BUILD_ID_H
#define SCHEDTAPE_BUILD_ID_H

#include <stdbool.h>

#define BUILD_ID_LEN	65

/* Writes the build id of a program or a library in hex digits; false: the file has none. */
bool build_id_read(const char *path, char id[BUILD_ID_LEN]);

#endif /* SCHEDTAPE_BUILD_ID_H */
