#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: long commands show their progress on a terminal, and only there; the results of a
# loop of replays are printed, also after an interruption.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# Runs a command whose standard error is a terminal, copied to the file "shown".
on_terminal()
{
	/usr/bin/python3 -c 'import os, pty, subprocess, sys
master, slave = pty.openpty()
command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=slave)
os.close(slave)
with open("shown", "wb", buffering=0) as tty:
	try:
		while data := os.read(master, 4096):
			tty.write(data)
	except OSError:
		pass
sys.exit(command.wait())' "$@"
}

schedtape record -q -o t.tape -- periodic 100 2 15 > log 2>&1
report $? "a task of periods is recorded"

# -- replay ---------------------------------------------------------------------------

begin()
{
	on_terminal schedtape "$@" > out 2> log &
	terminal=$!
}

shows()
{
	grep -qE "$1" shown 2> /dev/null
}
line='schedtape replay: [0-9.]* of [0-9.]* s(, paused)?, [0-9] of 1 tasks done, [0-9,]* steps, lag [0-9.]* ms, at worst [0-9.]* ms \]'

begin replay --speed 0.1 t.tape
eventually shows "$line" && eventually shows "$line.*$line"
report $? "replay: a line on a terminal shows how far it is, again and again"
schedtape steer "$(replays replay)" pause && eventually shows ' s, paused,'
report $? "replay: and that it is paused"
schedtape steer "$(replays replay)" resume && schedtape steer "$(replays replay)" speed 100
wait $terminal
report $? "replay: comes to its end"
# A carriage return, and the rest of the line is cleared.
[ "$(tail -c 4 shown | od -An -c | tr -d ' ')" = '\r033[K' ] &&
	[ "$(wc -l < out)" = 1 ] && grep -q '^1 tasks replayed in' out
report $? "replay: in the end the line is gone, and the result is on standard output"
on_terminal schedtape replay -q t.tape > out 2> log && [ ! -s shown ] && [ ! -s out ]
report $? "replay -q: not a word"
schedtape replay t.tape > out 2> log && [ ! -s log ]
report $? "replay: where standard error is no terminal, there is no line"

# -- a tape that is copied ------------------------------------------------------------

schedtape record -q --threads -o t -- true > log 2>&1
report $? "a tape of several files is recorded"
on_terminal schedtape pack -o packed t > out 2> log
tr -d '\r\033' < shown >> log
grep -q '\[ schedtape pack: [0-9]* % \]' shown && grep -q 'schedtape pack: wrote' shown
report $? "pack: a line on a terminal shows how far it is"
schedtape pack -o packed t > out 2> log && ! grep -q % log
report $? "pack: elsewhere it does not"

# -- several replays ------------------------------------------------------------------

gone()
{
	! running periodic > log
}

schedtape replay --speed 20 -r 3 t.tape > out 2> log && [ "$(wc -l < out)" = 3 ] &&
	[ "$(grep -c '^1 tasks replayed in' out)" = 3 ]
report $? "-r 3: three lines"
expect 129 "-r 0: a number from 1 on" schedtape replay -r 0 t.tape

# another_player PID: succeeds if a player runs that is not this one, and sets $player to it
another_player()
{
	player=$(pgrep -x periodic) && [ "$player" != "$1" ]
}

two_lines()
{
	[ "$(wc -l < out)" -ge 2 ]
}

# The file with what players share, by its inode.
shared_file()
{
	find "/proc/$loop/fd" -lname '/memfd:schedtape-cast*' -exec stat -Lc %i {} +
}

shared()
{
	shared_file > first && [ -s first ]
}

schedtape replay --speed 3 --loop t.tape > out 2> log &
loop=$!
eventually shared
eventually two_lines
report $? "--loop: a line is printed at the end of each replay"
shared_file | cmp first > log 2>&1
report $? "--loop: what players share is written once"
interrupt $loop && ! grep -qv '^1 tasks replayed in' out && [ ! -s log ] && eventually gone
report $? "--loop: Ctrl-C ends it with status 130, and leaves no player"
# In JSON all results are printed together. Each round has a player of its own.
schedtape replay --json --speed 3 --loop t.tape > out 2> log &
loop=$!
eventually another_player 0 && eventually another_player "$player" &&
	eventually another_player "$player"
interrupt $loop && like out "(len(d['rounds']) >= 2 and
	all(r['task_count'] == 1 for r in d['rounds']))"
report $? "--loop --json: status 130, and an object for each that came to its end"

finish
