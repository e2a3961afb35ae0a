# SPDX-License-Identifier: LGPL-2.1-or-later
"""What scripts for perf take from its module Core."""
from collections import defaultdict


def autodict():
    """A dict whose missing values are dicts of the same kind."""
    return defaultdict(autodict)


flag_fields = autodict()
symbolic_fields = autodict()


def define_flag_field(event_name, field_name, delim):
    """Begins the names of a field's bits."""
    flag_fields[event_name][field_name] = {"delim": delim, "values": {}}


def define_flag_value(event_name, field_name, value, field_str):
    """Names bits of a field."""
    flag_fields[event_name].setdefault(field_name, {"delim": "|", "values": {}})
    flag_fields[event_name][field_name]["values"][value] = field_str


def define_symbolic_field(event_name, field_name):
    """Begins the names of a field's values."""
    symbolic_fields[event_name][field_name] = {}


def define_symbolic_value(event_name, field_name, value, field_str):
    """Names a value of a field."""
    symbolic_fields[event_name].setdefault(field_name, {})[value] = field_str


def _bit_names(names, value):
    """Yields the names of the bits in a value. Bits that have been named are not named again."""
    for bits, name in sorted(names.items()):
        if bits and value & bits == bits:
            yield name
            value &= ~bits


def flag_str(event_name, field_name, value):
    """The names of the bits that a field has."""
    field = flag_fields.get(event_name, {}).get(field_name)
    if not field:
        return ""
    if not value:
        return field["values"].get(0, "")
    delimiter = f" {field['delim']} " if field["delim"] else ""
    return delimiter.join(_bit_names(field["values"], value))


def symbol_str(event_name, field_name, value):
    """The name of a field's value."""
    return symbolic_fields.get(event_name, {}).get(field_name, {}).get(value, "")


trace_flags = {
    0x00: "NONE", 0x01: "IRQS_OFF", 0x02: "IRQS_NOSUPPORT", 0x04: "NEED_RESCHED",
    0x08: "HARDIRQ", 0x10: "SOFTIRQ",
}


def trace_flag_str(value):
    """The names of common_flags."""
    if not value:
        return "NONE"
    return " | ".join(_bit_names(trace_flags, value))


def taskState(state):  # pylint: disable=invalid-name
    """The letter of a task's state."""
    states = {0: "R", 1: "S", 2: "D", 64: "DEAD"}
    return states.get(state, "Unknown")


class EventHeaders:
    """What comes before an event's fields."""

    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                 common_callchain):
        self.cpu = common_cpu
        self.secs = common_secs
        self.nsecs = common_nsecs
        self.pid = common_pid
        self.comm = common_comm
        self.callchain = common_callchain

    def ts(self):
        """The time, ns."""
        return self.secs * 10**9 + self.nsecs

    def ts_format(self):
        """The time as text."""
        return f"{self.secs}.{self.nsecs // 1000}"
