#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Description: on a terminal, reading commands print through a pager, as git does."""
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

from tap import BUILD, SCHEDTAPE, TOP, finish, ok

# Pagers: one that marks what it prints, one that ends at once, one that ends when asked to.
MARK = "sed 's/^/paged: /'"
FIRST = "head -n 1"


class Terminal:
    """A command that runs at a new terminal; with messages=False, standard error is a pipe."""

    def __init__(self, words, messages=True, **environment):
        keep = {name: value for name, value in os.environ.items()
                if name not in ("PAGER", "SCHEDTAPE_PAGER", "LESS", "COLUMNS")}
        self.messages, other = os.pipe()
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            # The tests may have been started in the background, where a shell ignores it.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if not messages:
                os.dup2(other, 2)
            os.execve(SCHEDTAPE, ["schedtape", *words], {**keep, "TERM": "vt100", "NO_COLOR": "1",
                                                     **environment})
        os.close(other)
        self.text = ""

    def read(self, until=None):
        """Reads what is printed, to its end or until there is some text."""
        end = time.monotonic() + 120
        while time.monotonic() < end and (until is None or until not in self.text):
            if not select.select([self.terminal], [], [], 1)[0]:
                continue
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                break
            if not part:
                break
            self.text += part.decode(errors="replace").replace("\r\n", "\n")
        return self.text

    def press(self, keys):
        """Types keys."""
        os.write(self.terminal, keys)

    def end(self):
        """Returns all that was printed, and the exit status; -N: killed by signal N."""
        self.read()
        return self.text, os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def run(*words, **environment):
    """Runs a command at a terminal."""
    return Terminal(words, **environment).end()


def plain(*words):
    """What a command prints into a pipe, and its exit status."""
    done = subprocess.run([SCHEDTAPE, *words], capture_output=True, text=True, check=False)
    return done.stdout, done.returncode


def test_choice(tape):
    """Which pager is started, if any."""
    text, status = run("script", tape, PAGER=MARK)
    lines = plain("script", tape)[0].splitlines()
    ok(not status and text.splitlines() == ["paged: " + line for line in lines], "$PAGER", text)
    text, _ = run("info", tape, PAGER="false", SCHEDTAPE_PAGER=MARK)
    ok(text.startswith("paged: "), "$SCHEDTAPE_PAGER rather than $PAGER", text)
    for name, value in (("PAGER", ""), ("PAGER", "cat"), ("SCHEDTAPE_PAGER", "")):
        text, status = run("script", tape, **{"PAGER": MARK, name: value})
        ok(not status and "paged: " not in text and len(text.splitlines()) == len(lines),
           f"none if {name}={value}", text)
    text, _ = run("--no-pager", "report", tape, PAGER=MARK)
    ok(text and "paged: " not in text, "schedtape --no-pager report", text)
    text, _ = run("report", "--no-pager", tape, PAGER=MARK)
    ok(text and "paged: " not in text, "schedtape report --no-pager", text)
    text, _ = run("report", "--json", tape, PAGER=MARK)
    ok(text.startswith("paged: {"), "--json", text)
    text, _ = run("list", PAGER=MARK)
    ok("paged: " not in text, "not of list", text)
    text, status = run("report", "--help", PAGER=MARK)
    ok(not status and "paged: " not in text, "not of --help", text)
    text, status = run("info", tape, PAGER="no-such-pager")
    ok(not status and "cannot run the pager 'no-such-pager': No such file" in text and
       "tasks described" in text, "a pager that is not there is named, and the output comes", text)
    bare = tempfile.mkdtemp()
    text, status = run("info", tape, PATH=bare)
    ok(not status and "tasks described" in text and "pager" not in text, "no less: no pager", text)
    os.rmdir(bare)
    done = subprocess.run([SCHEDTAPE, "info", tape], env=dict(os.environ, PAGER=MARK),
                          capture_output=True, text=True, check=False)
    ok("paged: " not in done.stdout, "not into a pipe", done.stdout)


def test_output(tape, damaged, long):
    """What the pager gets."""
    text, _ = run("report", tape, PAGER=MARK, COLUMNS="60")
    lines = [line[len("paged: "):] for line in text.splitlines()]
    ok(lines and max(map(len, lines[1:])) <= 60, "tables fit the terminal behind it", text)
    text, status = run("report", damaged, PAGER=MARK)
    ok("paged: schedtape report: " in text and text.count("schedtape report: ") ==
       text.count("paged: schedtape report: "), "messages come through the pager", text)
    ok(status == plain("report", damaged)[1], "and the exit status is that without it", status)
    command = Terminal(["report", damaged], messages=False, PAGER=MARK)
    text, _ = command.end()
    said = os.read(command.messages, 4096).decode()
    ok("schedtape report: " in said and "schedtape report: " not in text,
       "messages go where they are sent to", said + text)
    text, status = run("report", "no-such.tape", PAGER=MARK)
    ok(status == 1 and "paged: schedtape report: no-such.tape" in text, "a failure: 1", text)
    text, status = run("diff", "--max-unmatched=x", tape, tape, PAGER=MARK)
    ok(status == 129, "wrong options: 129", text)
    text, status = run("diff", "--same-graph", tape, long, PAGER=MARK)
    ok(status == plain("diff", "--same-graph", tape, long)[1] == 1, "diff: as without", text)
    text, _ = run("info", tape, PAGER="env")
    ok("\nLESS=FRX\n" in text and "\nLV=-c\n" in text, "LESS is set", text)
    text, _ = run("info", tape, PAGER="env", LESS="S")
    ok("\nLESS=S\n" in text, "unless it is set already", text)


def test_colors(tape, damaged):
    """The pager gets colours, as if the terminal behind it were standard output."""
    text, _ = run("report", damaged, PAGER=MARK, NO_COLOR="")
    ok("paged: \033[1mtask\033[m  " in text, "the pager gets colours", text)
    ok("paged: schedtape report: \033[1;33mwarning: \033[m" in text, "messages, too", text)
    text, _ = run("report", damaged, PAGER=MARK)
    ok("\033" not in text, "but not with NO_COLOR", text)
    text, _ = run("report", "--color=never", damaged, PAGER=MARK, NO_COLOR="")
    ok("\033" not in text, "nor with --color=never", text)
    text, _ = run("report", tape, NO_COLOR="", TERM="xterm")
    ok("\033[1mtask\033[m  " in text, "less shows them", text)


def test_early_end(long):
    """The user leaves the pager, or presses Ctrl-C."""
    text, status = run("script", long, PAGER=FIRST)
    ok(not status and len(text.splitlines()) == 1, "leaving the pager is no error", text)
    text, status = run("script", "--json", long, PAGER=FIRST)
    ok(not status and len(text.splitlines()) == 1, "nor with --json", text)
    # It goes on after Ctrl-C, as less does, and the command waits for it.
    pager = "trap : INT; sed -n 1p; read key < /dev/tty; echo key $key"
    command = Terminal(["script", long], PAGER=pager)
    command.read(until="\n")
    command.press(b"\x03")
    time.sleep(1)
    alive = not os.waitpid(command.pid, os.WNOHANG)[0]
    command.press(b"q\n")
    text, status = command.end()
    ok(alive and "key q" in text, "Ctrl-C: the command waits for the pager", text)
    ok(status == -signal.SIGINT, "and then ends by the signal", status)
    # Ctrl-C has ended the recorder, and so the tape ends.
    fifo = long + ".fifo"
    os.mkfifo(fifo)
    command = Terminal(["report", fifo], PAGER="trap '' INT; echo ready; " + MARK)
    with open(long, "rb") as file, open(fifo, "wb") as pipe:
        command.read(until="ready")
        command.press(b"\x03")
        command.read(until="^C")
        pipe.write(file.read())
    text, status = command.end()
    ok("paged: TOTAL" in text, "Ctrl-C while a pipe is read: what has come is shown", text)
    ok(status == -signal.SIGINT, "and then it ends by the signal", status)


def test_less(tape, long):
    """The usual pager."""
    text, status = run("info", tape)
    ok(not status and "tasks described" in text, "less: ends by itself if all fits", text)
    command = Terminal(["script", long])
    command.read(until=":")
    command.press(b"q")
    text, status = command.end()
    ok(not status and len(text.splitlines()) < 1000, "less: q", text[-1000:])


def make_tapes(folder):
    """A tape, a truncated one, and one with many events."""
    tape, damaged, long, maker = [os.path.join(folder, name) for name in
                                  ("a.tape", "damaged.tape", "long.tape", "ext_tape")]
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libzstd", "libxxhash", "json-c"],
                           capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", *(f"-I{TOP}/{room}" for room in
                    ("include", "user/lib/include", "user/lib", "selftests/unit")), "-o", maker,
                    f"{TOP}/selftests/tapes/ext_tape.c", f"{BUILD}/user/lib.a", *flags,
                    "-lpthread", "-lm"], check=True)
    subprocess.run([maker, tape], check=True)
    subprocess.run([maker, long, "500"], check=True)
    with open(long, "rb") as file, open(damaged, "wb") as cut:
        cut.write(file.read()[:-500])
    return tape, damaged, long


def main():
    """Runs all of it."""
    print("TAP version 13")
    subprocess.run(["make", "-s", "-C", TOP, "all"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        tape, damaged, long = make_tapes(folder)
        test_choice(tape)
        test_output(tape, damaged, long)
        test_colors(tape, damaged)
        test_early_end(long)
        test_less(tape, long)
    finish()


main()
