#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Description: scripts that are written for perf script run on tapes, with the same events."""
import glob
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter

from tap import BUILD, LOAD_TAPE, PACKAGE, POINTS_TAPE, SCHEDTAPE, finish, make_package, ok

# perf's own scripts that end by themselves, wherever its package has put them.
PERF_SCRIPTS = ["check-perf-trace", "failed-syscalls-by-pid", "futex-contention", "net_dropmonitor",
                "netdev-times", "stackcollapse", "syscall-counts", "syscall-counts-by-pid",
                "task-analyzer"]
PERF_PERL_SCRIPTS = ["check-perf-trace", "failed-syscalls", "rw-by-file", "rw-by-pid", "rwtop",
                     "wakeup-latency"]


def hear_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*words, package=PACKAGE, **options):
    """Runs a command of schedtape, which does not ignore Ctrl-C even if these tests do."""
    return subprocess.run([SCHEDTAPE, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": package}, preexec_fn=hear_ctrl_c,
                          **options)


def limit_files():
    """Files that the process writes may have 1 KB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


def perl(folder, text, *arguments):
    """Runs a script in Perl with this text."""
    return script(folder, text, *arguments, name="own.pl")


def script(folder, text, *arguments, name="own.py", tape="load.tape"):
    """Runs a script with this text."""
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        file.write(text)
    return run("script", "-i", f"{folder}/{tape}", "-s", f"{folder}/{name}", *arguments)


# -- the same events as script -F perf -----------------------------------------------------------

LINE = re.compile(r"^ *(?P<comm>.*\S) +(?P<pid>\d+) +\[(?P<cpu>\d+)\] +(?P<time>[\d.]+): +"
                  r"(?P<name>[a-z]+:[a-z_]+): (?P<fields>.*)$")
PRINT = '''
def trace_unhandled(event_name, context, fields, sample):
    common = [fields.pop(key) for key in ("common_cpu", "common_s", "common_ns", "common_pid",
                                          "common_comm")]
    fields.pop("common_callchain")
    import json
    print(json.dumps([event_name, *common, fields, sample["sample"]]))
'''
STATES = {0: "R", 1: "S", 2: "D"}


def perf_lines(folder):
    """What script -F perf prints: name, CPU, time, PID, fields."""
    text = run("script", "-F", "perf", "--ns", f"{folder}/load.tape").stdout
    lines = []
    for line in text.splitlines():
        part = LINE.match(line)
        if part["name"] == "sched:sched_switch":
            fields = part["fields"].replace(" ==> ", " ")
        else:
            fields = re.sub(r"target_cpu=0*(\d)", r"target_cpu=\1", part["fields"])
        values = re.findall(r"(\w+)=(.*?)(?= \w+=|$)", fields)
        lines.append((part["name"], int(part["cpu"]), part["time"], int(part["pid"]),
                      [(key, value) for key, value in values]))
    return lines


def script_lines(folder):
    """The same of a script."""
    lines = []
    for line in map(json.loads, script(folder, PRINT).stdout.splitlines()):
        name, cpu, secs, nsecs, pid, _, fields, _ = line
        if "prev_state" in fields:
            fields["prev_state"] = STATES[fields["prev_state"]]
        for key, value in fields.items():
            # script makes names safe for a terminal, and a script may want them as they are.
            fields[key] = str(value).replace("\33", "?")
        lines.append((name.replace("__", ":", 1), cpu, f"{secs}.{nsecs:09}", pid,
                      list(fields.items())))
    return lines


def test_events(folder):
    expected, seen = perf_lines(folder), script_lines(folder)
    ok(seen == expected and len(seen) > 30000, "a script gets what -F perf prints",
       [pair for pair in zip(seen, expected) if pair[0] != pair[1]][:3])
    lines = script(folder, PRINT).stdout.splitlines()
    ok(all(line[7]["time"] == line[2] * 10**9 + line[3] and line[7]["tid"] == line[4]
           for line in map(json.loads, lines)), "perf_sample_dict has the same times and tasks")
    return Counter(line[0] for line in expected)


# -- scripts ------------------------------------------------------------------------------------

def test_generated(folder, counts):
    done = run("script", "-g", "python", "-i", "load.tape", cwd=folder)
    ok(done.returncode == 0 and done.stdout == "generated Python script: schedtape-script.py\n",
       "-g python writes a script", done)
    done = run("script", "-i", "load.tape", "-s", "schedtape-script.py", cwd=folder)
    lines = done.stdout.splitlines()
    seen = Counter(line.split()[0].replace("__", ":", 1) for line in lines[1:-1])
    runtimes = seen.pop("sched:sched_stat_runtime", 0)
    ok(done.returncode == 0 and lines[0] == "in trace_begin" and lines[-1] == "in trace_end" and
       seen == counts, "which prints all events", (done.stderr, seen, counts))
    ok(runtimes > 10000, "and run times", runtimes)
    total = sum(int(re.search(r"runtime=(\d+)", line)[1]) for line in lines
                if line.startswith("sched__sched_stat_runtime"))
    hist = run("timehist", "--json", f"{folder}/load.tape").stdout.splitlines()[1:]
    runs = [line for line in map(json.loads, hist) if line["event"] == "run"]
    # One run has no switch before it, see load_tape.
    silent = max(runs, key=lambda line: line["run_ns"])
    expected = sum(line["run_ns"] for line in runs if line["state"] in list("RSD") and
                   line is not silent)
    ok(total == expected, "that add up to those of timehist, between two switches",
       (total, expected))
    done = run("script", "-g", "python", "-i", "load.tape", cwd=folder)
    ok(done.returncode == 1 and "schedtape-script.py: File exists" in done.stderr,
       "it replaces no file", done)
    for language in ("python", "perl"):
        with tempfile.TemporaryDirectory(dir=folder) as other:
            done = subprocess.run([SCHEDTAPE, "script", "-g", language, "-i",
                                   f"{folder}/load.tape"], cwd=other, capture_output=True,
                                  check=False, preexec_fn=limit_files,
                                  env={**os.environ, "PYTHONPATH": PACKAGE})
            ok(done.returncode == 1 and b"schedtape-script.p" in done.stderr and
               not os.listdir(other), "a disk that is full: no half of a file", done)


HANDLERS = '''
import sys
n = [0, 0]


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, comm, pid, prio, target_cpu):
    n[0] += 1


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_prio, prev_state,
                        next_comm, next_pid, next_prio, perf_sample_dict):
    n[1] += perf_sample_dict["sample"]["cpu"] == common_cpu


def trace_end():
    print(*n, *sys.argv[1:])
'''


def test_handlers(folder, counts):
    done = script(folder, HANDLERS, "one", "--two")
    ok(done.stdout.split() == [str(counts["sched:sched_wakeup"]),
                               str(counts["sched:sched_switch"]), "one", "--two"],
       "handlers with and without perf_sample_dict; arguments", done)
    done = script(folder, "def process_event(event):\n    print(event['ev_name'])\n")
    ok(Counter(done.stdout.split()) == counts, "process_event() gets all events", done.stderr)
    done = script(folder, "print('x' * 100000)\ndef trace_begin():\n    return 1 // 0\n")
    ok(done.returncode == 1 and done.stderr.startswith("Traceback") and
       "own.py\", line 3, in trace_begin" in done.stderr and "schedtape/script.py" not in
       done.stderr and "ZeroDivisionError" in done.stderr, "an error: its traceback, and 1", done)
    ok(done.stdout == "x" * 100000 + "\n", "all that it has printed before", len(done.stdout))
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([SCHEDTAPE, "script", "-i", "load.tape", "-s", "event-counts"],
                              cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False, env={**os.environ, "PYTHONPATH": PACKAGE})
    ok(done.returncode == 1 and "No space left" in done.stderr, "output that fails: 1", done)
    done = script(folder, "def trace_begin(:\n")
    ok(done.returncode == 1 and "SyntaxError" in done.stderr, "so has a wrong text", done)
    done = script(folder, "import sys\nsys.exit(3)\n")
    ok(done.returncode == 3, "a script chooses its exit status", done)


def test_own(folder, counts):
    listed = run("script", "-l").stdout
    ok(all(f" {name} " in listed and f" {name}.pl " in listed
           for name in ("event-counts", "wakeup-latency")), "-l lists scripts", listed)
    done = run("script", "-i", "load.tape", "-s", "event-counts", cwd=folder)
    seen = {name: int(count.replace(",", "")) for count, name in
            re.findall(r"^ +([\d,]+)  (\S+)$", done.stdout, re.M)}
    ok(seen == dict(counts), "event-counts: the same numbers", (done.stderr, seen))
    done = run("script", "-i", "load.tape", "-s", "wakeup-latency", cwd=folder)
    waits = sum(int(count.replace(",", "")) for count in
                re.findall(r"^ +\d+ to +\d+ +([\d,]+)", done.stdout, re.M))
    ok(waits > 5000 and "worst: " in done.stdout, "wakeup-latency", done)
    for name in ("event-counts", "wakeup-latency"):
        for words in ([], ["load-1"], ["none"]):
            python, perls = (run("script", "-i", "load.tape", "-s", name + suffix, *words,
                                 cwd=folder) for suffix in ("", ".pl"))
            ok(python.returncode == 0 and perls.stdout == python.stdout and not perls.stderr,
               f"{name}.pl {' '.join(words)} prints the same", (perls, python.stdout))


def perf_script(name, language="python", suffix="py"):
    places = ("/usr/lib*/perf-core", "/usr/lib*/*/perf-core", "/usr/share/perf-core")
    found = [path for where in places
             for path in glob.glob(f"{where}/scripts/{language}/{name}.{suffix}")]
    return found[0] if found else None


def test_perf_scripts(folder):
    for name in PERF_SCRIPTS:
        path = perf_script(name)
        if not path:
            print(f"# this version of perf has no {name}")
            continue
        done = run("script", "-i", f"{folder}/load.tape", "-s", path)
        ok(done.returncode == 0 and not done.stderr, f"perf's own {name} runs unchanged", done)


def load(path):
    """Returns what a module has, which is at this path."""
    names = {}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)  # pylint: disable=exec-used
    return names


def test_core(folder):
    """Names of bits overlap, and need no delimiter."""
    theirs = glob.glob("/usr/lib*/perf-core/scripts/python/**/Core.py", recursive=True)
    modules = [load(path) for path in (f"{PACKAGE}/schedtape/perf/Core.py", *theirs[:1])]
    for module in modules:
        for field, delim in (("bits", "|"), ("plain", "")):
            module["define_flag_field"]("a__b", field, delim)
            for value, name in ((0, "none"), (1, "ONE"), (3, "THREE"), (6, "SIX"), (4, "FOUR")):
                module["define_flag_value"]("a__b", field, value, name)
                module["define_symbolic_value"]("a__b", field, value, name)
    seen = [[[module[call]("a__b", field, value) for call in ("flag_str", "symbol_str")
              for field in ("bits", "plain")] + [module["trace_flag_str"](value)]
             for value in range(16)] for module in modules]
    ok(seen[0] == seen[-1] and seen[0][7][:2] == ["ONE | FOUR", "ONEFOUR"],
       f"flag_str() and symbol_str() of {len(modules)} modules", seen)
    done = perl(folder, "use Perf::Trace::Core;\n" + "".join(
        f"define_flag_value('a::b', 'bits', {value}, '{name}');\n"
        for value, name in ((0, "none"), (1, "ONE"), (3, "THREE"), (6, "SIX"), (4, "FOUR"))) +
        "define_flag_field('a::b', 'bits', '|');\n"
        "print join ',', map { flag_str('a::b', 'bits', $_) } 0 .. 15;")
    ok(done.stdout == ",".join(values[0] for values in seen[0]), "the same in Perl", done)


INTERRUPTED = """
import os, signal
n = 0
def sched__sched_switch(*arguments):
    global n
    n += 1
    if n == 100:
        os.kill(os.getpid(), signal.SIGINT)
def trace_end():
    print("ended after", n)
"""


WAITS = """
import fcntl, os, signal, termios, threading, time

def waits():
    left = fcntl.ioctl(0, termios.FIONREAD, b"0123")
    return left == bytes(4) and open("/proc/self/stat").read().rpartition(") ")[2][0] == "S"

def interrupt():
    while not waits():
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

def trace_begin():
    threading.Thread(target=interrupt).start()

def trace_end():
    print("ended")
"""


def test_pipe_ends(folder):
    """Ctrl-C does not wait for the next event of a pipe."""
    with open(f"{folder}/waits.py", "w", encoding="utf-8") as file:
        file.write(WAITS)
    subprocess.run([LOAD_TAPE, f"{folder}/live.tape", "40000", "live"], check=True)
    with open(f"{folder}/live.tape", "rb") as file:
        whole = file.read()
    reads, writes = os.pipe()
    with open(writes, "wb") as pipe:
        thread = threading.Thread(target=pipe.write, args=(whole[:-1000],))
        thread.start()
        done = run("script", "-i", "-", "-s", f"{folder}/waits.py", stdin=reads, timeout=120)
        os.close(reads)
        thread.join()
    ok(done.returncode == 0 and done.stdout == "ended\n", "nor does it wait for a pipe", done)


def test_ends(folder):
    done = script(folder, INTERRUPTED)
    ok(done.returncode == 0 and re.fullmatch(r"ended after 10[01]\n", done.stdout),
       "Ctrl-C ends the events, and trace_end() is called", done)
    done = script(folder, "def trace_begin():\n    open('/no/such/file')\n")
    ok(done.returncode == 1 and "in trace_begin" in done.stderr and "script.py" not in done.stderr,
       "an error of the system has its traceback, too", done)
    done = script(folder, "import __main__\n\ndef trace_begin():\n    global sched__sched_exit\n"
                  "    print(hasattr(__main__, 'trace_begin'))\n")
    ok(done.stdout == "True\n", "a script is the module __main__", done)
    with open(f"{folder}/much.py", "w", encoding="utf-8") as file:
        file.write("def sched__sched_switch(*arguments):\n    print('x' * 100)\n")
    done = subprocess.run(f"'{SCHEDTAPE}' script -i load.tape -s much.py | head -n 1", shell=True,
                          cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": PACKAGE})
    ok(done.stdout == "x" * 100 + "\n" and not done.stderr, "a reader that has seen enough", done)
    with open(f"{folder}/ast.py", "w", encoding="utf-8") as file:
        file.write("print('of the current folder')\n")
    done = run("script", "-l", cwd=folder)
    ok("current folder" not in done.stdout and done.returncode == 0,
       "modules of the current folder are not loaded", done)
    os.unlink(f"{folder}/ast.py")
    with open(f"{folder}/load.tape", "rb") as file:
        whole = file.read()
    with open(f"{folder}/cut.tape", "wb") as file:
        file.write(whole[:-3000])
    done = run("script", "-i", f"{folder}/cut.tape", "-s", "event-counts")
    ok(done.returncode == 0 and "warning: " in done.stderr, "a tape that is cut: a warning", done)


EXTRA = """
def sched__sched_stat_runtime(event_name, context, cpu, secs, nsecs, pid, name, callchain, comm,
                              of, runtime, vruntime):
    assert vruntime == 0 and of == pid and runtime > 0

def sched__sched_wakeup(event_name, context, cpu, secs, nsecs, pid, name, callchain, comm, wakee,
                        prio, success, target_cpu, sample):
    assert success == 1 and target_cpu < 4 and sample["sample"]["addr"] == 0

def trace_end():
    print("fine")
"""


def test_trouble(folder):
    done = script(folder, EXTRA)
    ok(done.stdout == "fine\n", "fields that only some kernels have", done)
    done = run("script", "-i", f"{folder}/load.tape", "-s", "no-such-script")
    ok(done.returncode == 1 and "no-such-script: there is no such script" in done.stderr,
       "a script that is not there: an error", done)
    done = run("script", "-i", f"{folder}/none", "-s", "event-counts")
    ok(done.returncode == 1 and "none: No such file" in done.stderr,
       "a tape that is not there: an error", done)
    done = run("script", "-l", package="/nowhere")
    ok(done.returncode == 1 and "install the package python3-schedtape" in done.stderr and
       done.stderr.count("\n") == 1 and "event-counts.pl" in done.stdout,
       "without the package: what to do, and the scripts in Perl", done)
    done = subprocess.run([SCHEDTAPE, "script", "-i", f"{folder}/load.tape", "-s", "event-counts"],
                          capture_output=True, text=True, check=False, env={"PATH": "/nowhere"})
    ok(done.returncode == 1 and "cannot run python3, which scripts need" in done.stderr,
       "without Python: what to do", done)
    done = run("script", "-i", f"{folder}/load.tape", "-s", "event-counts", "--", "--json")
    ok(done.returncode == 0 and not done.stdout.strip(), "options behind -- are the script's", done)
    done = run("script", "--json", "-s", "event-counts")
    ok(done.returncode == 129 and "only together with -i" in done.stderr,
       "with --json: an error", done)
    done = run("script", "-g", "cobol")
    ok(done.returncode == 129 and "cobol" in done.stderr, "another language: an error", done)


# -- Perl ---------------------------------------------------------------------------------------

PERL_PRINT = r'''
sub trace_unhandled {
    my ($name, $context, $cpu, $secs, $nsecs, $pid, $comm, $callchain, @fields) = @_;
    die "a callchain" if @$callchain;
    print join("\t", $name, $cpu, sprintf("%d.%09d", $secs, $nsecs), $pid, @fields), "\n";
}
'''


def test_perl_events(folder):
    expected, seen = perf_lines(folder), []
    for line in perl(folder, PERL_PRINT).stdout.splitlines():
        name, cpu, time, pid, *fields = line.replace("\33", "?").split("\t")
        if name == "sched::sched_switch":
            fields[3] = STATES[int(fields[3])]
        seen.append((name.replace("::", ":"), int(cpu), time, int(pid), fields))
    expected = [(*line[:4], [value for _, value in line[4]]) for line in expected]
    ok(seen == expected and len(seen) > 30000, "a script in Perl gets what -F perf prints",
       [pair for pair in zip(seen, expected) if pair[0] != pair[1]][:3])


def test_perl_generated(folder):
    """Expects the same output as of the script that test_generated() has left."""
    done = run("script", "-g", "perl", "-i", "load.tape", cwd=folder)
    ok(done.returncode == 0 and done.stdout == "generated Perl script: schedtape-script.pl\n",
       "-g perl writes a script", done)
    python, seen = (run("script", "-i", "load.tape", "-s", f"schedtape-script.{suffix}",
                        cwd=folder) for suffix in ("py", "pl"))
    expected = re.sub(r"^(sched|task)__(\w+)", r"\1::\2", python.stdout, flags=re.M)
    expected = re.sub(r"(?<=prev_state=)\d+", lambda state: STATES[int(state[0])], expected)
    ok(seen.returncode == 0 and not seen.stderr and seen.stdout == expected,
       "which prints the same as one in Python",
       (seen.stderr, [pair for pair in zip(seen.stdout.splitlines(), expected.splitlines())
                      if pair[0] != pair[1]][:3]))
    done = run("script", "-g", "perl", "-i", "load.tape", cwd=folder)
    ok(done.returncode == 1 and "schedtape-script.pl: File exists" in done.stderr,
       "it replaces no file", done)


def test_perl_ends(folder):
    done = perl(folder, "print 'x' x 9, qq(\\n);"
                "sub sched::sched_switch { die 'bad' if ++$n == 9 }")
    ok(done.returncode == 1 and done.stdout == "xxxxxxxxx\n" and
       done.stderr == f"bad at {folder}/own.pl line 1.\n", "a script that dies: its message, and 1",
       done)
    done = perl(folder, "sub trace_begin {")
    ok(done.returncode == 1 and "Missing right curly" in done.stderr, "so has a wrong text", done)
    done = perl(folder, "sub sched::sched_switch { exit 3 }")
    ok(done.returncode == 3 and not done.stdout + done.stderr, "a script chooses its exit status",
       done)
    done = perl(folder, "sub sched::sched_switch { kill KILL => $$ }")
    ok(done.returncode == 137 and done.stderr.endswith("ended by a signal: Killed\n"),
       "a script that is killed", done)
    done = perl(folder, "sub sched::sched_switch { kill INT => $$ if ++$n == 100 }\n"
                "sub trace_end { print qq(ended after $n: @ARGV) }", "one", "--two")
    ok(done.returncode == 0 and done.stdout == "ended after 100: one --two",
       "Ctrl-C ends the events, and trace_end() is called; arguments", done)
    perl(folder, "sub sched::sched_switch { print 'x' x 100, qq(\\n) }")
    done = subprocess.run(f"'{SCHEDTAPE}' script -i load.tape -s own.pl | head -n 1", shell=True,
                          cwd=folder, capture_output=True, text=True, check=False)
    ok(done.stdout == "x" * 100 + "\n" and not done.stderr, "a reader that has seen enough", done)
    with open(f"{folder}/load.tape", encoding="latin1", newline="") as tape:
        done = run("script", "-i", "-", "-s", f"{folder}/own.pl", input=tape.read(),
                   encoding="latin1")
    ok(done.returncode == 0 and len(done.stdout) > 10**6, "a tape from a pipe", done.stderr)


PERL_MODULES = r'''
use strict;
use warnings;
use lib "$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib";
use Perf::Trace::Core;
use Perf::Trace::Context;
use Perf::Trace::Util;

define_flag_field("a::b", "bits", "|");
define_flag_value("a::b", "bits", 1, "ONE");
define_flag_value("a::b", "bits", 4, "FOUR");
define_symbolic_value("a::b", "sign", 3, "THREE");
print join(",", flag_str("a::b", "bits", 5), symbol_str("a::b", "sign", 3), trace_flag_str(24),
           flag_str("sched::sched_switch", "prev_state", 2), common_pc(0) + common_flags(0),
           common_lock_depth(0), avg(9, 2), nsecs(2, 5), nsecs_nsecs(2000000005),
           nsecs_str(2000000005)), "\n";
my %seen;
sub sched::sched_wakeup
{
    my ($event_name, $context, $cpu, $secs, $nsecs, $pid, $name, $callchain, $comm, $wakee,
        $prio, $success, $target_cpu) = @_;
    $seen{"$success $target_cpu"}++;
}
sub trace_end { print join(",", sort keys %seen) }
'''


def test_perl_trouble(folder):
    done = perl(folder, PERL_MODULES)
    ok(done.stdout == "ONE | FOUR,THREE,HARDIRQ | SOFTIRQ,D,0,0,4.5,2000000005,5,    2.000000005\n"
       "1 0,1 1,1 2,1 3" and not done.stderr,
       "perf's modules, and fields that only some kernels have", done)
    os.rename(f"{folder}/own.pl", f"{folder}/own")
    for language in ("perl", "Perl", "pl"):
        done = run("script", "-i", f"{folder}/load.tape", "-s", f"{language}:{folder}/own")
        ok(done.returncode == 0, f"-s {language}:FILE", done)
    done = run("script", "-i", f"{folder}/load.tape", "-s", f"{folder}/none.pl")
    ok(done.returncode == 1 and done.stderr.endswith("/none.pl: No such file or directory\n"),
       "a script that is not there: an error", done)
    done = subprocess.run([SCHEDTAPE, "script", "-i", f"{folder}/load.tape", "-s",
                           f"perl:{folder}/own"], capture_output=True, text=True, check=False,
                          env={"PATH": "/nowhere"})
    ok(done.returncode == 1 and done.stderr == "schedtape script: cannot run perl, which this "
       "script needs: install it\n", "without Perl: what to do", done)


def test_perf_perl_scripts(folder):
    for name in PERF_PERL_SCRIPTS:
        path = perf_script(name, "perl", "pl")
        if not path:
            print(f"# this version of perf has no {name}.pl")
            continue
        done = run("script", "-i", f"{folder}/load.tape", "-s", path, "1")
        ok(done.returncode == 0 and not done.stderr, f"perf's own {name}.pl runs unchanged", done)


# -- other tracepoints ---------------------------------------------------------------------------

ROUNDS = 1000
POINTS = '''
import json
from Core import *

def show(name, cpu, s, ns, pid, comm, fields):
    print(json.dumps([name, cpu, s * 10**9 + ns, pid, comm, fields]))

def irq__irq_handler_entry(event_name, context, cpu, s, ns, pid, comm, callchain, irq, name):
    show(event_name, cpu, s, ns, pid, comm, {"irq": irq, "name": name})

def irq__irq_handler_exit(event_name, context, cpu, s, ns, pid, comm, callchain, irq, ret, sample):
    show(event_name, cpu, s, ns, pid, comm, {"irq": irq, "ret": ret})
    assert sample["sample"]["tid"] == pid and len(sample["raw_buf"]) == 16, sample

def sched__sched_switch(event_name, context, cpu, s, ns, pid, comm, callchain, *fields):
    show(event_name, cpu, s, ns, pid, comm, None)

def trace_unhandled(event_name, context, fields):
    common = [fields.pop("common_" + key) for key in ("cpu", "s", "ns", "pid", "comm")]
    fields.pop("common_callchain")
    show(event_name, *common, fields)
    print(symbol_str(event_name, "vec", fields["vec"]), symbol_str(event_name, "low", -2),
          flag_str(event_name, "flags", fields["flags"] & 0xff), flag_str(event_name, "flags", 0))
'''
WARNINGS = ("schedtape script: {0}/points.tape: warning: 12 events of other tracepoints are lost\n"
            "schedtape script: {0}/points.tape: warning: 1 events of other tracepoints cannot be "
            "decoded\n")
PERL_WARNINGS = re.sub(r"(\S+/points.tape: )(warning: )", r"\2\1", WARNINGS)


def json_samples(folder):
    """What script --json prints of samples, with the switches between them."""
    lines = [json.loads(line) for line in
             run("script", "--json", f"{folder}/points.tape").stdout.splitlines()[1:]]
    return [line for line in lines if line["event"] == "switch" or line.get("fields")]


def test_samples(folder):
    done = script(folder, POINTS, tape="points.tape")
    # script makes texts safe for a terminal, and a script may want them as they are.
    lines = done.stdout.replace("\\u001b", "?").splitlines()
    names = lines.pop(1)
    seen = [json.loads(line) for line in lines]
    expected = json_samples(folder)
    ok([(line[0].replace("__", ":").replace("sched:sched_switch", "switch"), *line[1:3], line[5])
        for line in seen] ==
       [(line["event"], line["cpu"], line["time_ns"], line.get("fields")) for line in expected] and
       len(seen) == 4 * ROUNDS + 2, "a script gets samples by time between events, as script does",
       (done.stderr, seen[:3], expected[:3]))
    ok(seen[0][3:5] == [10, "shell"] and seen[1][3:5] == [-1, ":-1"], "with their tasks", seen[:2])
    ok(names == "TIMER LOW ONE | FOUR none", "symbol_str() and flag_str() know the kernel's names",
       names)
    ok(done.stderr == WARNINGS.format(folder), "losses, and what cannot be decoded: a warning",
       done.stderr)
    done = script(folder, "def sched__sched_switch(*arguments):\n    pass\n", tape="points.tape")
    ok(done.returncode == 0 and not done.stderr, "none without a function for samples", done)
    done = script(folder, "def test__all(event_name, context, cpu, s, ns, pid, comm, callchain, vec, "
                  "args, sample):\n    print(vec, args, sample['sample']['pid'])\n",
                  tape="points.tape")
    ok(done.stdout == "1 [7, 18446744073709551615] 9\n",
       "a function for a kernel with fewer fields gets those that it names", done)
    done = script(folder, "n = 0\ndef process_event(event):\n    global n\n    n += 1\n"
                  "def trace_end():\n    print(n)\n", tape="points.tape")
    ok(done.stdout == f"{4 * ROUNDS + 2}\n", "process_event() gets samples, too", done)


def test_context(folder):
    """common_flags() and common_pc() are those of the sample, and 0 of other events."""
    text = ("from perf_trace_context import *\nseen = set()\n"
            "def sched__sched_switch(name, context, *arguments):\n"
            "    seen.add((common_flags(context), common_pc(context)))\n"
            "def test__all(name, context, *arguments):\n"
            "    print(common_flags(context), common_pc(context))\n"
            "def trace_end():\n    print(*seen)\n")
    done = script(folder, text, tape="points.tape")
    ok(done.stdout == "17 2\n(0, 0)\n", "the context of samples", done)
    done = script(folder, "use Perf::Trace::Context;\nsub all { common_flags($_[1]) . ' ' ."
                  " common_pc($_[1]) }\nsub sched::sched_switch { $seen{all(@_)}++ }\n"
                  "sub test::all { print all(@_) . qq(\\n) }\nsub trace_end { print keys %seen }",
                  name="own.pl", tape="points.tape")
    ok(done.stdout == "17 2\n0 0", "in Perl, too", done)


def test_generated_samples(folder):
    for language in ("python", "perl"):
        os.unlink(f"{folder}/schedtape-script.{language[:2]}".replace(".pe", ".pl"))
        done = run("script", "-g", language, "-i", "points.tape", cwd=folder)
        ok(done.returncode == 0, f"-g {language} with other tracepoints", done)
    python, perls = (run("script", "-i", "points.tape", "-s", f"schedtape-script.{suffix}",
                         cwd=folder) for suffix in ("py", "pl"))
    lines = python.stdout.splitlines()
    all_line = next((line for line in lines if line.startswith("test__all")), "")
    # perf, too, gives the first number of an array to Perl.
    ok(all_line.endswith("vec=TIMER, low=LOW, class_=200, flags=ONE | FOUR, args=[7, "
                         "18446744073709551615], comm=shell, what=None, list=[-1, 2], "
                         "text=a\33 b"), "symbols, flags and all kinds of values", all_line)
    expected = re.sub(r"^(sched|irq|test)__(\w+)", r"\1::\2", python.stdout, flags=re.M)
    expected = re.sub(r"(?<=prev_state=)\d+", lambda state: STATES[int(state[0])], expected)
    expected = expected.replace("class_", "class").replace("what=None", "what=0")
    expected = re.sub(r"\[(-?\d+), \d+\]", r"\1", expected)
    ok(perls.stdout == expected and perls.stderr == PERL_WARNINGS.format("").replace(" /", " "),
       "the script in Perl prints the same", (perls.stderr, [
           pair for pair in zip(perls.stdout.splitlines(), expected.splitlines())
           if pair[0] != pair[1]][:3]))


TALLY = """
n = 0
def sched__sched_switch(*arguments):
    global n
    n += 1
def trace_end():
    print(n)
"""


def test_pipe(folder):
    for tape, text, warns in (("load", PRINT, False), ("points", TALLY, False),
                              ("points", TALLY + "irq__irq_handler_exit = print\n", True)):
        expected = script(folder, text, tape=f"{tape}.tape")
        with open(f"{folder}/{tape}.tape", encoding="latin1", newline="") as file:
            done = run("script", "-i", "-", "-s", f"{folder}/own.py", input=file.read(),
                       encoding="latin1")
        same = warns or done.stdout.encode("latin1") == expected.stdout.encode()
        ok(done.returncode == 0 and same and
           warns == ("events of other tracepoints are left out" in done.stderr),
           "a tape from a pipe: the same", (done.stderr, done.stdout[:300]))


PERL_TALLY = """
sub sched::sched_switch { $n++ }
sub trace_end { print "$n\n" }
"""


def test_perl_samples(folder):
    done = script(folder, PERL_TALLY, name="own.pl", tape="points.tape")
    ok(done.stdout == f"{2 * ROUNDS}\n" and not done.stderr,
       "a script in Perl without a function for samples", done)
    with open(f"{folder}/points.tape", encoding="latin1", newline="") as tape:
        whole = tape.read()
    for text, warns in ((PERL_TALLY, False),
                        (PERL_TALLY + "sub irq::irq_handler_exit { $n++ }", True)):
        with open(f"{folder}/own.pl", "w", encoding="utf-8") as file:
            file.write(text)
        done = run("script", "-i", "-", "-s", f"{folder}/own.pl", input=whole, encoding="latin1")
        ok(done.stdout == f"{2 * ROUNDS}\n" and warns == ("a pipe: events of other tracepoints are "
                                                          "left out" in done.stderr),
           f"from a pipe, {'with' if warns else 'without'} such a function", done)
    done = perl(folder, "sub trace_begin { open OUT, '| cat' or die }\n"
                "sub sched::sched_switch { $n++ }\nsub trace_end { print OUT $n; close OUT }")
    ok(done.returncode == 0 and int(done.stdout) > 10000, "a script with a process of its own", done)
    done = perl(folder, "sub trace_begin { exit 4 }")
    ok(done.returncode == 4 and not done.stderr, "a script that ends before the first event", done)


def main():
    make_package()
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        subprocess.run([LOAD_TAPE, f"{folder}/load.tape", "40000"], check=True)
        counts = test_events(folder)
        test_generated(folder, counts)
        test_handlers(folder, counts)
        test_own(folder, counts)
        test_perf_scripts(folder)
        test_core(folder)
        test_ends(folder)
        test_pipe_ends(folder)
        test_trouble(folder)
        test_perl_events(folder)
        test_perl_generated(folder)
        test_perl_ends(folder)
        test_perl_trouble(folder)
        test_perf_perl_scripts(folder)
        subprocess.run([POINTS_TAPE, f"{folder}/points.tape", str(ROUNDS)], check=True)
        test_samples(folder)
        test_context(folder)
        test_pipe(folder)
        test_generated_samples(folder)
        test_perl_samples(folder)
    finish()


main()
