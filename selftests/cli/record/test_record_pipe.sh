#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape record -o - into a pipe: what reads the tape there shows the same as from
# the file that tee saves; a tape that is cut off; Ctrl-C; what a pipe cannot do; and links, devices
# and other files that no plain file is.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

# of_file COMMAND...: prints what the command shows of the saved tape, as if it had read the pipe.
of_file()
{
	schedtape "$@" t | sed -e 's/^# t:/# -:/' -e 's/"tape": *"t"/"tape":"-"/'
}

# same TEXT COMMAND...: compares that with what it showed of the pipe
same()
{
	local text=$1

	shift
	sed -i 's/"tape": *"-"/"tape":"-"/' piped
	of_file "$@" > wanted 2>> log
	# From a pipe, map does not know what CPUs do that run no task of the tape.
	[ "$1" != map ] || sed -i 's/,\? ? => idle or another task//
		:more; s/\( \*\?\)[.-] /\1? /; t more' piped wanted
	[ -s piped ] && cmp piped wanted >> log
	report $? "$text"
}

# record_into COMMAND...: records into a pipe that the command reads
record_into()
{
	schedtape record -q -o - "${options[@]}" -- forktree 3 3 2> log | tee t |
		schedtape "$@" - > piped 2>> log
}

# -- the same as of a file ---------------------------------------------------

for clock in mono tsc; do
	options=(-k "$clock")
	schedtape record -q -o t "${options[@]}" -- true 2> log || continue
	for command in "report" "report --json --edges" "latency -p --histogram" \
		       "timehist -S -w" "timehist -I" "stat" "why --summary" "map --compact" \
		       "script --ns" "script --json"; do
		# shellcheck disable=SC2086 # words
		record_into $command
		# shellcheck disable=SC2086
		same "-k $clock, $command" $command
	done
done
options=(-m 16K --overwrite)
record_into report --json
same "--overwrite, report" report --json
options=(-a --kthreads)
record_into script -F time,event
same "all tasks, script" script -F time,event

mkfifo fifo
schedtape report fifo > piped 2> log &
schedtape record -q -o t -- pingpong 200 2>> log && cat t > fifo
wait $!
sed -i 's/^# fifo:/# -:/' piped
same "a FIFO" report

# -- the recording goes on meanwhile -------------------------------------------

mkfifo live
schedtape script live > piped 2> log &
reader=$!
schedtape record -q -k mono -o - -- sleep 1000 > live 2>> log &
recorder=$!
for _ in $(seq $((30 * patience))); do
	[ -s piped ] && break
	sleep 1
done
[ -s piped ] && kill -0 $recorder
report $? "events are shown while the recording goes on"
kill $recorder
wait $reader
report $? "its end ends the reader"

# -- the end is missing --------------------------------------------------------

options=()
record_into report
size=$(stat -c %s t)
head -c $((size - 50)) t > short
schedtape report --json short > wanted 2> file.log
status=$?
head -c $((size - 50)) t | schedtape report --json - > piped 2> log
[ $? = $status ] && grep -q 'not finished' log && cmp <(sed 's/"short"/"-"/' wanted) piped >> log
report $? "a tape that is cut off: the same, and a warning"

# Ctrl-C reaches both ends of a pipe: it ends the recorder, and the reader shows what has come.
mkfifo held
env --default-signal=INT schedtape report held > piped 2> log &
reader=$!
exec 9> held
head -c $((size / 2)) t >&9
sleep 1
kill -INT $reader
tail -c +$((size / 2 + 1)) t >&9
exec 9>&-
wait $reader
[ $? = 130 ]
report $? "Ctrl-C ends the reader, by that signal, when the pipe has ended"
sed -i 's/^# held:/# -:/' piped
same "which shows all" report
env --default-signal=INT schedtape report held > piped 2> log &
reader=$!
exec 9> held
head -c $((size / 2)) t >&9
sleep 1
kill -INT $reader
sleep 1
interrupt $reader
report $? "a second one does"
exec 9>&-

# -- the output of the command -------------------------------------------------

schedtape record -q -o - -- echo hello 2> said > t && grep -qx hello said &&
	schedtape info --json t > tape.json 2> log && like tape.json 'd["damage"] is None'
report $? "the command's output is not in the tape"

# -- what a pipe cannot do -----------------------------------------------------

# refused STATUS COMMAND...
refused()
{
	local status=$1

	shift
	expect "$status" 'in a file first' schedtape "$@" < <(cat t)
}

refused 1 info -
refused 1 replay -
refused 2 diff t -
refused 1 recover -o whole -
refused 1 script --time 10%-20% -
refused 1 latency --time 50%/2 -
refused 1 timehist --time 50% -

# -- what no plain file is -----------------------------------------------------

# whole TAPE TEXT: the last command has succeeded, and the tape has its end
whole()
{
	[ $? = 0 ] && schedtape info --json "$1" > tape.json 2> log &&
		like tape.json 'd["damage"] is None'
	report $? "$2"
}

# says FILE TAPE TEXT: the same, the file has the command's output, and the link is still one
says()
{
	[ $? = 0 ] && grep -qx hello "$1" && [ -L stdout ] && [ ! -e stdout.old ]
	whole "$2" "$3"
}

ln -s /proc/self/fd/1 stdout
schedtape record -q -o stdout -- echo hello 2> said > out.tape
says said out.tape "a link to standard output, a file"
(set -o pipefail; schedtape record -q -o stdout -- echo hello 2> said | cat > out.tape)
says said out.tape "a link to standard output, a pipe"
schedtape record -q -o /dev/fd/3 -- echo hello 3> out.tape > said
says said out.tape "an open descriptor"
(set -o pipefail; schedtape record -q -o /dev/fd/3 -- echo hello 2> said 3>&1 | cat > out.tape)
says said out.tape "an open descriptor of the same pipe"
cat fifo > out.tape &
schedtape record -q -o fifo -- echo hello > said
status=$?
wait $!
(exit $status)
says said out.tape "a FIFO"
[ -p fifo ] && schedtape record -q -o /dev/null -- true 2> log && [ -c /dev/null ]
report $? "a FIFO and a device are what they were"

for there in "none" "an old tape"; do
	ln -sf far/tape link
	mkdir -p far
	schedtape record -q -o link -- true && [ -L link ]
	whole far/tape "a link to a file: $there"
done
whole far/tape.old "whose old tape is beside it"
ln -sf far/part link
parts=()
schedtape record -q --switch-output=200ms -o link -- sleep 1 && [ -L link ] &&
	parts=(far/part.2*Z) && [ ${#parts[@]} -gt 1 ]
whole "${parts[0]:-none}" "a link with --switch-output"
ln -s far/tapes links
schedtape record -q --threads -o links/ -- true && [ -L links ]
whole far/tapes "a link with --threads"

schedtape replay t --record stdout > out.tape 2> log && grep -q ' tasks\? replayed in ' log
whole out.tape "replay"
schedtape pack far/tapes -o stdout > out.tape 2> log
whole out.tape "pack"
schedtape recover short -o stdout > out.tape 2> log && grep -q '^\[ .* wrote' log
whole out.tape "recover"
schedtape merge "${parts[@]}" -o stdout > out.tape 2> log
whole out.tape "merge"

files()
{
	find far ro empty block -printf '%p %i %M %s %T@ %l\n' | sort
}

# unwritable PATTERN FILE: record is refused before the command starts, and nothing has changed
unwritable()
{
	files > before
	expect 1 "^schedtape record: $2: $1" schedtape record -o "$2" -- touch started
	files | cmp - before > log && [ ! -e started ]
	report $? "$2: nothing has changed, and the command was not started"
}

mknod block b 7 0
mkdir empty ro
cp t ro/t
mount -o bind ro ro && mount -o remount,bind,ro ro
unwritable 'is a block device; name a file' block
unwritable 'Is a directory; name another file' empty
unwritable 'a directory that is not a tape; name another file' far
unwritable 'Read-only file system; name another file' ro/new
unwritable 'cannot keep the old one .* Read-only file system; name another file' ro/t
unwritable 'No such file or directory; name another file' none/t
unwritable 'is not open; open it in the shell' /dev/fd/7
umount ro
schedtape record -o stdout -- touch started > mixed 2>&1
[ $? = 1 ] && grep -q 'stdout: standard error goes there, too' mixed && [ ! -e started ]
report $? "standard output and standard error in one file are refused"
expect 1 'is not open; open it in the shell' \
	sh -c 'exec schedtape record -o - -- touch started >&-'
[ ! -e started ]
report $? "a closed standard output is refused, too"
schedtape record -q -o t -- readlink /proc/self/fd/0 <&- > log 2>&1
[ $? = 1 ] && [ ! -s log ]
report $? "a closed standard input is closed in the command"

finish
