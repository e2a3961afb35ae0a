/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes as text of a page.
 */
#ifndef SCHEDTAPE_REPORT_PAGE_TEXT_H
#define SCHEDTAPE_REPORT_PAGE_TEXT_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the error of a stream that has just failed. */
static inline int page_io_error(void)
{
	return errno ? -errno : -EIO;
}

/* Compresses bytes, and writes them in base64.  @written: the bytes of text.  0 or -errno. */
int page_write_text(FILE *to, const unsigned char *bytes, size_t n, size_t *written);

#endif /* SCHEDTAPE_REPORT_PAGE_TEXT_H */
