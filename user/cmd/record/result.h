/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of a recording, as JSON.
 */
#ifndef SCHEDTAPE_RECORD_RESULT_H
#define SCHEDTAPE_RECORD_RESULT_H

#include "record/recording.h"

void result_print_json(const char *tape, const struct recorder *recorder);

#endif /* SCHEDTAPE_RECORD_RESULT_H */
