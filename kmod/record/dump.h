/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes a session to a reader of a crash dump, in the pages of schedtape/dump.h. */
#ifndef _STAPE_DUMP_H
#define _STAPE_DUMP_H

#include "record/descriptions.h"

struct stape_dump;

void stape_dump_init(void);
u64 stape_dump_bytes(const struct stape_ring_setup *setup);
struct stape_dump *stape_dump_create(u32 session, const struct stape_ring_setup *setup,
				     struct stape_ring __percpu *rings,
				     struct stape_descriptions *descriptions);
void stape_dump_destroy(struct stape_dump *dump);
void stape_dump_start(struct stape_dump *dump, u64 start_time);
void stape_dump_sample(struct stape_dump *dump, const struct stape_clock_sample *sample);

#endif /* _STAPE_DUMP_H */
