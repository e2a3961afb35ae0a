/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF recorder's word for an event, from the highest bit: 39 bits of time in ns, 3 bits of
 * type, 22 bits of PID.
 */
#ifndef BENCH_BPF_WORD_H
#define BENCH_BPF_WORD_H

#define WORD_TIME_SHIFT	25
#define WORD_TYPE_SHIFT	22
#define WORD_TYPE_MASK	0x7
#define WORD_PID_MASK	0x3fffff

#define WORD_SWITCH	0
#define WORD_WAKING	1
#define WORD_WAKEUP	2
#define WORD_WAKEUP_NEW	3
#define WORD_MIGRATE	4
#define WORD_FORK	5
#define WORD_EXIT	6

#endif /* BENCH_BPF_WORD_H */
