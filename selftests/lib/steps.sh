# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # build and dir are of commands.sh
# steps.sh - run the steps of a tutorial, and compare what they print with the page. Sourced, after
# commands.sh.

# take_steps PAGE: writes the Nth command of the page to N.command, and what it prints to N.page. A
# command goes on after a backslash.
take_steps()
{
	awk '
	/^[^ ]/ { literal = /::$/; shown = "" }
	literal && goes_on {
		print >> (n ".command")
		goes_on = /\\$/
		next
	}
	literal && /^  \$ / {
		shown = ++n ".page"
		print substr($0, 5) > (n ".command")
		close(n ".command")
		goes_on = /\\$/
		printf "" > shown
		next
	}
	shown { print > shown }' "$1"
}

# terminal COMMAND COLUMNS: runs COMMAND on a terminal, and prints what is there in the end
terminal()
{
	COLUMNS=$2 NO_COLOR=1 PAGER=cat script -qec "$1" /dev/null |
		sed -E 's/\r*$//; s/.*\r//; s/\x1b\[K//g'
}

# kinds FILE: prints the kinds of lines in a file. Numbers are the same, and "-" is one. So are
# tasks in lines of events and of waits, where the tasks and their states are up to chance, kinds of
# events and of softirqs that are counted, and the bars of histograms. Not every machine has a clock
# that is faster than that of "record -e".
kinds()
{
	sed -E 's/0x[0-9a-f]+/N/g; s/(^|[^[:alnum:]])-?[0-9][0-9.,]*/\1N/g
		s/ -( |$)/ N\1/g; s/ -( |$)/ N\1/g
		s/--+/--/g; s/##+/#/g; s/ +/ /g; s/^ | $//g; s/^\.\.\.$//; /^$/d
		/( ran| ready,|: awakened:|\] N:|worst:) /s/[a-z-]+[:-]N|idle/TASK/g
		s/\[[A-Z]\] ==>/[STATE] ==>/; s/ by (task|hardirq|softirq)$/ by CONTEXT/
		s/^[^ ]+ (\[N\] N: waking: )[^ ]+ by [A-Za-z_]+$/TASK \1TASK by CONTEXT/
		s/^[^ ]+ (\[N\] N: switch: )[^ ]+( \[STATE\])? ==> [^ ]+$/TASK \1TASK ==> TASK/
		/ -e: the clock is mono,/d; s/^N [a-z_]+(:[a-z_]+)?$/N EVENT/; s/^N ms [A-Z_]+ .*/N ms SOFTIRQ TASK/
		s/(task|CPU)s/\1/g; s/, without sched_ext in the kernel$//' "$1" | sort -u
}

# alike N: has the step printed the kinds of lines that the page has? There are others only if the
# page leaves some out, or if they tell of events, in which other tasks may have a part.
alike()
{
	diff <(kinds "$1.page") <(kinds "$1.out") > log && return
	grep -qE '^  \.\.\.$' "$1.page" || grep -qE 'schedtape (why|timehist|script) ' "$1.command" &&
		! grep -q '^<' log
}

# try N COMMAND: runs a step. Where numbers have more digits than on the page, its columns need more
# room.
try()
{
	local columns

	for columns in 80 84 88 92 96; do
		terminal "$2" $columns > "$1.out" && alike "$1" && return
	done
}
