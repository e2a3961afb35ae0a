/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixed parts of a page.
 */
#ifndef SCHEDTAPE_REPORT_PAGE_ASSETS_H
#define SCHEDTAPE_REPORT_PAGE_ASSETS_H

#include <stddef.h>

/* The page, in which names in two pairs of braces stand for other parts. */
extern const char page_html[];
/* Its style, and its scripts. */
extern const char page_css[];
extern const char page_data_js[];
extern const char page_view_js[];
extern const char page_pointer_js[];
extern const char page_tables_js[];

/*
 * Returns the fixed part that is called @name, of which only the first @length letters count.
 * NULL: no fixed part has that name.
 */
const char *page_asset(const char *name, size_t length);

#endif /* SCHEDTAPE_REPORT_PAGE_ASSETS_H */
