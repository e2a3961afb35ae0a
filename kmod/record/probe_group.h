/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_GROUP_H
#define _STAPE_PROBE_GROUP_H

#include "record/retprobe.h"

#ifdef STAPE_RETPROBES
extern const struct stape_retprobe_ops stape_group_ops;
#endif

#endif /* _STAPE_PROBE_GROUP_H */
