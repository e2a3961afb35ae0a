# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel's tracepoints of scheduling, made of a tape's events for scripts that know perf's.

What a tape does not have gets a value of the same type that no kernel gives: the name ":other" and
the PID -1 for a task that was not recorded, the priority 140, and 1001 for oom_score_adj. Names of
programs stand for the paths of their files.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import Event, Sample, Tape
from .identities import Identities

OTHER_COMM = ":other"
OTHER_PID = -1
OTHER_PRIO = 140
OTHER_ADJ = 1001
IDLE_PRIO = 120

#: Bits of a task's state, as prev_state has them, by the letter that ps has.
STATES = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "P": 64, "I": 128}

#: The fields of each tracepoint, in the order in which perf gives them to a handler.
FIELDS: dict[str, tuple[str, ...]] = {
    "sched:sched_switch": ("prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm",
                           "next_pid", "next_prio"),
    "sched:sched_waking": ("comm", "pid", "prio", "target_cpu"),
    "sched:sched_wakeup": ("comm", "pid", "prio", "target_cpu"),
    "sched:sched_wakeup_new": ("comm", "pid", "prio", "target_cpu"),
    "sched:sched_process_fork": ("parent_comm", "parent_pid", "child_comm", "child_pid"),
    "sched:sched_process_exec": ("filename", "pid", "old_pid"),
    "sched:sched_process_exit": ("comm", "pid", "prio"),
    "sched:sched_migrate_task": ("comm", "pid", "prio", "orig_cpu", "dest_cpu"),
    "sched:sched_pi_setprio": ("comm", "pid", "oldprio", "newprio"),
    "sched:sched_stat_runtime": ("comm", "pid", "runtime"),
    "task:task_rename": ("pid", "oldcomm", "newcomm", "oom_score_adj"),
}

#: The tracepoint of each type of event. sched_stat_runtime is made of two switches.
OF_TYPE = {
    "switch": "sched:sched_switch", "waking": "sched:sched_waking",
    "wakeup": "sched:sched_wakeup", "wakeup_new": "sched:sched_wakeup_new",
    "fork": "sched:sched_process_fork", "exec": "sched:sched_process_exec",
    "exit": "sched:sched_process_exit", "migrate": "sched:sched_migrate_task",
    "setprio": "sched:sched_pi_setprio", "rename": "task:task_rename",
}

# The tracepoints of these have a task's old value beside the new one.
_OLD_BESIDE_NEW = {"rename", "setprio", "migrate"}


class Context:
    """In place of perf's context, for perf_trace_context."""

    #: The bytes of the sample that a function gets. Those of scheduling have none.
    data = b""

    def common(self, offset: int) -> int:
        """A byte of what the data of all tracepoints begin with."""
        return self.data[offset] if offset < len(self.data) else 0


CONTEXT = Context()


class Tracepoints:
    """Goes through a tape: calls what is set for a tracepoint.

    A call gets the tracepoint's name, the event, the CPU, the PID and the name of the task that ran
    there, and the list of the tracepoint's fields. calls are for tracepoints that are made of the
    tape's events, sample_calls for those of samples.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.identities = Identities(tape)
        self.calls: dict[str, Callable[..., None]] = {}
        self.sample_calls: dict[str, Callable[..., None]] = {}
        #: Tracepoints of samples that no call can get.
        self.undecodable: list[str] = []
        #: Of the samples: those that are missing, and those whose fields are not known.
        self.samples_lost = 0
        self.samples_unknown = 0
        #: There are samples that a call wants, but they cannot be read.
        self.left_out = False
        #: Ends run() before the next event.
        self.stopped = False
        self._since: dict[int, tuple[int | None, int]] = {}
        self._fields: dict[str, Callable[[Event], list[Any]]] = {
            "switch": self._switch, "waking": self._waking, "wakeup": self._wakeup,
            "wakeup_new": self._wakeup, "fork": self._fork, "exec": self._exec, "exit": self._exit,
            "migrate": self._migrate, "setprio": self._setprio, "rename": self._rename,
        }

    # -- values ------------------------------------------------------------------------------

    def comm(self, pid: int | None) -> str:
        """The name of a task; ":100" if only its PID is known, as perf has it."""
        return self.identities.get(pid).comm or (f":{pid}" if pid else OTHER_COMM)

    def _prio(self, pid: int | None) -> int:
        prio = self.identities.get(pid).prio
        return OTHER_PRIO if prio is None else prio

    def _task(self, pid: int | None) -> list[Any]:
        return [self.comm(pid), pid or 0, self._prio(pid)]

    def _cpu(self, pid: int | None, event: Event) -> int:
        cpu = self.identities.get(pid).cpu
        return cpu if cpu is not None else event.cpu or 0

    def _side(self, pid: int | None, kind: str | None, cpu: int | None) -> list[Any]:
        if pid:
            return self._task(pid)
        if kind == "idle":
            return [f"swapper/{cpu}", 0, IDLE_PRIO]
        return [OTHER_COMM, OTHER_PID, OTHER_PRIO]

    # -- fields of each tracepoint --------------------------------------------------------------

    def _switch(self, event: Event) -> list[Any]:
        prev = self._side(event.curr_pid, event.curr_kind, event.cpu)
        following = self._side(event.next_pid, event.next_kind, event.cpu)
        return [*prev, STATES.get(event.prev_state or "R", 0), *following]

    def _waking(self, event: Event) -> list[Any]:
        return [*self._task(event.pid), self._cpu(event.pid, event)]

    def _wakeup(self, event: Event) -> list[Any]:
        return [*self._task(event.pid), event.target_cpu]

    def _fork(self, event: Event) -> list[Any]:
        return [self.comm(event.curr_pid), event.curr_pid or OTHER_PID, self.comm(event.pid),
                event.pid or 0]

    def _exec(self, event: Event) -> list[Any]:
        return [self.comm(event.pid), event.pid or 0, event.old_pid]

    def _exit(self, event: Event) -> list[Any]:
        return self._task(event.pid)

    def _migrate(self, event: Event) -> list[Any]:
        return [*self._task(event.pid), self._cpu(event.pid, event), event.target_cpu]

    def _setprio(self, event: Event) -> list[Any]:
        return [*self._task(event.pid), event.prio]

    def _rename(self, event: Event) -> list[Any]:
        return [event.pid or 0, self.comm(event.pid), event.new_comm, OTHER_ADJ]

    # -- events --------------------------------------------------------------------------------

    def _has(self, event: Event) -> bool:
        """Is there a tracepoint for the event?"""
        if event.event == "exit":
            return not event.ended
        if event.event == "setprio":
            # The kernel has one for a priority that waiters lend, or take back.
            return bool(event.boosted) or self.identities.get(event.pid).boosted
        return True

    def _call(self, event: Event) -> None:
        name = OF_TYPE[event.event]
        call = self.calls.get(name)
        if call is None:
            return
        pid = event.curr_pid or (event.pid if event.cpu is None else None)
        cpu = self._cpu(pid, event) if event.cpu is None else event.cpu
        comm, pid, _ = self._side(pid, event.curr_kind, cpu)
        call(name, event, cpu, pid, comm if pid else "swapper", self._fields[event.event](event))

    def _call_runtime(self, event: Event) -> None:
        """A task leaves a CPU: calls with how long it ran, if the tape shows since when."""
        name = "sched:sched_stat_runtime"
        call = self.calls.get(name)
        if call is None:
            return
        pid, since = self._since.get(event.cpu or 0, (None, 0))
        if pid and event.curr_pid == pid:
            comm = self.comm(pid)
            call(name, event, event.cpu, pid, comm, [comm, pid, event.time_ns - since])
        self._since[event.cpu or 0] = (event.next_pid, event.time_ns)

    def _keep_runtime(self, event: Event) -> None:
        """What a task ran is not known over a gap, and goes on under another PID."""
        if event.event in ("lost", "paused"):
            self._since.pop(event.cpu or 0, None)
        elif event.event == "exec" and event.old_pid:
            for cpu, (pid, since) in self._since.items():
                if pid == event.old_pid:
                    self._since[cpu] = (event.pid, since)

    def _call_sample(self, sample: Sample) -> None:
        self.samples_lost += sample.lost
        call = self.sample_calls.get(sample.event or "")
        if call is None or sample.fields is None:
            self.samples_unknown += sample.event is not None
            return
        self.identities.reach(sample.time_ns)
        comm = self.comm(sample.curr_pid) if sample.curr_pid else "swapper"
        CONTEXT.data = sample.data
        call(sample.event, sample, sample.cpu, sample.curr_pid, comm, [*sample.fields.values()])
        CONTEXT.data = b""

    def _events_and_samples(self) -> Iterator[Event]:
        """All events. Calls for the samples up to each of them, in between.

        On one CPU, what a task does comes before it leaves.
        """
        samples = self.tape.samples(*self.sample_calls, *self.undecodable)
        sample = next(samples, None)
        for event in self.tape.events():
            while sample and sample.time_ns <= event.time_ns and not self.stopped:
                self._call_sample(sample)
                sample = next(samples, None)
            yield event
        while sample and not self.stopped:
            self._call_sample(sample)
            sample = next(samples, None)

    def run(self) -> None:
        """Goes through all events."""
        identities = self.identities
        for event in self._events_and_samples() if self.sample_calls else self.tape.events():
            if self.stopped:
                return
            kind = event.event
            identities.reach(event.time_ns)
            if kind == "switch":
                self._call_runtime(event)
            elif kind not in OF_TYPE or kind == "exec":
                self._keep_runtime(event)
            before = kind in _OLD_BESIDE_NEW
            if not before:
                identities.follow(event)
            if kind in OF_TYPE and self._has(event):
                self._call(event)
            if before:
                identities.follow(event)


def present(tape: Tape) -> Iterator[str]:
    """The tracepoints of scheduling that a tape has, in the order of FIELDS."""
    types = {event.event for event in tape.events()}
    there = {name for kind, name in OF_TYPE.items() if kind in types}
    if "sched:sched_switch" in there:
        there.add("sched:sched_stat_runtime")
    return (name for name in FIELDS if name in there)
