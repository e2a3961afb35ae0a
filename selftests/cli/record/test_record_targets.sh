#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: which tasks schedtape record records, for each option that selects tasks.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

# meta TAPE EXPRESSION TEXT: tests an expression about f, the filter on the tape
meta()
{
	schedtape info --json "$1" > tape.json 2> log &&
		like tape.json "(lambda f: $2)(d['meta']['filter'])"
	report $? "$3"
}

# Records for a short time.
record()
{
	schedtape record -q -o t --duration 0.4 "$@" 2> log
}

# Records until the children of $forks are on the tape, because a slow machine takes longer.
record_forks()
{
	local tries=$((30 * patience))

	until record "$@" && schedtape report t > reported 2> /dev/null &&
	      grep -q '^true' reported && grep -q '^sleep' reported; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || break
	done
}

start_three
sh -c 'while :; do /bin/true; /bin/sleep 0.1; done' &
forks=$!
trap 'kill $other $periodic $chain $forks 2> /dev/null; rm -rf "$dir"' EXIT

# Processes and threads.
record -p $periodic,$chain -p $other
on_tape t "p >= {$periodic, $chain, $other} and c == {'periodic', 'chain', 'other'} and len(p) == 5" \
	"-p: several processes, with their threads"
meta t "f['pids'] == [$periodic, $chain, $other] and not f['all'] and not f['no_inherit']" \
	"-p: the tape has the option"
thread=$(cd /proc/$chain/task && echo * | cut -d ' ' -f 2)
record -t "$thread"
on_tape t "p == {$thread}" "-t: one thread"
meta t "f['tids'] == [$thread] and not f['no_inherit']" "-t: the tape has the option"
record_forks -p $forks
on_tape t "{'sh', 'true'} <= c" "-p: a process's children, too"
like tape.json "{t['ppid'] for t in d['tasks']} == {0, $forks}"
report $? "a parent that is not recorded has no PID on the tape"
record -p $forks -i
on_tape t "p == {$forks}" "-i: its children are not recorded"
record_forks -t $forks
on_tape t "{'sh', 'true'} <= c" "-t: a thread's children, too"
record -t $forks --no-inherit
on_tape t "p == {$forks}" "-t --no-inherit: its children are not recorded"
schedtape record -q -o t -i -- sh -c '/bin/true; exec /bin/true'
on_tape t "len(p) == 1" "-i: the command alone"
expect 1 'TID 4194303: there is no such process or thread' schedtape record -t 4194303
expect 129 '-t 1,,2: not a list of TIDs' schedtape record -t 1,,2

# With another target, a command only limits the duration.
schedtape record -q -o t -p $periodic -- sh -c 'sleep 0.3; exit 3' 2> log
[ $? = 3 ]
report $? "-p and a command: its exit status"
on_tape t "p == {$periodic}" "-p and a command: the process, while the command runs"
record_forks -a -- sleep 0.3
on_tape t "{'sleep', 'other', 'periodic', 'true'} <= c and 'schedtape' not in c and
	not any(x.startswith('ksoftirqd') for x in c)" "-a: all tasks of user space, not the recorder"
meta t "f['all'] and not f['kthreads']" "-a: the tape has the option"
record -a --kthreads
on_tape t "{'other', 'kthreadd'} <= c" "--kthreads: kernel threads, too"
expect 1 'PID 2: ' schedtape record -p 2
record --kthreads -p 2
on_tape t "p == {2}" "--kthreads -p: one kernel thread"
record -a --exclude-comm 'o[s-u]her' --exclude-comm 'chai?'
on_tape t "{'periodic', 'sh'} <= c and not c & {'other', 'chain'}" "--exclude-comm: leaves names out"
meta t "f['exclude_comm'] == ['o[s-u]her', 'chai?']" "--exclude-comm: the tape has the option"
record -a --exclude-comm '*[!]x]???????????\?[a*' --exclude-comm 'periodic*******' --exclude-comm ''
on_tape t "'other' in c and 'periodic' not in c" "--exclude-comm: as long as a name may be"
for glob in sixteen-letters- 'and*sixteen_letters' '[]a]??????????????[' '[!]]\xxxxxxxxxxxxxxx'; do
	expect 129 'matches nothing, for a name has no more than 15' \
		schedtape record -a --exclude-comm "$glob" --duration 1
done
for length in 64 70000; do
	glob=$(printf "%${length}s" | tr ' ' '*')
	schedtape record -a --exclude-comm "$glob" --duration 1 > out 2> log
	[ $? = 129 ] && grep -q -e '--exclude-comm .*: longer than 63 characters' log
	report $? "--exclude-comm: a pattern of $length characters is too long"
done

# CPUs.
if [ "$(nproc)" -gt 1 ]; then
	record -C 1 -p $forks,$periodic
	schedtape script --json t 2> log | tail -n +2 > script.json && [ -s script.json ] &&
		! grep -m 5 -vE '"cpu":(1|null),' script.json > log
	report $? "-C: events of one CPU, and descriptions"
	meta t "f['cpus'] == '1' and not f['all']" "-C: the tape has the option"
	record_forks -C 0-1
	on_tape t "{'other', 'true'} <= c" "-C alone: every task"
else
	skip "needs two CPUs"
fi
expect 1 'there is no CPU 4096 here' schedtape record -C 0,4096 -- true
expect 129 '-C 1-: not a list of CPUs' schedtape record -C 1- -- true

# Cgroups.
cgroups=$(cgroup_mount)
if [ -n "$cgroups" ] && mkdir -p "$cgroups/st/below" 2> log; then
	echo $periodic > "$cgroups/st/cgroup.procs"
	echo $forks > "$cgroups/st/below/cgroup.procs"
	id=$(stat -c %i "$cgroups/st")
	record_forks -G st
	on_tape t "$periodic in p and c == {'periodic', 'sh', 'true', 'sleep'}" \
		"-G: a cgroup and those below it"
	meta t "f['cgroups'] == [{'id': $id, 'path': '/st'}]" "-G: the tape has the option"
	record_forks -G "$cgroups/st/below"
	on_tape t "c == {'sh', 'true', 'sleep'}" "-G: by its whole path"
	mkdir -p "$cgroups/st/beside"
	for option in "-G st/below" "-p $forks"; do
		# shellcheck disable=SC2086 # an option and its argument
		record $option
		schedtape info --json t > tape.json 2> log && like tape.json \
			"{c['path'] for c in d['meta']['cgroups']} == {'/', '/st', '/st/below'}"
		report $? "${option% *}: only the cgroups that it is about are on the tape"
	done
	record -a
	schedtape info --json t > tape.json 2> log && like tape.json \
		"{'/st', '/st/beside'} <= {c['path'] for c in d['meta']['cgroups']}"
	report $? "-a: all cgroups are"
	rmdir "$cgroups/st/beside"
	record -G "/st/below,id:$id"
	on_tape t "$periodic in p" "-G: several, one by its number"
	meta t "f['cgroups'][1] == {'id': $id, 'path': '/st'}" "-G: the number's path is found"
	mkdir -p "$cgroups/st/a,b"
	id=$(stat -c %i "$cgroups/st/a,b")
	record -G 'st/a,b'
	meta t "f['cgroups'] == [{'id': $id, 'path': '/st/a,b'}]" "-G: a path with a comma"
	record -G 'st/a\,b,st/below'
	meta t "f['cgroups'][0]['id'] == $id and len(f['cgroups']) == 2" "-G: that is quoted in a list"
	rmdir "$cgroups/st/a,b"
	schedtape record -q -o t -G st -- sh -c "
		sleep 0.2; echo $other > '$cgroups/st/cgroup.procs'; sleep 0.2" 2> log
	on_tape t "$other in p" "-G: a task that enters the cgroup later is recorded, too"
	echo $other > "$cgroups/cgroup.procs"
	record_forks -G st/below -- sh -c "echo \$\$ > '$cgroups/st/below/cgroup.procs'; sleep 0.3"
	on_tape t "{'sleep', 'true'} <= c" "-G: a command that moves into it"
else
	skip "needs cgroups of version 2"
fi
expect 1 'there is none of that name' schedtape record -G nonexistent
expect 1 'there is no such cgroup' schedtape record -G id:123456789
expect 129 'a cgroup without a name' schedtape record -G ,
expect 129 'what to record' schedtape record --kthreads

finish
