# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs and makes scripts that are written as perf script has them.

    python3 -m schedtape.script run TAPE SCRIPT [ARGUMENT...]
    python3 -m schedtape.script make TAPE OUT
    python3 -m schedtape.script list

A script has a function for each tracepoint that it wants, sched__sched_switch() for
sched:sched_switch, with perf's arguments, and perhaps trace_begin(), trace_end(),
trace_unhandled() and process_event(). Scripts that were made for perf run unchanged.
"""
from __future__ import annotations

import ast
import inspect
import keyword
import os
import re
import select
import signal
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

from . import Event, Field, Sample, Tape, TapeError, Tracepoint, open as open_tape
from .tracepoints import CONTEXT, FIELDS, Tracepoints, present

#: Arguments that come before a tracepoint's fields.
COMMON = ("event_name", "context", "common_cpu", "common_secs", "common_nsecs", "common_pid",
          "common_comm", "common_callchain")

_HERE = os.path.dirname(os.path.realpath(__file__))
PERF = os.path.join(_HERE, "perf")
SCRIPTS = os.path.join(_HERE, "scripts")


#: Fields that some kernels have besides FIELDS: where they come, and their value here.
EXTRA = {"sched:sched_stat_runtime": {"vruntime": (3, 0)},
         "sched:sched_process_exit": {"group_dead": (3, 0)},
         "sched:sched_waking": {"success": (3, 1)}, "sched:sched_wakeup": {"success": (3, 1)},
         "sched:sched_wakeup_new": {"success": (3, 1)}}


def _arguments(handler: Any) -> tuple[str, ...]:
    """The names of a function's arguments, without *arguments."""
    code: types.CodeType | None = getattr(handler, "__code__", None)
    return code.co_varnames[:code.co_argcount] if code else ()


def _choose(handler: Any, arguments: tuple[str, ...],
            names: tuple[str, ...]) -> list[int] | None:
    """The fields that a function takes by their names, because it was written for a kernel that
    has fewer; the last argument may be perf_sample_dict. None: it takes all of them."""
    if not arguments or len(arguments) >= len(names) or \
            handler.__code__.co_flags & inspect.CO_VARARGS:
        return None
    last = arguments if arguments[-1] in names else arguments[:-1]
    return [names.index(name) for name in last] if set(last) <= set(names) else None


def _sampled(tape: Tape) -> list[Tracepoint]:
    """The tracepoints whose samples a function may get. What a tape says is not trusted."""
    if tape.is_pipe:
        return []
    return [point for point in tape.tracepoints() if point.decodes and
            re.fullmatch(r"\w+:\w+", point.name, re.ASCII)]


class Stopped(Exception):
    """Ctrl-C has ended the events."""


class Runner:
    """Calls the functions of a script, which are in a module."""

    def __init__(self, tape: Tape, module: types.ModuleType) -> None:
        self.points = Tracepoints(tape)
        self.module = module

    def _function(self, name: str) -> Callable[..., Any] | None:
        function = getattr(self.module, name, None)
        return function if callable(function) else None

    def _find_handlers(self) -> None:
        self.points.left_out = self.points.tape.is_pipe and self._wants_samples()
        sampled = {point.name: point for point in _sampled(self.points.tape)}
        self.points.undecodable = [point.name for point in self.points.tape.tracepoints()
                                   if point.name not in sampled]
        for name, fields in FIELDS.items():
            # A sample has the kernel's own values.
            call = None if name in sampled else self._call_for(name, fields)
            if call:
                self.points.calls[name] = call
        for name, point in sampled.items():
            call = self._call_for(name, tuple(field.name for field in point.fields), True)
            if call:
                self.points.sample_calls[name] = call
                self._define(point)

    def _wants_samples(self) -> bool:
        """Has the script a function for another tracepoint of the tape?"""
        return any(self._function(point.name.replace(":", "__")) or
                   self._function("trace_unhandled") or self._function("process_event")
                   for point in self.points.tape.tracepoints())

    def _define(self, point: Tracepoint) -> None:
        """Tells the script's flag_str() and symbol_str() the names of values."""
        event = point.name.replace(":", "__")
        for field in point.fields:
            if not field.names:
                continue
            kind, delimiter = (("symbolic", []) if field.delimiter is None else
                               ("flag", [field.delimiter]))
            begin, add = (self._function(f"define_{kind}_{what}") for what in ("field", "value"))
            if begin and add:
                begin(event, field.name, *delimiter)
                for value, name in field.names.items():
                    add(event, field.name, value, name)

    def _call_for(self, name: str, fields: tuple[str, ...],
                  sampled: bool = False) -> Callable[..., None] | None:
        handler = self._function(name.replace(":", "__"))
        if handler:
            return self._handled(handler, name, fields)
        # Only a script that asks for the derived event gets it.
        if name == "sched:sched_stat_runtime" and not sampled:
            return None
        handler = self._function("trace_unhandled")
        if handler:
            return self._unhandled(handler, fields)
        handler = self._function("process_event")
        return self._process(handler) if handler else None

    def _sample(self, name: str, event: Event | Sample, cpu: int, pid: int,
                comm: str) -> dict[str, Any]:
        """perf_sample_dict. What a tape does not have is 0 or empty."""
        if isinstance(event, Sample):
            tgid, data = event.tgid, event.data
        else:
            tgid, data = self.points.identities.get(pid).tgid or pid, b""
        return {
            "ev_name": name, "comm": comm, "callchain": [], "brstack": [], "brstacksym": [],
            "raw_buf": data, "attr": b"", "iregs": "", "uregs": "",
            "sample": {"pid": tgid, "tid": pid, "cpu": cpu, "time": event.time_ns, "period": 1,
                       "ip": 0, "id": 0, "stream_id": 0, "addr": 0, "phys_addr": 0, "weight": 0,
                       "ins_lat": 0, "transaction": 0, "datasrc": 0, "datasrc_decode": "",
                       "cpumode": 0, "values": []},
        }

    def _handled(self, handler: Callable[..., Any], tracepoint: str,
                 names: tuple[str, ...]) -> Callable[..., None]:
        """Calls a handler with the fields that it names, and with perf_sample_dict if it has one
        argument more."""
        arguments, event_name = _arguments(handler), tracepoint.replace(":", "__")
        extra = [place for name, place in EXTRA.get(tracepoint, {}).items()
                 if name in arguments and name not in names]
        with_sample = len(arguments) == len(COMMON) + len(names) + len(extra) + 1
        chosen = _choose(handler, arguments[len(COMMON):], names)
        if chosen is not None:
            extra, with_sample = [], len(chosen) < len(arguments) - len(COMMON)

        def call(name: str, event: Event, cpu: int, pid: int, comm: str, fields: list[Any]) -> None:
            if chosen is not None:
                fields = [fields[place] for place in chosen]
            for at, value in extra:
                fields.insert(at, value)
            if with_sample:
                fields.append(self._sample(name, event, cpu, pid, comm))
            handler(event_name, CONTEXT, cpu, *divmod(event.time_ns, 10**9), pid, comm, [], *fields)
        return call

    def _unhandled(self, handler: Callable[..., Any],
                   names: tuple[str, ...]) -> Callable[..., None]:
        with_sample = len(_arguments(handler)) > 3

        def call(name: str, event: Event, cpu: int, pid: int, comm: str, fields: list[Any]) -> None:
            values = dict(zip(names, fields))
            values.update(common_cpu=cpu, common_s=event.time_ns // 10**9,
                          common_ns=event.time_ns % 10**9, common_pid=pid, common_comm=comm,
                          common_callchain=[])
            more = [self._sample(name, event, cpu, pid, comm)] if with_sample else []
            handler(name.replace(":", "__"), CONTEXT, values, *more)
        return call

    def _process(self, handler: Callable[..., Any]) -> Callable[..., None]:
        def call(name: str, event: Event, cpu: int, pid: int, comm: str, _: list[Any]) -> None:
            handler(self._sample(name, event, cpu, pid, comm))
        return call

    def _stop(self, _: int, frame: types.FrameType | None) -> None:
        """Ctrl-C ends the events, as in perf. The second one ends the script."""
        self.points.stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # A function of the script comes to its end; a wait for a pipe does not.
        if frame and os.path.dirname(os.path.realpath(frame.f_code.co_filename)) == _HERE:
            raise Stopped

    def run(self) -> None:
        """Runs the script, its begin and end included."""
        begin, end = self._function("trace_begin"), self._function("trace_end")
        if begin:
            begin()
        self._find_handlers()
        try:
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._stop)
            self.points.run()
        except Stopped:
            pass
        if end:
            end()


def own_scripts() -> dict[str, str]:
    """The scripts that come with the package: paths by name."""
    return {name[:-3]: os.path.join(SCRIPTS, name) for name in sorted(os.listdir(SCRIPTS))
            if name.endswith(".py")}


class EngineError(Exception):
    """What the user has to know; the script has nothing to do with it."""


def find(script: str) -> str:
    """Returns the path of a script: a file, or one of the package's."""
    if os.path.isfile(script):
        return script
    found = own_scripts().get(script.removesuffix(".py"))
    if not found:
        raise EngineError(f"{script}: there is no such script: see schedtape script -l")
    return found


def show_list() -> None:
    """Prints what the package's scripts do."""
    print("Scripts in Python:")
    for name, path in own_scripts().items():
        with open(path, encoding="utf-8") as file:
            text = ast.get_docstring(ast.parse(file.read())) or ""
        print(f"  {name:<22} {text.splitlines()[0]}")


def _open(path: str) -> Tape:
    try:
        return open_tape(path)
    except TapeError as error:
        raise EngineError(error.strerror) from error


def _warn(path: str, tape: Tape, points: Tracepoints | None = None) -> None:
    """Says what the events lacked."""
    if tape.damage:
        print(f"schedtape script: {path}: warning: {tape.damage}", file=sys.stderr)
    counts = [(tape.lost, "events are lost")]
    if points:
        if points.left_out:
            print(f"schedtape script: {path}: warning: a pipe: events of other tracepoints are "
                  "left out; save it in a file to see them", file=sys.stderr)
        counts += [(points.samples_lost, "events of other tracepoints are lost"),
                   (points.samples_unknown, "events of other tracepoints cannot be decoded")]
    for count, what in counts:
        if count:
            print(f"schedtape script: {path}: warning: {count:,} {what}", file=sys.stderr)


def run(path: str, script: str, arguments: list[str]) -> None:
    """Runs a script on a tape."""
    script = find(script)
    # Scripts for perf add a folder below this one to sys.path; the modules are in PERF.
    os.environ.setdefault("PERF_EXEC_PATH", PERF)
    sys.path[:0] = [os.path.dirname(os.path.realpath(script)), PERF]
    sys.argv = [script, *arguments]
    with _open(path) as tape, open(script, "rb") as file:
        # perf runs a script as the module __main__ as well, with the context as a global.
        module = types.ModuleType("__main__")
        module.__dict__.update(__file__=script, perf_script_context=CONTEXT)
        sys.modules["__main__"] = module
        runner = None
        try:
            exec(compile(file.read(), script, "exec"), module.__dict__)  # pylint: disable=exec-used
            runner = Runner(tape, module)
            runner.run()
        finally:
            _warn(path, tape, runner.points if runner else None)


# -- new scripts ----------------------------------------------------------------------------------

_HEAD = '''\
# A script for the events of a tape: replace what the functions do.
#
#     schedtape script -i {tape} -s {out}
#
# perf script runs it as well, on a recording of perf.

from __future__ import print_function

import os
import sys

sys.path.append(os.environ["PERF_EXEC_PATH"] + \\
\t"/scripts/python/Perf-Trace-Util/lib/Perf/Trace")

from perf_trace_context import *
from Core import *


def trace_begin():
\tprint("in trace_begin")


def trace_end():
\tprint("in trace_end")
'''

_HANDLER = '''

def {name}(event_name, context, common_cpu,
\tcommon_secs, common_nsecs, common_pid, common_comm,
\tcommon_callchain, {arguments}perf_sample_dict):
\tprint_header(event_name, common_cpu, common_secs, common_nsecs,
\t\tcommon_pid, common_comm)
\tprint("{texts}" %
\t\t({values}))
'''

_TAIL = '''

def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):
\tprint(" ".join("%s=%s" % (key, value) for key, value in sorted(event_fields_dict.items())))


def print_header(event_name, cpu, secs, nsecs, pid, comm):
\tprint("%-20s %5u %05u.%09u %8u %-20s " % (event_name, cpu, secs, nsecs, pid, comm), end="")
'''


#: Names that a field's argument must not have, because others have them.
_TAKEN = {*COMMON, "perf_sample_dict", "print", "print_header", "flag_str", "symbol_str"}


def _format(field: str) -> str:
    return "%s" if field.endswith("comm") or field == "filename" else "%d"


def _argument(field: str, taken: set[str]) -> str:
    """A name for the argument of a field, which may be a word of Python."""
    name = re.sub(r"\W", "_", field, flags=re.ASCII)
    if not name.isidentifier():
        name = f"_{name}"
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    taken.add(name)
    return name


def _handler(name: str, parts: list[tuple[str, str, str]]) -> str:
    """The text of a function. Of each field: its argument, the format, and what is printed."""
    return _HANDLER.format(
        name=name, arguments="".join(f"{argument},\n\t" for argument, _, _ in parts),
        texts=", ".join(f"{argument}={form}" for argument, form, _ in parts),
        values="".join(f"{value},\n\t\t" for _, _, value in parts).rstrip())


def _part(event: str, field: Field, taken: set[str]) -> tuple[str, str, str]:
    argument = _argument(field.name, taken)
    if not field.names:
        return argument, "%d" if field.kind == "number" else "%s", argument
    function = "symbol_str" if field.delimiter is None else "flag_str"
    return argument, "%s", f'{function}("{event}", "{field.name}", {argument})'


def _sample_handler(point: Tracepoint) -> str:
    event, taken = point.name.replace(":", "__"), set(_TAKEN)
    return _handler(event, [_part(event, field, taken) for field in point.fields])


def _write_new(out: str, text: str) -> None:
    """Writes a file that is new, or none."""
    file = open(out, "x", encoding="utf-8")  # pylint: disable=consider-using-with
    try:
        with file:
            file.write(text)
    except OSError:
        os.unlink(out)
        raise


def make(path: str, out: str) -> None:
    """Writes a script with a function for each tracepoint that a tape has."""
    text = _HEAD.format(tape=path, out=out)
    with _open(path) as tape:
        there = set() if tape.is_pipe else {sample.event for sample in tape.samples()}
        sampled = [point for point in _sampled(tape) if point.name in there]
        for name in present(tape):
            if name not in there:
                text += _handler(name.replace(":", "__"),
                                 [(field, _format(field), field) for field in FIELDS[name]])
        text += "".join(map(_sample_handler, sampled))
        _warn(path, tape)
    try:
        _write_new(out, text + _TAIL)
    except OSError as error:
        raise EngineError(f"{out}: {error.strerror}") from error


# -- the command ----------------------------------------------------------------------------------

def _show_traceback(error: BaseException) -> None:
    """Prints the traceback from the script's own first line on. Others are of this package."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename in (__file__, *_ENGINE):
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace or error.__traceback__))


_ENGINE = tuple(os.path.join(_HERE, name) for name in ("tracepoints.py", "identities.py"))


def _reader_gone() -> bool:
    """Has the reader of the output gone, who has seen enough?"""
    poll = select.poll()
    poll.register(1, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _flush() -> bool:
    """Writes what is left of the output, if anybody reads it. Returns False after a message."""
    try:
        sys.stdout.flush()
        return True
    except OSError as error:
        # Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            return True
        print(f"schedtape script: cannot write: {error.strerror}", file=sys.stderr)
        return False


def main() -> int:
    """Returns the exit status."""
    what, *words = sys.argv[1:]
    status = 0
    try:
        if what == "list":
            show_list()
        elif what == "make":
            make(*words)
            print(f"generated Python script: {words[1]}")
        else:
            run(words[0], words[1], words[2:])
    except EngineError as error:
        print(f"schedtape script: {error}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        status = 130
    except Exception as error:  # pylint: disable=broad-except
        if not isinstance(error, BrokenPipeError) or not _reader_gone():
            _flush()
            _show_traceback(error)
            status = 1
    return status if _flush() else status or 1


if __name__ == "__main__":
    sys.exit(main())
