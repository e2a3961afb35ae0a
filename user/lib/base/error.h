/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_BASE_ERROR_H
#define SCHEDTAPE_BASE_ERROR_H

#include <schedtape-page.h>

/* Sets @err (may be NULL) to a message, and returns @code, which is -errno. */
int schedtape_fail(struct schedtape_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* SCHEDTAPE_BASE_ERROR_H */
