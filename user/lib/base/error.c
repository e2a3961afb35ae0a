// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Error messages.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/**
 * schedtape_fail() - set the message of an error
 * @err: receives the message, may be NULL
 * @code: -errno, which is returned
 *
 * Lets a function end with "return schedtape_fail(err, -EINVAL, ...)".  Does not change
 * errno.
 */
int schedtape_fail(struct schedtape_error *err, int code, const char *format, ...)
{
	int saved = errno;
	va_list args;
	char *at;

	if (!err)
		return code;

	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);

	/* Names of files and tasks may have any character, but the message must be one line. */
	for (at = err->text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';

	errno = saved;
	return code;
}
