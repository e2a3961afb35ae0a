# SPDX-License-Identifier: GPL-2.0-only
"""terminal.py - runs a command on a terminal, and knows what its screen shows

As much of a vt100 as curses needs.  python3 -IS finds it with sys.path.append(".../lib").
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

# Seconds after which a command hangs.
LIMIT = (30 * int(os.environ.get("SCHEDTAPE_PATIENCE", "4")) *
         int(os.environ.get("SCHEDTAPE_SLOW", "1")))

# A sequence with numbers, another one, a character, a control character.
TOKEN = re.compile(rb"\x1b\[\??([0-9;]*)([A-Za-z])|\x1b[()][A-Z0-9]|\x1b[=>78MDEH]|"
                   rb"[\x20-\x7e]|[\x00-\x1a\x1c-\x1f]")


class Terminal:
    """A command, and the screen that it has written so far."""

    def __init__(self, rows, columns, *command):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "vt100"
            os.execvp(command[0], command)
        self.rest = b""
        self.resize(rows, columns)

    def resize(self, rows, columns):
        """Changes the size, and forgets what is on the screen: the command draws it anew."""
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.y = self.x = 0
        self.top, self.bottom = 0, rows - 1
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def put(self, char):
        """Shows a character at the cursor."""
        if self.x < self.columns:
            self.cells[self.y][self.x] = char
        self.x += 1

    def scroll(self, out, into):
        """Takes a line out of the region that scrolls, and puts an empty one into it."""
        del self.cells[out]
        self.cells.insert(into, [" "] * self.columns)

    def down(self):
        """Moves the cursor down, and scrolls at the end of the region."""
        if self.y == self.bottom:
            self.scroll(self.top, self.bottom)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def up(self):
        """The same the other way."""
        if self.y == self.top:
            self.scroll(self.bottom, self.top)
        else:
            self.y = max(self.y - 1, 0)

    def go(self, y, x):
        """Moves the cursor, but not out of a screen that has become smaller."""
        self.y, self.x = min(max(y, 0), self.rows - 1), min(max(x, 0), self.columns)

    def control(self, what, numbers):
        """Obeys a sequence with numbers."""
        n = numbers[0] if numbers else 0
        if what == "H":
            self.go((n or 1) - 1, ((numbers[1] if len(numbers) > 1 else 0) or 1) - 1)
        elif what in "ABCD":
            dy, dx = {"A": (-1, 0), "B": (1, 0), "C": (0, 1), "D": (0, -1)}[what]
            self.go(self.y + dy * (n or 1), self.x + dx * (n or 1))
        elif what == "J":
            at = self.y * self.columns + self.x if n == 0 else 0
            for i in range(at, self.rows * self.columns):
                self.cells[i // self.columns][i % self.columns] = " "
        elif what == "r":
            bottom = min(numbers[1] if len(numbers) > 1 else self.rows, self.rows) - 1
            self.top, self.bottom = min((n or 1) - 1, bottom), bottom
            self.go(0, 0)
        elif what == "K":
            end = min(self.x + 1, self.columns) if n == 1 else self.columns
            for x in range(0 if n else self.x, end):
                self.cells[self.y][x] = " "

    def take(self, data):
        """Obeys what the command has written."""
        self.rest += data
        at = 0
        while match := TOKEN.match(self.rest, at):
            at = match.end()
            text = match.group()
            if match.group(2):
                numbers = [int(n or 0) for n in match.group(1).split(b";")] if match.group(1) else []
                self.control(match.group(2).decode(), numbers)
            elif text == b"\r":
                self.x = 0
            elif text == b"\n":
                self.down()
            elif text == b"\x1bM":
                self.up()
            elif text == b"\b":
                self.go(self.y, self.x - 1)
            elif text == b"\t":
                self.go(self.y, (self.x // 8 + 1) * 8)
            elif len(text) == 1 and text >= b" ":
                self.put(text.decode())
        self.rest = self.rest[at:]

    def lines(self):
        """The lines of the screen, without blanks at their ends."""
        return ["".join(line).rstrip() for line in self.cells]

    def read(self, wait):
        """Waits for more, for so many seconds.  Returns false at the end."""
        if not select.select([self.fd], [], [], wait)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        if data:
            self.take(data)
        return bool(data)

    def until(self, what, test):
        """Waits until the lines are so; else ends this program."""
        end = time.monotonic() + LIMIT
        while not test(self.lines()) and time.monotonic() < end:
            if not self.read(0.2):
                break
        good = test(self.lines())
        print(("ok: " if good else "not ok: ") + what)
        if not good:
            print("\n".join("|" + line for line in self.lines()))
            sys.exit(1)

    def type(self, keys):
        """Presses keys."""
        os.write(self.fd, keys.encode())

    def end(self):
        """Waits for the end of the command, and kills it if it hangs.  Returns its status."""
        end = time.monotonic() + LIMIT
        while self.read(0.2):
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
