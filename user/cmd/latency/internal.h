/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of schedtape latency, for a test that compares columns.
 */
#ifndef SCHEDTAPE_LATENCY_INTERNAL_H
#define SCHEDTAPE_LATENCY_INTERNAL_H

#include "common/sheet.h"

extern const struct sheet_column latency_columns[];

#endif /* SCHEDTAPE_LATENCY_INTERNAL_H */
