# SPDX-License-Identifier: LGPL-2.1-or-later
"""What scripts for perf take from its module EventClass. Tapes have no samples of the CPU."""

EVTYPE_GENERIC = 0
EVTYPE_PEBS = 1
EVTYPE_PEBS_LL = 2
EVTYPE_IBS = 3


class PerfEvent:
    """An event with the names that perf gives it."""

    event_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_GENERIC):
        self.name = name
        self.comm = comm
        self.dso = dso
        self.symbol = symbol
        self.raw_buf = raw_buf
        self.ev_type = ev_type
        PerfEvent.event_num += 1

    def show(self):
        """Prints it."""
        print(f"PMU event: name={self.name:12}, symbol={self.symbol:24}, comm={self.comm:8}, "
              f"dso={self.dso:12}")


def create_event(name, comm, dso, symbol, raw_buf):
    """Returns an event."""
    return PerfEvent(name, comm, dso, symbol, raw_buf)
