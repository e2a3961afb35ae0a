#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Description: the Python package has what the tape has, in every form, and says what is wrong."""
import array
import ast
import ctypes
import fcntl
import gc
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import termios
import threading
import time
import zipfile

from tap import BUILD, LOAD_TAPE, PACKAGE, POINTS_TAPE, SCHEDTAPE, TOP, finish, make_package, ok


def fails(error, call, *arguments):
    """Returns the message of the exception that a call ends with, or None."""
    try:
        call(*arguments)
    except error as seen:
        return str(seen) or type(seen).__name__
    except Exception as other:  # pylint: disable=broad-except
        print(f"# {type(other).__name__}: {other}")
    return None


def printed(*words):
    """What a command prints in JSON."""
    return subprocess.run([SCHEDTAPE, *words], capture_output=True, text=True, check=True).stdout


def test_events(schedtape, path):
    lines = [json.loads(line) for line in printed("script", "--json", path).splitlines()[1:]]
    with schedtape.open(path) as tape:
        events = list(tape.events())
        columns = tape.columns()
    names = schedtape.Event.__match_args__[:-1]
    seen = [{name: getattr(event, name) for name in names} for event in events]
    expected = [{name: line.get(name) for name in names} for line in lines]
    for one, line in zip(seen, expected):
        # Only descriptions have a name of their own.
        if one["event"] != "task":
            line["comm"] = None
    ok(seen == expected and len(seen) > 30000, "the events that script prints, by the same names",
       [pair for pair in zip(seen, expected) if pair[0] != pair[1]][:2])
    expected = [(line["time_ns"], line["cpu"], line["event"],
                 line.get("pid", line.get("next_pid", 0))) for line in lines]
    names = {number: name for name, number in schedtape.EVENT_TYPES.items()}
    ok([(when, cpu, names[kind], pid) for when, cpu, kind, pid in
        zip(columns["time_ns"], columns["cpu"], columns["event"], columns["pid"])] == expected,
       "the same in columns, after the tape was closed")
    return columns


def test_hints(schedtape):
    """The hints for type checkers have what the part in C has."""
    with open(os.path.join(os.path.dirname(schedtape.__file__), "_schedtape.pyi"),
              encoding="utf-8") as file:
        tree = ast.parse(file.read())
    hints = {node.name: [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
             for node in tree.body if isinstance(node, ast.ClassDef)}
    for name in ("Event", "Sample", "Task"):
        names = getattr(schedtape, name).__match_args__
        ok(hints[name] == list(names), f"type hints of {name}", (hints[name], names))
    names = {name for name in vars(schedtape._schedtape.Tape) if not name.startswith("__")}
    ok({*hints["Tape"]} - {"__init__"} == names, "type hints of the tape", names)
    ok(os.path.exists(os.path.join(os.path.dirname(schedtape.__file__), "py.typed")),
       "and a mark that there are hints")


def test_buffers(columns):
    times, kind = memoryview(columns["time_ns"]), memoryview(columns["event"])
    ok(times.format == "Q" and times.itemsize == 8 and times.readonly and kind.format == "H" and
       times.shape == (len(columns["time_ns"]),), "columns are buffers, to be read only",
       (times.format, times.shape, kind.format))
    first = (ctypes.c_uint64 * 1).from_buffer_copy(times[:1])[0]
    ok(first == columns["time_ns"][0] and
       array.array("Q", columns["time_ns"]) == array.array("Q", times), "with the same numbers")
    ok(fails(IndexError, columns["time_ns"].__getitem__, len(columns["time_ns"])), "and an end")
    ok(times.strides == kind.strides and times.strides[0] > 8 and
       bytes(times) == array.array("Q", times).tobytes() and
       fails(BufferError, hashlib.sha256, columns["time_ns"]), "all columns are in the same memory",
       times.strides)
    import numpy  # pylint: disable=import-outside-toplevel

    numbers = numpy.asarray(columns["time_ns"])
    ok(numbers.dtype == numpy.uint64 and not numbers.flags.owndata and
       numbers[-1] == columns["time_ns"][len(columns["time_ns"]) - 1], "numpy copies nothing")


def test_timeline(schedtape, path):
    report = json.loads(printed("report", "--json", path))
    hist = [json.loads(line) for line in printed("timehist", "--json", path).splitlines()[1:]]
    with schedtape.open(path) as tape:
        tasks, runs, bursts, waits, edges = (tape.tasks(), tape.runs(), tape.bursts(),
                                             tape.waits(), tape.edges())
    names = [name for name in schedtape.Task.__match_args__ if name != "cgroup"]
    # report makes names safe for a terminal.
    seen = [{name: getattr(task, name) for name in names} |
            {"comm": task.comm.replace("\33", "?")} for task in tasks]
    expected = [{name: task.get(name) for name in names}
                for task in sorted(report["tasks"], key=lambda task: task["index"])]
    ok(seen == expected and len(seen) == 60, "tasks, as report has them",
       [pair for pair in zip(seen, expected) if pair[0] != pair[1]][:2])
    lines = [(line["time_ns"], line["cpu"], line["pid"], line["run_ns"])
             for line in hist if line["event"] == "run"]
    ok(sorted((run.end_ns, run.cpu, tasks[run.task_index].pid, run.end_ns - run.begin_ns)
              for run in runs)
       == sorted(lines) and len(lines) > 10000, "runs, as timehist has them")
    ok(sum(run.end_ns - run.begin_ns for run in runs) ==
       sum(task.cpu_time_ns for task in tasks) ==
       sum(burst.cpu_time_ns for burst in bursts), "runs and bursts add up to the CPU time")
    ok(all(burst.state != "R" for burst in bursts) and len(bursts) < len(runs) and
       len(bursts) == sum(task["bursts"] for task in report["tasks"]), "bursts end with a sleep")
    delays = sum(task["delay_total_ns"] for task in report["tasks"])
    ended = [wait for wait in waits if wait.cpu is not None]
    ok(sum(wait.end_ns - wait.begin_ns for wait in ended) == delays and
       {wait.woken for wait in waits} == {True, False} and
       {wait.context for wait in waits} == {"task", "hardirq", None},
       "waits add up to the delays", (delays, waits))
    ok([edge._asdict() for edge in edges] == report["edges"],
       "edges, as report has them", list(edges)[:3])
    ok(runs[-1] == list(runs)[-1] and len(runs.columns["begin_ns"]) == len(runs),
       "rows by number, and their columns", runs)


def test_samples(schedtape, path):
    lines = [json.loads(line) for line in printed("script", "--json", path).splitlines()[1:]]
    expected = [(line["time_ns"], line["cpu"], line["event"], line["fields"])
                for line in lines if "fields" in line]
    tape = schedtape.open(path)
    samples = list(tape.samples())
    seen = [(one.time_ns, one.cpu, one.event, one.fields) for one in samples if one.data]
    for _, _, _, fields in seen:
        if fields and "text" in fields:
            fields["text"] = fields["text"].replace("\33", "?")
    ok(seen == expected and len(seen) == 2003, "the samples that script prints",
       [pair for pair in zip(seen, expected) if pair[0] != pair[1]][:3])
    lost = [one for one in samples if one.lost]
    ok([(one.lost, one.event, one.fields, one.data) for one in lost] == [(12, None, None, b"")],
       "and a loss", lost)
    ok((samples[0].tgid, samples[0].curr_pid, samples[3].curr_pid) == (9, 10, -1),
       "with their tasks")
    ok([one.event for one in tape.samples("irq:*_entry")] ==
       [None, *["irq:irq_handler_entry"] * 1000], "those of a pattern, and losses of others")
    ok(not [*tape.samples("no:such")][1:], "or none")
    points = {point.name: point for point in tape.tracepoints()}
    fields = {field.name: field for field in points["test:all"].fields}
    ok(list(points) == ["irq:irq_handler_entry", "irq:irq_handler_exit", "test:all", "test:broken"]
       and points["test:all"].decodes and not points["test:broken"].decodes, "tracepoints", points)
    ok(fields["vec"][1:] == ("number", False, {0: "HI", 1: "TIMER"}, None) and
       fields["flags"][1:] == ("number", False, {1: "ONE", 4: "FOUR", 0: "none"}, "|") and
       fields["low"].signed and [fields[name].kind for name in ("args", "comm", "what")] ==
       ["numbers", "text", "opaque"], "with their fields, and names of values", fields)
    both, events = tape.samples(), tape.events()
    entries = tape.samples("irq:*_entry*")
    ok(next(both).time_ns < next(events).time_ns < next(entries).time_ns + 10**6 and
       next(both) and next(events), "several iterations go on beside each other")
    tape.close()
    ok("closed" in (fails(ValueError, next, both) or "") and
       "closed" in (fails(ValueError, tape.samples) or "") and
       "closed" in (fails(ValueError, tape.tracepoints) or ""), "a closed tape: an error")
    with schedtape.open(path) as again:
        ok(fails(TypeError, again._tape.samples, 3) and fails(TypeError, again.samples, 3),
           "patterns that are none: an error")


def test_pipe(schedtape, folder):
    """A pipe that has not ended gives events, and lets other threads run; and only once."""
    path = f"{folder}/live.tape"
    subprocess.run([LOAD_TAPE, path, "40000", "live"], check=True)
    with schedtape.open(path) as tape:
        expected, cpu_time = list(tape), sum(task.cpu_time_ns for task in tape.tasks())
    with open(path, "rb") as file:
        whole = file.read()
    fifo = f"{folder}/fifo"
    os.mkfifo(fifo)
    go_on = threading.Event()

    def write():
        with open(fifo, "wb") as file:
            # The tape says after two thirds how far it has come.
            file.write(whole[:len(whole) * 3 // 4])
            file.flush()
            ok(go_on.wait(60), "a pipe gives events before it has ended")
            file.write(whole[len(whole) * 3 // 4:])

    thread = threading.Thread(target=write)
    thread.start()
    with schedtape.open(fifo) as tape:
        events = tape.events()
        first = next(events)
        # The other thread writes the rest when this one waits without the GIL.
        go_on.set()
        seen = [first, *events]
        ok(tape.is_pipe and seen == expected and not tape.damage, "a pipe has the events of a file",
           (tape.damage, len(seen), len(expected)))
        ok("only once" in (fails(schedtape.TapeError, tape.tasks) or "") and
           "samples" in (fails(schedtape.TapeError, tape.samples) or ""),
           "it is read once, and has no samples")
    thread.join()
    text = ("import schedtape\n"
            "print(sum(task.cpu_time_ns for task in schedtape.open('-').tasks()))")
    done = subprocess.run([sys.executable, "-c", text], input=whole, capture_output=True,
                          check=False, env={**os.environ, "PYTHONPATH": PACKAGE})
    ok(done.stdout.decode() == f"{cpu_time}\n", "tasks of standard input", done)


WAITING = """
import schedtape, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGUSR1, lambda *_: print("heard", flush=True))
tape = schedtape.open(sys.argv[1])
{}
"""


GO_ON = """
n, events = 0, tape.events()
try:
    for _ in events:
        n += 1
except KeyboardInterrupt:
    print(n, flush=True)
print(n + sum(1 for _ in events))
"""


def test_signals(schedtape, folder):
    """A signal that comes while a pipe has nothing is handled at once, and may end the wait."""
    with schedtape.open(f"{folder}/live.tape") as tape:
        count = sum(1 for _ in tape)
    with open(f"{folder}/live.tape", "rb") as file:
        whole = file.read()
    for call, begin in (("", b""), ("[*tape]", whole[:-1000]), ("tape.tasks()", whole[:-1000]),
                        (GO_ON, whole[:-1000])):
        fifo = f"{folder}/fifo{len(call)}"
        os.mkfifo(fifo)
        with subprocess.Popen([sys.executable, "-c", WAITING.format(call), fifo], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": PACKAGE}) as child:
            with open(fifo, "wb") as file:
                file.write(begin)
                file.flush()
                wait_until(lambda: bytes_in(file) == 0 and state_of(child.pid) == "S")
                child.send_signal(signal.SIGUSR1)
                heard = child.stdout.readline()
                wait_until(lambda: state_of(child.pid) == "S")
                child.send_signal(signal.SIGINT)
                if call == GO_ON:
                    first = int(child.stdout.readline())
                    file.write(whole[-1000:])
                    file.close()
                    said = child.stdout.read()
                    ok(0 < first < count and said == f"{count}\n",
                       "an iteration goes on after it", (first, said, count))
                    continue
                said = child.stderr.read()
        ok(heard == "heard\n" and child.returncode == -signal.SIGINT and
           said.endswith("KeyboardInterrupt\n"), f"Ctrl-C ends {call or 'open()'} of a pipe",
           (heard, child.returncode, said))


def test_signals_in_open(folder):
    """The same while a pipe has no writer."""
    fifo = f"{folder}/fifo-alone"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-c", WAITING.format(""), fifo], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": PACKAGE}) as child:
        wait_until(lambda: catches(child.pid, signal.SIGUSR1) and state_of(child.pid) == "S")
        child.send_signal(signal.SIGUSR1)
        heard = child.stdout.readline()
        wait_until(lambda: state_of(child.pid) == "S")
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
    ok(heard == "heard\n" and child.returncode == -signal.SIGINT and
       said.endswith("KeyboardInterrupt\n"), "Ctrl-C ends the wait for a pipe's writer",
       (heard, child.returncode, said))


def catches(pid, number):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(re.search(r"SigCgt:\s*(\w+)", file.read())[1], 16) >> number - 1 & 1


def bytes_in(file):
    """How many bytes a pipe has."""
    return array.array("i", fcntl.ioctl(file, termios.FIONREAD, b"\0" * 4))[0]


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(") ")[2][0]


def wait_until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)


def test_trouble(schedtape, path, folder):
    ok("No such file" in (fails(OSError, schedtape.open, f"{folder}/none") or ""),
       "a tape that is not there: an OSError")
    with open(f"{folder}/text", "w", encoding="utf-8") as file:
        file.write("no tape\n" * 100)
    said = fails(schedtape.TapeError, schedtape.open, f"{folder}/text")
    ok(said and "text" in said, "no tape: an error that names it", said)
    tape = schedtape.open(path)
    first = iter(tape)
    next(first)
    second = tape.events()
    ok("read again" in (fails(RuntimeError, next, first) or "") and next(second),
       "a second iteration ends the first one")
    tape.close()
    tape.close()
    ok("closed" in (fails(ValueError, next, second) or "") and
       "closed" in (fails(ValueError, tape.columns) or ""), "a closed tape: an error")
    cut = f"{folder}/cut.tape"
    with open(path, "rb") as whole, open(cut, "wb") as file:
        file.write(whole.read()[:-3000])
    with schedtape.open(cut) as tape:
        ok(tape.damage and sum(1 for _ in tape) > 1000, "a tape that is cut: what there is",
           tape.damage)
    ok(fails(TypeError, schedtape.open, 3), "a path that is none: an error")
    ok(fails(schedtape.TapeError, schedtape.open, folder.encode() + b"/\xff"),
       "a path that is no text: an error")


def test_damage(schedtape, path, folder):
    damaged = f"{folder}/damaged.tape"
    with open(path, "rb") as file:
        whole = bytearray(file.read())
    whole[len(whole) // 2] ^= 0xff
    with open(damaged, "wb") as file:
        file.write(whole)
    with schedtape.open(path) as good, schedtape.open(damaged) as tape:
        ok(tape.damage and tape.lost and 1000 < len(tape.columns()["time_ns"]) <
           len(good.columns()["time_ns"]) and len(tape.runs()) > 500,
           "a damaged chunk: the rest is read", (tape.damage, tape.lost))


def test_fork(schedtape, path):
    """A child has no threads of the library, and still ends."""
    tape = schedtape.open(path)
    events = tape.events()
    for _ in range(30000):
        next(events)
    child = os.fork()
    if not child:
        said = fails(RuntimeError, next, events)
        tape.close()
        os._exit(0 if said and "child" in said else 1)
    for _ in range(600):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        pid, status = os.waitpid(child, 0)
    ok(status == 0, "a child of a fork may close the tape, but not read it", status)
    ok(next(events), "and the parent goes on")


def test_threads(schedtape, path):
    counts = []

    def read():
        with schedtape.open(path) as tape:
            counts.append((len(tape.columns()["time_ns"]), len(tape.runs())))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok(len(set(counts)) == 1 and len(counts) == 4, "four threads with a tape each", counts)


def test_wheel(folder, path):
    """A wheel has all files, and works with an installed library."""
    source, root = f"{folder}/source", f"{folder}/root"
    shutil.copytree(os.path.join(TOP, "user/bindings/python"), source)
    subprocess.run(["make", "-s", "-C", TOP, "install-user", f"DESTDIR={root}", "PREFIX=/usr"],
                   check=True, capture_output=True)
    found = {"PKG_CONFIG_PATH": f"{root}/usr/lib/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": root}
    made = subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel", "-d",
                           f"{folder}/wheel"], cwd=source, capture_output=True, text=True,
                          check=False, env={**os.environ, **found})
    wheels = glob.glob(f"{folder}/wheel/schedtape-*-cp311-abi3-linux_*.whl")
    if not ok(made.returncode == 0 and len(wheels) == 1, "a wheel for Python 3.11 and later", made):
        return
    with zipfile.ZipFile(wheels[0]) as file:
        file.extractall(f"{folder}/unpacked")
    had = {os.path.relpath(name, f"{source}/schedtape") for name in
           glob.glob(f"{source}/schedtape/**/*.py*", recursive=True) if os.path.isfile(name)}
    has = {os.path.relpath(name, f"{folder}/unpacked/schedtape") for name in
           glob.glob(f"{folder}/unpacked/schedtape/**/*.py*", recursive=True)}
    ok(had and had <= has, "it has all files", had - has)
    text = "import sys, schedtape; print(len(schedtape.open(sys.argv[1]).runs()))"
    used = subprocess.run([sys.executable, "-c", text, path], capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": f"{folder}/unpacked",
                                            "LD_LIBRARY_PATH": f"{root}/usr/lib"})
    ok(used.stdout.strip().isdigit() and int(used.stdout) > 10000, "and reads tapes", used)


ALL = """
import hashlib, json, sys, schedtape
with schedtape.open(sys.argv[1]) as tape, schedtape.open(sys.argv[2]) as points:
    values = [list(tape.events()), tape.tasks(), *map(list, (tape.runs(), tape.bursts(),
              tape.waits(), tape.edges())), [bytes(c).hex() for c in tape.columns().values()]]
    values.append([sample[:-1] for sample in points.samples()])
print(sys.version_info[1], hashlib.sha256(json.dumps(values).encode()).hexdigest())
"""


def newer_python(folder):
    """Makes a program "python3" of Debian 13's Python. The libraries that this one lacks are this
    machine's."""
    made = subprocess.run([f"{TOP}/selftests/qemu/fetch", "root", "trixie"], capture_output=True,
                          text=True, check=False)
    root = made.stdout.strip()
    programs = glob.glob(f"{root}/usr/bin/python3.[1-9][0-9]") if root else []
    if not programs:
        return None
    os.mkdir(f"{folder}/bin")
    here = sysconfig.get_config_var("MULTIARCH")
    loader = glob.glob(f"{root}/lib*/ld-linux*.so*")[0]
    with open(f"{folder}/bin/python3", "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexport PYTHONHOME={root}/usr PYTHONDONTWRITEBYTECODE=1\n"
                   f"exec {loader} --library-path {root}/usr/lib/{here}:/usr/lib/{here} "
                   f'{programs[0]} "$@"\n')
    os.chmod(f"{folder}/bin/python3", 0o755)
    return f"{folder}/bin"


def test_newer(folder, path, points):
    """One build is for later versions of Python, too."""
    newer = newer_python(folder)
    if not newer:
        ok(True, "a newer Python # SKIP the root of Debian 13 cannot be had")
        return
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    seen = [subprocess.run([python, "-c", ALL, path, points], capture_output=True, text=True,
                           check=False, env=environment)
            for python in (sys.executable, f"{newer}/python3")]
    (mine, expected), (minor, values) = (done.stdout.split() or ("", "") for done in seen)
    ok(expected and values == expected, f"Python 3.{minor} reads what 3.{mine} reads", seen)
    counts = [subprocess.run([SCHEDTAPE, "script", "-i", path, "-s", "event-counts"],
                             capture_output=True, text=True, check=False,
                             env={**environment, "PATH": f"{first}:{os.environ['PATH']}"})
              for first in ("/usr/bin", newer)]
    ok(counts[0].stdout and counts[1].stdout == counts[0].stdout, "and runs scripts", counts)


def test_no_headers():
    """Without Python's headers the package is not built, which names what to install."""
    made = subprocess.run(["make", "-s", "-C", TOP, "-W", "user/bindings/python/module.c", "python",
                           "PYTHON=/nonexistent/python3"], capture_output=True, text=True,
                          check=False)
    ok(made.returncode and "no headers here: install python3-dev" in made.stderr,
       "no headers of Python: what to install", made)
    made = subprocess.run(["make", "-n", "-B", "-C", TOP, "all"], capture_output=True, text=True,
                          check=False)
    used = re.search(r"^\s*@?(\S*/)?(python3?|perl)\b|/python/", made.stdout, re.M)
    ok(made.returncode == 0 and not used, "the rest needs neither Python nor Perl",
       (used, made.stderr))


def memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory(schedtape, folder):
    """Columns take the memory that python.rst says."""
    path, events = f"{folder}/long.tape", 1000000
    subprocess.run([LOAD_TAPE, path, str(events)], check=True)
    with schedtape.open(path) as tape:
        next(tape.events())
        before = memory()
        columns = tape.columns()
        each = (memory() - before) / len(columns["time_ns"])
    ok(31 < each < 36, "columns of events take 32 bytes for an event", each)


def test_leaks(schedtape, path, points):
    """Nothing is left of a tape that nobody has any more."""
    used = []
    for _ in range(30):
        with schedtape.open(path) as tape, schedtape.open(points) as other:
            rows = len(tape.runs()) + len(tape.columns()["time_ns"]) + sum(1 for _ in tape)
            rows += len(other.tracepoints()) + sum(1 for _ in other.samples())
        del tape, other
        gc.collect()
        used.append(memory())
    ok(used[-1] - used[5] < 2 << 20, f"memory stays the same ({rows} rows each time)", used)


def main():
    make_package()
    sys.path.insert(0, PACKAGE)
    import schedtape  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        test_hints(schedtape)
        path = f"{folder}/load.tape"
        subprocess.run([LOAD_TAPE, path, "40000"], check=True)
        test_buffers(test_events(schedtape, path))
        test_timeline(schedtape, path)
        points = f"{folder}/points.tape"
        subprocess.run([POINTS_TAPE, points, "1000"], check=True)
        test_samples(schedtape, points)
        with schedtape.open(path) as tape:
            ok(not tape.tracepoints() and not list(tape.samples()), "a tape without samples")
        test_pipe(schedtape, folder)
        test_signals(schedtape, folder)
        test_signals_in_open(folder)
        test_trouble(schedtape, path, folder)
        test_damage(schedtape, path, folder)
        test_fork(schedtape, path)
        test_threads(schedtape, path)
        test_memory(schedtape, folder)
        test_leaks(schedtape, path, points)
        test_wheel(folder, path)
        test_newer(folder, path, points)
    test_no_headers()
    finish()


main()
