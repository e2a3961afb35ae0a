# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts events by tracepoint, and by tracepoint and task.

Usage: schedtape script -s event-counts [COMM]

With COMM only of tasks of that name. The task is the one that ran on the CPU. perf stat -e counts
the same.
"""
import sys
from collections import Counter

only = sys.argv[1] if len(sys.argv) > 1 else None
counts = Counter()
by_task = Counter()


def trace_unhandled(event_name, context, event_fields_dict):
    name = event_name.replace("__", ":", 1)
    comm, pid = event_fields_dict["common_comm"], event_fields_dict["common_pid"]
    if only in (None, comm):
        counts[name] += 1
        by_task[name, comm, pid] += 1


def trace_end():
    for name, count in counts.most_common():
        print(f"{count:>12,}  {name}")
    print()
    for (name, comm, pid), count in by_task.most_common():
        print(f"{count:>12,}  {name:<26} {comm}:{pid}")
