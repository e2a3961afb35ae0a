// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fixed parts of a page, which are files in page/.  The assembler finds them in the
 * folder that the Makefiles name with -Wa,-I.
 */
#include "report/page-assets.h"

#include <string.h>

#define ASSET(name, file)					\
	__asm__(".pushsection .rodata\n"			\
		".globl " #name "\n"				\
		#name ":\n"					\
		".incbin \"" file "\"\n"			\
		".byte 0\n"					\
		".popsection\n")

ASSET(page_html, "report/page/page.html");
ASSET(page_css, "report/page/page.css");
ASSET(page_data_js, "report/page/data.js");
ASSET(page_view_js, "report/page/view.js");
ASSET(page_pointer_js, "report/page/pointer.js");
ASSET(page_tables_js, "report/page/tables.js");

const char *page_asset(const char *name, size_t length)
{
	static const struct {
		const char *name;
		const char *text;
	} assets[] = {
		{ "page.css", page_css }, { "data.js", page_data_js }, { "view.js", page_view_js },
		{ "pointer.js", page_pointer_js }, { "tables.js", page_tables_js },
	};
	size_t i;

	for (i = 0; i < sizeof(assets) / sizeof(*assets); i++)
		if (strlen(assets[i].name) == length && !memcmp(assets[i].name, name, length))
			return assets[i].text;
	return NULL;
}
