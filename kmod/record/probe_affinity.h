/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_AFFINITY_H
#define _STAPE_PROBE_AFFINITY_H

#include "record/retprobe.h"

#ifdef STAPE_RETPROBES
/* sched_setaffinity() */
extern const struct stape_retprobe_ops stape_affinity_ops;
#endif

#endif /* _STAPE_PROBE_AFFINITY_H */
