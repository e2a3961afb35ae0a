# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads tapes of schedtape: how one workload was scheduled on Linux.

    import schedtape

    with schedtape.open("web.tape") as tape:
        for event in tape.events():
            print(event.time_ns, event.cpu, event.event, event.pid)
        for task in tape.tasks():
            print(task.comm, task.cpu_time_ns)
        for wait in tape.waits():
            if wait.end_ns - wait.begin_ns > 5_000_000:
                print(tape.task(wait.task_index).comm, "waited", wait.end_ns - wait.begin_ns, "ns")
        for sample in tape.samples("irq:irq_handler_entry"):
            print(sample.time_ns, sample.cpu, sample.fields["irq"])

Names are those of schedtape-json(5). Times are ns of CLOCK_MONOTONIC. A task is named by its index,
because a PID may be used again.

The columns of events, runs, bursts, waits and edges are sequences of numbers, and buffers:
numpy.asarray(tape.runs().columns["begin_ns"]) copies nothing.

Threads: reading events or samples one by one holds the GIL, but not while it waits for a pipe. Whatever reads the whole tape gives it
up meanwhile (columns, tasks, runs, bursts, waits, edges), and besides has threads of its own that
load the tape ahead. A tape is for one thread at a time; several threads open it once each. A child
of os.fork() must not use its parent's tapes.
"""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Generic, NamedTuple, TypeVar

from . import _schedtape
from ._schedtape import EVENT_TYPES, Column, Event, Sample, Task, TapeError

__all__ = ["EVENT_TYPES", "NONE", "NO_SYSCALL", "SYSCALL_32", "UNKNOWN", "Burst", "Column", "Cpu",
           "Description", "Edge", "Event", "Field", "Run", "Sample", "Table", "Tape", "TapeError",
           "Task", "Tracepoint", "Wait", "open"]

#: In place of a task or a CPU that is not known.
NONE = 0xffffffff
#: In place of a state or a context that is not known.
UNKNOWN = 255
#: Run.syscall_number of a task that slept in no system call: in a page fault, say.
NO_SYSCALL = 0xffffffff
#: Added to Run.syscall_number if it is one of the 32-bit system calls of a machine with 64 bits.
SYSCALL_32 = 1 << 32

_STATES = "RSDTtXPI"
_CONTEXTS = ("task", "softirq", "hardirq", "softirq_task")


class Cpu(NamedTuple):
    """What a CPU's ring had. The CPU None stands for descriptions of tasks."""

    cpu: int | None
    events: int
    lost: int
    overwritten: int


class Description(NamedTuple):
    """What the recorder read of a task that existed at the start, or entered the filter."""

    time_ns: int
    pid: int
    #: PID of its process; 0: not known.
    tgid: int
    comm: str
    cpu: int
    policy: str
    nice: int
    rt_priority: int

    @property
    def prio(self) -> int:
        """The kernel's priority: 0 to 99 of real-time tasks, 100 to 139 of others, -1: deadline."""
        if self.policy == "deadline":
            return -1
        return 99 - self.rt_priority if self.rt_priority else 120 + self.nice


class Run(NamedTuple):
    """A time that a task spent on a CPU without a break."""

    task_index: int
    cpu: int
    begin_ns: int
    end_ns: int
    #: In which it left, a letter of ps; None: the tape does not show it.
    state: str | None
    #: Number of the system call that it left in, NO_SYSCALL, or a number + SYSCALL_32; None: it did
    #: not sleep, or record --syscalls did not note it.
    syscall_number: int | None


class Burst(NamedTuple):
    """What a task ran from a wake-up until it slept or ended, preemptions included."""

    task_index: int
    begin_ns: int
    end_ns: int
    cpu_time_ns: int
    state: str | None


class Wait(NamedTuple):
    """A time that a task was runnable and had no CPU."""

    task_index: int
    #: Where it then ran; None: it still waits when the tape ends.
    cpu: int | None
    begin_ns: int
    end_ns: int
    #: It was woken; False: it was preempted.
    woken: bool
    #: The task that woke it; None: none on the tape did.
    waker_index: int | None
    #: From where: task, softirq, hardirq, softirq_task; None: not known.
    context: str | None


class Edge(NamedTuple):
    """How often a task woke another one."""

    waker_index: int
    wakee_index: int
    count: int  # type: ignore[assignment]


class Field(NamedTuple):
    """A field of another tracepoint."""

    name: str
    #: Of its values: number (int), text (str), numbers (a list of int), opaque (None).
    kind: str
    signed: bool
    #: What the kernel prints in place of a number: the names of values, or of bits.
    names: dict[int, str]
    #: What is between the names of bits; None: the names are those of values.
    delimiter: str | None


class Tracepoint(NamedTuple):
    """Another tracepoint, of which record -e has taken samples."""

    #: irq:irq_handler_entry
    name: str
    #: False: nothing is known of its fields, so those of its samples are None.
    decodes: bool
    #: In the kernel's order.
    fields: tuple[Field, ...]


def _state(number: int) -> str | None:
    return _STATES[number] if number < len(_STATES) else None


def _known(number: int) -> int | None:
    return None if number == NONE else number


def _run(task: int, cpu: int, begin: int, end: int, state: int, syscall: int) -> Run:
    return Run(task, cpu, begin, end, _state(state), None if syscall >> 32 > 1 else syscall)


def _burst(task: int, begin: int, end: int, cpu_time: int, state: int) -> Burst:
    return Burst(task, begin, end, cpu_time, _state(state))


def _wait(task: int, cpu: int, begin: int, end: int, woken: int, waker: int,
          context: int) -> Wait:
    return Wait(task, _known(cpu), begin, end, bool(woken), _known(waker),
                _CONTEXTS[context] if context < len(_CONTEXTS) else None)


_Row = TypeVar("_Row")


class Table(Generic[_Row]):
    """Rows, of which each has the same columns. Rows are made when they are asked for."""

    def __init__(self, columns: Mapping[str, Column], make: Callable[..., _Row]) -> None:
        #: The columns by name.
        self.columns = columns
        self._all = tuple(columns.values())
        self._make = make

    def __len__(self) -> int:
        return len(self._all[0])

    def __getitem__(self, number: int) -> _Row:
        if number < -len(self):
            raise IndexError("row out of range")
        return self._make(*(column[number] for column in self._all))

    def __iter__(self) -> Iterator[_Row]:
        return map(self._make, *map(memoryview, self._all))

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {', '.join(self.columns)}>"


class Tape:
    """An open tape, to be used in a with statement or closed by close()."""

    def __init__(self, path: str | bytes | os.PathLike[str]) -> None:
        self._tape = _schedtape.Tape(path)
        self._timeline: tuple[list[Task], Any, Any, Any, Any] | None = None
        self._events: Mapping[str, Column] | None = None

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the tape. What has been read from it stays."""
        self._tape.close()

    @property
    def meta(self) -> dict[str, Any]:
        """What is known of the machine and of the recording: see tape-format.rst."""
        meta: dict[str, Any] = json.loads(self._tape.meta_json)
        return meta

    @property
    def damage(self) -> str | None:
        """Where and how the tape is truncated or corrupt; None: nothing is known to be wrong.

        Pages that contradict themselves are found when they are read.
        """
        return self._tape.damage

    @property
    def start_ns(self) -> int:
        """When the recording began."""
        return self._tape.start_ns

    @property
    def stop_ns(self) -> int:
        """When it ended."""
        return self._tape.stop_ns

    @property
    def is_pipe(self) -> bool:
        """The tape is a pipe, which is read once. Its end and its losses are known at the end."""
        return self._tape.is_pipe

    @property
    def cpus(self) -> list[Cpu]:
        """The counts of each CPU, of lost events as well."""
        return [Cpu(*counts) for counts in self._tape.cpu_counts]

    @property
    def lost(self) -> int:
        """How many events are lost."""
        return sum(cpu.lost for cpu in self.cpus)

    @property
    def descriptions(self) -> list[Description]:
        """What was read of tasks, by time; more may come with the events of a pipe."""
        return sorted(Description(*values) for values in self._tape.descriptions)

    @property
    def description_count(self) -> int:
        """How many of them there are: a pipe has more and more."""
        return self._tape.description_count

    def events(self) -> Iterator[Event]:
        """Iterates over all events by time. One iteration at a time: a new one ends the last."""
        return self._tape.events()

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def columns(self) -> Mapping[str, Column]:
        """Returns time_ns, cpu, event, pid, curr_pid and arg of all events.

        The number in event is a type that EVENT_TYPES names. The pid of a switch is its next_pid.
        """
        if self._events is None:
            self._events = self._tape.event_columns()
        return self._events

    def tracepoints(self) -> list[Tracepoint]:
        """Returns the other tracepoints that were recorded; some may have no samples."""
        return [Tracepoint(name, decodes, tuple(Field(*field) for field in fields))
                for name, decodes, fields in self._tape.tracepoints()]

    def samples(self, *patterns: str) -> Iterator[Sample]:
        """Iterates over the events of other tracepoints by time.

        With patterns, such as "irq:*", only over those of these tracepoints. What was lost of
        others then comes with the name None. Several iterations may go on at a time, also beside
        one of events().
        """
        if not patterns:
            return self._tape.samples(None)
        globs = [pattern for pattern in patterns if set(pattern) & set("*?[")]
        return self._tape.samples({*patterns, *(point.name for point in self.tracepoints() if any(
            fnmatchcase(point.name, glob) for glob in globs))})

    def _read(self) -> tuple[list[Task], Any, Any, Any, Any]:
        if self._timeline is None:
            self._timeline = self._tape.timeline()
        return self._timeline

    def tasks(self) -> list[Task]:
        """Returns all tasks, by index."""
        return self._read()[0]

    def task(self, index: int) -> Task:
        """Returns a task."""
        return self._read()[0][index]

    def runs(self) -> Table[Run]:
        """Returns all runs, by their ends."""
        return Table(self._read()[1], _run)

    def bursts(self) -> Table[Burst]:
        """Returns all bursts, by their ends."""
        return Table(self._read()[2], _burst)

    def waits(self) -> Table[Wait]:
        """Returns all times that tasks waited for a CPU, by the ends of the runs that followed."""
        return Table(self._read()[3], _wait)

    def edges(self) -> Table[Edge]:
        """Returns which task woke which, and how often."""
        return Table(self._read()[4], Edge)


def open(path: str | bytes | os.PathLike[str]) -> Tape:  # pylint: disable=redefined-builtin
    """Opens a tape: a file, the folder of a tape in several files, or a pipe. "-": standard input.

    A pipe is read once, while it is recorded: by events(), columns(), or what tasks() and the like
    read together. It has no samples.
    """
    return Tape(path)
