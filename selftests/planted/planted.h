/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that each commit a bug, which a debug kernel has to report.
 */
#ifndef PLANTED_H
#define PLANTED_H

void planted_use_after_free(void);
void planted_out_of_slab(void);
void planted_out_of_stack(void);
void planted_out_of_vmalloc(void);
void planted_out_of_object(void);
void planted_leak(void);
void planted_shift(void);
void planted_index(void);

void planted_atomic(void);
void planted_rcu(void);
void planted_abba(void);
void planted_interrupted(void);
void planted_preemptible(void);

void planted_warn(void);
void planted_refcount_zero(void);
void planted_refcount_underflow(void);
void planted_refcount_overflow(void);
void planted_list_add(void);
void planted_list_del(void);
void planted_timer(void);
void planted_work_freed(void);

void planted_race(void);

void planted_stack_end(void);
void planted_stack_guard(void);

#endif
