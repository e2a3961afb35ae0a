# SPDX-License-Identifier: GPL-2.0-only
# Adds up how long softirqs took, by kind and by the task that they interrupted.
import os
import sys
from collections import Counter

sys.path.append(os.environ["PERF_EXEC_PATH"] + "/scripts/python/Perf-Trace-Util/lib/Perf/Trace")
from Core import *

begun = {}
took = Counter()


def irq__softirq_entry(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                       common_comm, common_callchain, vec):
    begun[common_cpu] = common_secs * 10**9 + common_nsecs


def irq__softirq_exit(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                      common_comm, common_callchain, vec):
    if common_cpu in begun:
        kind = symbol_str(event_name, "vec", vec)
        took[kind, common_comm] += common_secs * 10**9 + common_nsecs - begun.pop(common_cpu)


def trace_end():
    for (kind, comm), ns in took.most_common(6):
        print(f"{ns / 1e6:8.3f} ms  {kind:8} {comm}")
