// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors in words.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <schedtape.h>

/**
 * schedtape_fail() - put the reason of a failure into words
 * @err: where to, may be NULL
 * @code: -errno, which is returned
 *
 * Lets a function end with "return schedtape_fail(err, -EINVAL, ...)".  Leaves
 * errno alone.
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

	/* Names of files and tasks may hold anything, the text is one line. */
	for (at = err->text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';

	errno = saved;
	return code;
}
