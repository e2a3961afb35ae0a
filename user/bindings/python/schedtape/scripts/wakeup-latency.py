# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows how long tasks waited from a wake-up until they ran, as a histogram.

Usage: schedtape script -s wakeup-latency [COMM]

With COMM only tasks of that name.
"""
import sys
from collections import Counter

only = sys.argv[1] if len(sys.argv) > 1 else None
woken = {}
buckets = Counter()
worst = (-1, "", 0, 0)


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, comm, pid, prio, target_cpu):
    woken[pid] = common_secs * 10**9 + common_nsecs


sched__sched_wakeup_new = sched__sched_wakeup


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_prio, prev_state,
                        next_comm, next_pid, next_prio):
    since = woken.pop(next_pid, None)
    if since is not None and only in (None, next_comm):
        wakeup_latency(common_secs * 10**9 + common_nsecs - since, next_comm, next_pid, since)


def wakeup_latency(latency, comm, pid, since):
    """An event that is made of two others."""
    global worst
    buckets[(latency // 1000).bit_length()] += 1
    worst = max(worst, (latency, comm, pid, since))


def trace_end():
    most = max(buckets.values(), default=0)
    print(f"{'us':>21}  wake-ups")
    for bucket in range(max(buckets, default=-1) + 1):
        low, high, count = (1 << bucket) >> 1, 1 << bucket, buckets[bucket]
        print(f"{low:>9} to {high:>8}  {count:>9,}  {'#' * round(40 * count / most)}")
    latency, comm, pid, since = worst
    if latency >= 0:
        print(f"worst: {latency / 1000:.3f} us, {comm}:{pid}, woken at {since / 1e9:.6f} s")
