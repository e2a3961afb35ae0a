# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each PID is while one goes through the events of a tape."""
from __future__ import annotations

from collections.abc import Callable
from copy import copy

from . import Event, Tape


class Identity:
    """A task, as far as it is known: name "", process 0, priority and CPU None are not."""

    __slots__ = ("comm", "tgid", "prio", "cpu", "boosted")

    def __init__(self, comm: str = "", tgid: int = 0, prio: int | None = None,
                 cpu: int | None = None, boosted: bool = False) -> None:
        self.comm = comm
        self.tgid = tgid
        self.prio = prio
        self.cpu = cpu
        self.boosted = boosted


UNKNOWN = Identity()


class Identities:
    """The identities by PID. follow() changes them, event by event.

    A PID has its first identity from the start, as in the lines of schedtape script, although the
    recorder describes tasks a little later than it begins. If events are missing, an identity may
    come after the first event of its task, so such a tape is read once for them, but no pipe.
    """

    def __init__(self, tape: Tape) -> None:
        self._tasks: dict[int, Identity] = {}
        self._pipe = tape if tape.is_pipe else None
        self._described = tape.descriptions
        self._next = 0
        self._follow: dict[str, Callable[[Event], None]] = {
            "switch": self._switch, "wakeup": self._move, "wakeup_new": self._move,
            "migrate": self._move, "fork": self._fork, "exec": self._exec,
            "rename": self._rename, "setprio": self._setprio, "task": self._task,
        }
        missing = tape.lost or tape.damage or tape.meta.get("overwrite") or \
            any(cpu.overwritten for cpu in tape.cpus)
        if missing and not tape.is_pipe:
            self._scan(tape)
        self._take(None, self._tasks.setdefault)
        self._next = 0

    def _take(self, before: int | None, put: Callable[[int, Identity], object]) -> None:
        """Puts what the recorder read of tasks before a time; None: all that is left."""
        while self._next < len(self._described):
            told = self._described[self._next]
            if before is not None and told.time_ns >= before:
                return
            put(told.pid, Identity(told.comm, told.tgid, told.prio, told.cpu))
            self._next += 1

    def _scan(self, tape: Tape) -> None:
        for event in tape.events():
            self._take(event.time_ns, self._tasks.setdefault)
            if event.event == "fork":
                self._own(event.pid)
            elif event.event == "task":
                self._tasks.setdefault(event.pid or 0, self._described_by(event))

    def get(self, pid: int | None) -> Identity:
        """Returns what is known of a PID, which is not to be changed."""
        return self._tasks.get(pid or 0, UNKNOWN)

    def reach(self, time: int) -> None:
        """Takes the tape's descriptions from before a time."""
        if self._pipe and self._pipe.description_count > len(self._described):
            known = set(self._described)
            self._described += [told for told in self._pipe.descriptions if told not in known]
        self._take(time, self._tasks.__setitem__)

    def follow(self, event: Event) -> None:
        """Changes what an event changes."""
        change = self._follow.get(event.event)
        if change:
            change(event)

    def _own(self, pid: int | None) -> Identity:
        return self._tasks.setdefault(pid or 0, Identity())

    def _switch(self, event: Event) -> None:
        if event.next_pid:
            self._own(event.next_pid).cpu = event.cpu

    def _move(self, event: Event) -> None:
        self._own(event.pid).cpu = event.target_cpu

    def _rename(self, event: Event) -> None:
        self._own(event.pid).comm = event.new_comm or ""

    def _setprio(self, event: Event) -> None:
        task = self._own(event.pid)
        task.prio, task.boosted = event.prio, bool(event.boosted)

    @staticmethod
    def _described_by(event: Event) -> Identity:
        return Identity(event.comm or "", event.tgid or 0, event.prio, event.task_cpu,
                        bool(event.boosted))

    def _task(self, event: Event) -> None:
        self._tasks[event.pid or 0] = self._described_by(event)

    def _exec(self, event: Event) -> None:
        """A thread that calls execve() gets the PID of its process."""
        if event.old_pid and event.old_pid != event.pid:
            self._tasks[event.pid or 0] = copy(self.get(event.old_pid))

    def _fork(self, event: Event) -> None:
        """A child begins as its parent is. The tape may not know the parent."""
        child = copy(self.get(event.curr_pid))
        if not event.thread:
            child.tgid = event.pid or 0
        self._tasks[event.pid or 0] = child
