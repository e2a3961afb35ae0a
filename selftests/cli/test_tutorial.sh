#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the steps of the tutorial work with redis, and print what the page shows: lines of the
# same kinds and the same columns, with other numbers.

set -u -o pipefail
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

servers=$build/servers
page=$here/../Documentation/tutorial.rst
if [ ! -d "$servers" ] || [ ! -e "$page" ]; then
	skip "it needs the checkout, and servers: selftests/qemu/fetch servers unpacks them"
	finish
	exit
fi

# One CPU, as on the page.
taskset -pc 0 $$ > /dev/null
mkdir bin
cat > bin/redis-server << END
#!/bin/sh
export LD_LIBRARY_PATH=$(echo "$servers"/usr/lib/*-linux-gnu)
exec $servers/usr/bin/redis-server "\$@"
END
chmod 755 bin/redis-server
PATH=$dir/bin:$PATH
cp "$here/../Documentation/examples/client.py" .

# Writes the Nth command of the page to N.command, and what it prints to N.page.
awk '
/^[^ ]/ { literal = /::$/; shown = "" }
literal && /^  \$ / {
	shown = ++n ".page"
	print substr($0, 5) > (n ".command")
	printf "" > shown
	next
}
shown { print > shown }' "$page"

# terminal COMMAND COLUMNS: runs COMMAND on a terminal, and prints what is there in the end
terminal()
{
	COLUMNS=$2 NO_COLOR=1 PAGER=cat script -qec "$1" /dev/null |
		sed -E 's/\r*$//; s/.*\r//; s/\x1b\[K//g'
}

# kinds FILE: prints the kinds of lines in a file. Numbers are the same, and "-" is one. So are
# tasks in lines of events and of waits, where the tasks and their states are up to chance.
kinds()
{
	sed -E 's/(^|[^[:alnum:]])-?[0-9][0-9.,]*/\1N/g; s/ -( |$)/ N\1/g; s/ -( |$)/ N\1/g
		s/--+/--/g; s/ +/ /g; s/^ | $//g; s/^\.\.\.$//; /^$/d
		/( ran| ready,|: awakened:|\] N:|worst:) /s/[a-z-]+[:-]N|idle/TASK/g
		s/\[[A-Z]\] ==>/[STATE] ==>/; s/ by (task|hardirq|softirq)$/ by CONTEXT/
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

# called PID NAME: is this the name of the task?
called()
{
	[ "$(cat "/proc/$1/comm" 2> /dev/null)" = "$2" ]
}

# began COMMAND: waits until a server, or a client, that runs in the background has begun
began()
{
	case $1 in
	redis-server*) eventually test -S /tmp/redis.sock ;;
	*) eventually called $! "$(awk '{ print $3 }' <<< "$1")" ;;
	esac
}

window=
for ((n = 1; ; n++)); do
	[ -e $n.command ] || break
	command=$(sed "s/--time [^ ]*/--time $window/" $n.command)
	case $command in
	*'&') eval "$command" > $n.out 2>&1 && began "$command" ;;
	*) try $n "$command" ;;
	esac
	report $? "$(cat $n.command)"
	# The page takes these times from "why", with 1 ms more on both sides.
	times=$(awk '/ did not run for / { printf "%.6f,%.6f", $9 - 0.001, $11 + 0.001 }' $n.out)
	window=${times:-$window}
done
[ $n -gt 10 ]
report $? "there are steps"
# shellcheck disable=SC2046 # PIDs
kill $(jobs -p)
wait
rm -f /tmp/redis.sock
finish
