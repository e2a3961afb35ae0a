/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_THROTTLE_H
#define _STAPE_PROBE_THROTTLE_H

#include "record/retprobe.h"

#ifdef STAPE_RETPROBES
extern const struct stape_retprobe_ops stape_throttle_ops;
extern const struct stape_retprobe_ops stape_unthrottle_ops;
#endif

#endif /* _STAPE_PROBE_THROTTLE_H */
