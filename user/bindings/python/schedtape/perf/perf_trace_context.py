# SPDX-License-Identifier: LGPL-2.1-or-later
"""What perf tells of an event besides its fields. A tape has it of other tracepoints."""


def common_pc(context):
    """The preemption count; 0 of scheduling."""
    return context.common(3)


def common_flags(context):
    """Flags of interrupts and of preemption; 0 of scheduling."""
    return context.common(2)


def common_lock_depth(_context):
    """The depth of the big kernel lock, which is gone: 0."""
    return 0


def perf_sample_insn(_context):
    """The sampled instruction: none."""
    return None


def perf_set_itrace_options(_context, _options):
    """Options of instruction traces, which cannot be set: -1."""
    return -1


def perf_config_get(_name):
    """A setting of perf: there is none."""
    return None


def perf_sample_srcline(_context):
    """File and line of the sampled address: not known."""
    return (None, 0)


def perf_sample_srccode(_context):
    """The same, with the line's text."""
    return (None, 0, None)
