/* SPDX-License-Identifier: GPL-2.0-only */
/* A dump of a crashed machine's memory, in place of files that libkdumpfile reads. */
#ifndef SELFTESTS_FAKE_DUMP_H
#define SELFTESTS_FAKE_DUMP_H

#include "image.h"
#include "recover/internal.h"

static unsigned char fake_bytes[IMAGE_PAGES * STAPE_PAGE_SIZE];
static struct image fake_image = { .data = fake_bytes, .bytes = sizeof(fake_bytes) };
static struct memory fake_memory;

int vmcore_open(const char *path, struct vmcore **vmcore, struct schedtape_error *err)
{
	(void)path;
	(void)err;
	image_make(&fake_image);
	fake_memory = image_memory(&fake_image);
	*vmcore = (struct vmcore *)&fake_image;
	return 0;
}

const struct memory *vmcore_memory(const struct vmcore *vmcore)
{
	(void)vmcore;
	return &fake_memory;
}

const char *vmcore_format(const struct vmcore *vmcore)
{
	(void)vmcore;
	return "elf";
}

void vmcore_close(struct vmcore *vmcore)
{
	(void)vmcore;
}

#endif /* SELFTESTS_FAKE_DUMP_H */
