#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the examples of the manual pages and of README.rst work as they are printed.
#
# The examples of a page run in their order, in a folder of their own. Each has to end with
# status 0, without a message of an error, and to write the tapes that it names. Examples marked
# "not run" and commands inside a sentence are not run: only their options are parsed.
# lib/examples.awk describes the marks.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# -- stand-ins ------------------------------------------------------------------

# What examples name and a guest does not have:
#
#	nginx		a task that works every 100 ms, in the cgroup system.slice/nginx.service
#	$pid		its PID
#	make		the real one, with a Makefile of four jobs that compute and sleep
#	./client, ./prepare, ./measure
#			one such job each
#	build.tape, web.dir
#			a recording of make, as a file and as a directory
#	replay.tape	a copy of build.tape, so that diff's limits are kept at any load
#	session 3, replay 1
#			the session of such a recording that is running, and the replay that is
#			running, whatever their numbers
# shellcheck disable=SC2016 # the scripts expand their variables
stand_ins()
{
	local name

	mkdir bin stock locked
	cp "$(command -v periodic)" bin/nginx
	for name in client prepare measure; do
		script "stock/$name" 'for i in 1 2; do hog 5 > /dev/null; sleep 0.2; done'
	done
	printf '%s\n' 'all: job1 job2 job3 job4' 'job%:; @./client' > stock/Makefile
	PATH=$dir/bin:$PATH
	(cd stock && schedtape record -q -o build.tape -- make -j8 &&
		schedtape record -q --threads -o web.dir -- make -j8 &&
		cp build.tape replay.tape) > log 2>&1
}

# script FILE TEXT
script()
{
	printf '#!/bin/bash\n%s\n' "$2" > "$1"
	chmod 755 "$1"
}

# Starts a new nginx for each example and sets $pid, so that no example depends on an earlier one.
start_nginx()
{
	"$dir/bin/nginx" 100 1 1000000 > /dev/null 2>&1 &
	pid=$!
	export pid
	[ -z "$group" ] || echo "$pid" > "$group/cgroup.procs"
}

stop_nginx()
{
	kill "$pid"
	wait "$pid"
} 2> /dev/null

# needs_session FILE: succeeds if the example names a session that it did not start
needs_session()
{
	grep -qE '^schedtape (filter|top --like)' "$1" && ! grep -q '^schedtape record' "$1"
}

# number STATE: prints the number of the session or replay that is in this state, or soon will be
number()
{
	eventually in_state "$1" && echo "$id"
}
export -f eventually in_state number
export slow

# numbered FILE: prints the example with the numbers that a user would take from "list"
# shellcheck disable=SC2016 # the example's shell expands it
numbered()
{
	sed -E 's/schedtape filter [0-9]+/schedtape filter $(number recording)/
		s/schedtape top --like [0-9]+/schedtape top --like $(number recording)/
		s/schedtape steer [0-9]+/schedtape steer $(number running)/' "$1"
}

# -- running an example ---------------------------------------------------------

# commands FILE: prints each schedtape command of the example on a line, without pipes,
# redirections and other commands
commands()
{
	local word="('[^']*'|\"[^\"]*\"|\\\$\\([^)]*\\)|[^ '\"|;&()<>#]+)+"

	sed ':join; /\\$/ { N; s/\\\n//; b join }' "$1" | grep -oE "schedtape( +$word)+"
}

# tapes FILE: prints the names of the tapes that the example's commands write
tapes()
{
	commands "$1" | awk '{
		to = $2 == "record" ? "schedtape.tape" : ""
		for (i = 3; i <= NF && $i != "--"; i++) {
			if (($i == "-o" || $i == "--record") && i < NF)
				to = $(i + 1)
			else if ($i ~ /^--(output|record)=/)
				to = substr($i, index($i, "=") + 1)
		}
		if (to != "")
			print to
	}'
}

# check_tapes FILE: are the tapes there, newer than the example's start, and readable?
check_tapes()
{
	local tape

	while read -r tape; do
		[ "$tape" -nt "$dir/started" ] || { echo "$tape was not written"; return 1; }
		schedtape info "$tape" > /dev/null || return
	done < <(tapes "$1")
}

# shell FILE: runs an example, then waits for what it has left in the background
shell()
{
	{
		numbered "$1"
		# shellcheck disable=SC2016 # for the example's shell
		echo 'for job in $(jobs -p); do wait "$job"; done'
	} > "$dir/commands"
	timeout $((100 * slow)) bash -e -o pipefail "$dir/commands"
}

# sessions: prints how many there are
sessions()
{
	schedtape list --json | grep -c '"session":'
}

# Ctrl-C reaches all processes of the terminal.  Another session may record already.
interrupted()
{
	local shell status before

	# more: succeeds if the example has made a session
	more()
	{
		[ "$(sessions)" -gt "$before" ] && recording
	}
	before=$(sessions)

	numbered "$1" > "$dir/commands"
	setsid timeout --foreground $((100 * slow)) bash -e "$dir/commands" &
	shell=$!
	eventually more && sleep 0.5
	status=$?
	kill -INT -- -$shell
	wait $shell && return $status
}

# run_example FILE [KIND]: runs an example. Fails after a non-zero status, a message of an error, or
# a missing tape, and writes the reason to "log".
run_example()
{
	local recorder='' status

	start_nginx
	if needs_session "$1"; then
		schedtape record -q -o "$dir/other.tape" -p "$pid" &
		recorder=$!
		eventually recording
	fi
	touch "$dir/started"
	case ${2-run} in
	Ctrl-C) interrupted "$1" ;;
	*) shell "$1" ;;
	esac > "$dir/out" 2> "$dir/log" < /dev/null
	status=$?
	stop_nginx
	if [ -n "$recorder" ]; then
		kill -INT $recorder
		wait $recorder
	fi
	[ $status = 0 ] || { echo "status $status" >> "$dir/log"; return 1; }
	! grep -qvE '^\[ schedtape |: warning: ' "$dir/log" || return
	check_tapes "$1" >> "$dir/log" 2>&1
}

# -- parsing the options of one -------------------------------------------------

# parse COMMAND: succeeds if it has no wrong option. A user without rights runs it, in an empty
# folder that this user cannot write to: so it does nothing but fail.
parse()
{
	(cd locked && nobody timeout $((20 * slow)) bash -c "$1") \
		> out 2> log < /dev/null
	case $? in
	0 | 1 | 2) ;;
	*) return 1 ;;
	esac
}

# parse_example FILE [WORD]: parses all commands of an example, at least one; WORD is added to each
parse_example()
{
	local command status=1

	start_nginx
	while read -r command; do
		parse "$command ${2-}"
		status=$?
		[ $status = 0 ] || { echo "$command" >> log; break; }
	done < <(commands "$1")
	stop_nginx
	return $status
}

# -- all of them ----------------------------------------------------------------

# in_folder PAGE COMMAND...: runs COMMAND in the folder of a page's examples
in_folder()
{
	mkdir -p folders
	[ -d "folders/$1" ] || cp -r stock "folders/$1" || return
	(cd "folders/$1" && "${@:2}")
}

# try N PLACE KIND REASON
try()
{
	local file=$dir/examples/$1 text

	text="$2: $(head -n 1 "$file")"
	case $3 in
	not-run)
		parse_example "$file"
		report $? "$text (only its options: $4)"
		;;
	named)
		# Often only a part of a command line, so that help has to end it.
		parse_example "$file" --help
		report $? "$text: its options"
		;;
	*)
		in_folder "${2%:*}" run_example "$file" "$3"
		report $? "$text"
		;;
	esac
}

# take FILE...: takes the examples out of pages; "list" has their kinds
take()
{
	rm -rf examples
	mkdir examples
	awk -v to=examples -f "$here/lib/examples.awk" "$@" > list 2> log
}

# -- this test's own tests ------------------------------------------------------

document()
{
	cat <<- 'END'
	Text::

	    $ schedtape list
	    output
	    $ schedtape status

	.. example: not run: it needs another machine

	Code::

	  no example
	  sudo schedtape record

	A sentence about schedtape report.
	END
}

sample()
{
	cat <<- 'END'
	.Dl schedtape record -q -- true
	.\" example: none
	.Dl some output
	.Bd -literal -offset indent
	schedtape record -q -- \&./client \e
	    \(aqa b\(aq
	.Ed
	.\" example: not run: it needs another machine
	.Dl ssh other schedtape record -a --no-such-option; schedtape list
	.Ql schedtape report --nor-this .
	.Dl schedtape record -q -o none -- true; rm none
	.Dl schedtape info /nonexistent || true
	.Dl schedtape list; false
	END
}

# is N KIND LINES: the Nth example is so
is()
{
	grep -qE "^$1	sample\.[a-z0-9]+:[0-9]+	$2	" list && cmp "examples/$1" <(echo "$3") > log 2>&1
	report $? "the parser: $2 at $1"
}

# fails N COMMAND...
fails()
{
	! "${@:2}" "$dir/examples/$1"
	report $? "found: $(head -n 1 "$dir/examples/$1")"
}

test_itself()
{
	local command

	sample > sample.1
	document > sample.rst
	take sample.rst
	report $? "the examples of a document"
	is 1 run $'schedtape list\nschedtape status'
	is 2 not-run $'no example\nsudo schedtape record'
	printf '%s\n' '.. example: Ctrl-C' '' 'Code::' '' '  other' '' > mark.rst
	! take mark.rst && grep -q 'mark.rst: mark "Ctrl-C" is before no example' log
	report $? "a mark needs an example"
	take sample.1
	report $? "the examples of a page"
	is 1 run 'schedtape record -q -- true'
	is 2 run $'schedtape record -q -- ./client \\\n    \'a b\''
	is 3 not-run 'ssh other schedtape record -a --no-such-option; schedtape list'
	is 4 named 'schedtape report --nor-this'
	in_folder sample run_example "$dir/examples/2" run
	report $? "an example of two lines"
	fails 5 in_folder sample run_example
	fails 6 in_folder sample run_example
	fails 7 in_folder sample run_example
	for command in record filter info script report replay steer diff pack recover list status; do
		! parse "schedtape $command --no-such-option --help"
		report $? "found: a wrong option before --help of $command"
	done
	fails 3 parse_example
	fails 4 parse_example
	parse 'schedtape record -o t -- touch ran' && [ -z "$(ls locked)" ]
	report $? "an example that is only parsed does nothing"
}

pages=$here/../Documentation/man
if [ ! -d "$pages" ]; then
	echo "1..0 # SKIP the manual pages are in the checkout"
	exit 4
fi
if [ "$(nproc)" = 1 ]; then
	echo "1..0 # SKIP one of the examples needs two CPUs"
	exit 4
fi
group=
find_cgroups && mkdir -p "$cg/system.slice/nginx.service" && group=$cg/system.slice/nginx.service
stand_ins
report $? "nginx, make and the tapes of the examples are there"
[ "$failed" = 0 ] || { finish; exit; }
test_itself
take "$pages"/*.[1-9] "$here"/../README.rst "$here"/../Documentation/*.rst &&
	grep -q '	README.rst:' list && grep -q '	schedtape-record.1:' list
report $? "the examples of the manual pages and documents"
while IFS=$'\t' read -r -u 3 n place kind reason; do
	try "$n" "$place" "$kind" "$reason"
done 3< list
[ -z "$group" ] || rmdir "$group" "${group%/*}" 2> /dev/null

finish
