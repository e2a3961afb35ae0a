# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # here, dir, patience, cg and failed are of commands.sh
# examples.sh - run the examples of manual pages and documents. Sourced, after commands.sh.
#
# The examples of a page run in their order, in a folder of their own. Each has to end with
# status 0, without a message of an error, and to write the tapes that it names. Examples marked
# "not run" and commands inside a sentence are not run: host/test_command_lines.sh parses all.
# examples.awk describes the marks.

# -- stand-ins ------------------------------------------------------------------

# What examples name and a guest does not have:
#
#	nginx		two processes that work every 100 ms, in the cgroup system.slice/nginx.service
#	$pid		the PID of one
#	make		the real one, with a Makefile of four jobs that compute and sleep
#	./client, ./prepare, ./measure
#			one such job each
#	python3		the one of Debian, with the package schedtape
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

	mkdir bin stock
	cp "$(command -v periodic)" bin/nginx
	for name in client prepare measure; do
		script "stock/$name" 'for i in 1 2; do hog 5 > /dev/null; sleep 0.2; done'
	done
	ln -s /usr/bin/python3 bin/python3
	export PYTHONPATH=$build/python
	cp "$here"/../Documentation/examples/*.py stock
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

declare -A nginx	# PIDs of its processes

all_nginx()
{
	[ "$(pgrep -cx nginx)" = ${#nginx[@]} ]
}

# Starts a new nginx for each example and sets $pid, so that no example depends on an earlier one.
start_nginx()
{
	for pid in master worker; do
		"$dir/bin/nginx" 100 1 1000000 > /dev/null 2>&1 &
		nginx[$pid]=$!
		[ -z "$group" ] || echo $! > "$group/cgroup.procs"
	done
	pid=${nginx[master]}
	export pid
	# The names are there after the exec.
	eventually all_nginx
}

stop_nginx()
{
	kill "${nginx[@]}"
	wait "${nginx[@]}"
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
export patience

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

# tapes FILE: prints the names of the tapes that the example's commands write; of those that follow
# each other, a pattern
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
		if (/ --switch-output/)
			to = to ".20*Z"
		if ($2 == "sample")
			to = to "/tape"
		if (to != "" && to != "-")
			print to
	}'
}

# has_nginx TAPE: are both of its processes on the tape?
has_nginx()
{
	[ "$(schedtape report --comm nginx -F tasks "$1" | tail -n 1 | tr -d ' ')" = 2 ] ||
		{ echo "$1 does not have all processes of nginx"; return 1; }
}

# check_tapes FILE: are the tapes there, newer than the example's start, and readable? If the example
# names nginx, they have all of it.
check_tapes()
{
	local tape

	while read -r tape; do
		# shellcheck disable=SC2086 # it may be a pattern
		tape=$(printf '%s\n' $tape | tail -n 1)
		[ "$tape" -nt "$dir/started" ] || { echo "$tape was not written"; return 1; }
		schedtape info "$tape" > /dev/null || return
		! grep -q nginx "$1" || has_nginx "$tape" || return
	done < <(tapes "$1")
}

# shell FILE: runs an example, then waits for what it has left in the background
shell()
{
	{
		numbered "$1"
		# Some examples have ended a job with "kill".
		# shellcheck disable=SC2016 # for the example's shell
		echo 'for job in $(jobs -p); do wait "$job" || [ $? = 143 ]; done'
	} > "$dir/commands"
	timeout $((100 * patience)) bash -e -o pipefail "$dir/commands"
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
	setsid timeout --foreground $((100 * patience)) bash -e "$dir/commands" &
	shell=$!
	eventually more && sleep 0.5
	status=$?
	kill -INT -- -$shell
	wait $shell
	[ $? = 130 ] && return $status
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

# -- all of them ----------------------------------------------------------------

# in_folder PAGE COMMAND...: runs COMMAND in the folder of a page's examples
in_folder()
{
	mkdir -p folders
	[ -d "folders/$1" ] || cp -r stock "folders/$1" || return
	(cd "folders/$1" && "${@:2}")
}

# try N PLACE KIND: runs an example that is to be run
try()
{
	local file=$dir/examples/$1 text

	text="$2: $(head -n 1 "$file")"
	case $3 in
	not-run | named) ;;
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

# prepare: makes the stand-ins, or ends the test
prepare()
{
	if [ ! -d "$here/../Documentation/man" ]; then
		echo "1..0 # SKIP the manual pages are in the checkout"
		exit 4
	fi
	if [ "$(nproc)" = 1 ]; then
		echo "1..0 # SKIP one of the examples needs two CPUs"
		exit 4
	fi
	group=
	find_cgroups && mkdir -p "$cg/system.slice/nginx.service" &&
		group=$cg/system.slice/nginx.service
	stand_ins
	report $? "nginx, make and the tapes of the examples are there"
	[ "$failed" = 0 ] || { finish; exit; }
}

# try_all FILE...: tries the examples of pages, of which at least three must have some
try_all()
{
	local n place kind

	take "$@" && [ "$(cut -f 2 list | sed 's/:.*//' | sort -u | wc -l)" -ge 3 ]
	report $? "there are examples"
	while IFS=$'\t' read -r -u 3 n place kind _; do
		try "$n" "$place" "$kind"
	done 3< list
	[ -z "$group" ] || rmdir "$group" "${group%/*}" 2> /dev/null
}
