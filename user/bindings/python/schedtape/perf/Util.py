# SPDX-License-Identifier: LGPL-2.1-or-later
"""What scripts for perf take from its module Util."""
import ctypes
import errno as _errno

NSECS_PER_SEC = 1000000000

FUTEX_WAIT = 0
FUTEX_WAKE = 1
FUTEX_PRIVATE_FLAG = 128
FUTEX_CLOCK_REALTIME = 256
FUTEX_CMD_MASK = ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)


def avg(total, n):
    """The average."""
    return total / n


def nsecs(secs, nanosecs):
    """Seconds and ns as ns."""
    return secs * NSECS_PER_SEC + nanosecs


def nsecs_secs(nanosecs):
    """The seconds of ns."""
    return nanosecs / NSECS_PER_SEC


def nsecs_nsecs(nanosecs):
    """What is left of ns beside the seconds."""
    return nanosecs % NSECS_PER_SEC


def nsecs_str(nanosecs):
    """ns as text."""
    return f"{int(nanosecs // NSECS_PER_SEC):5}.{int(nanosecs % NSECS_PER_SEC):09}"


def add_stats(stats, key, value):
    """Adds to the smallest, largest, last and number of a key's values: (min, max, avg, n)."""
    if key not in stats:
        stats[key] = (value, value, value, 1)
        return
    low, high, mean, n = stats[key]
    stats[key] = (min(low, value), max(high, value), (mean + value) / 2, n + 1)


def clear_term():
    """Clears the terminal."""
    print("\x1b[H\x1b[2J")


def syscall_name(number):
    """The name of a system call of this machine; its number if it has none."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
        library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
        name = library.seccomp_syscall_resolve_num_arch(library.seccomp_arch_native(), number)
    except OSError:
        name = None
    if not name:
        return str(number)
    return ctypes.string_at(name).decode()


def strerror(number):
    """The name of an error."""
    return _errno.errorcode.get(abs(number), f"Unknown {number} errno")
