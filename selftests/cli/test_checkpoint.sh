#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: checkpoints of sample run on to the right end, with the files that they had.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

if ! find_cgroups; then
	skip "no cgroup v2 here"
	finish
	exit
fi
if ! criu check > log 2>&1; then
	skip "criu: $(tail -n 1 log)"
	finish
	exit
fi

# sample DIR ARG...: samples into a new directory
sample()
{
	rm -rf "$1"
	schedtape sample -q -o "$1" --event task-clock "${@:2}" < /dev/null
}

# checkpoints DIR: prints their numbers
checkpoints()
{
	sed -n 's/^{"interval":\([0-9]*\),.*"checkpoint":.*/\1/p' "$1/manifest"
}

mkdir work
printed=$(checksum 0)
sample one --interval 20ms --max 3 -- checksum 0 work/data 2>&1 | cat > log
[ "${PIPESTATUS[0]}" = 3 ] && [ "$(cat log)" = "$printed" ] && [ "$(checkpoints one | xargs)" = "1 2 3" ]
report $? "a workload that writes a file gets three checkpoints, and goes on"
cp work/data whole && rm work/data
for n in 1 2 3; do
	schedtape restore --keep kept$n one/$n 2>&1 < /dev/null | cat > log
	[ "${PIPESTATUS[0]}" = 3 ] && [ "$(cat log)" = "$printed" ] && cmp "kept$n$PWD/work/data" whole 2>> log
	report $? "checkpoint $n runs on to the same checksum, file and exit status"
done
[ ! -e work/data ]
report $? "outside of it nothing was written"

sample two --interval 20ms --at 2 -- checksum 2 work/data > file 2> log
[ $? = 3 ] && grep -q 'sum' file
report $? "two processes with a pipe, which write a file as standard output"
cp file whole
schedtape restore --keep kept two < /dev/null > out 2> log
[ $? = 3 ] && cmp "kept$PWD/file" whole 2>> log
report $? "run on together, and write the same"
[ "$(find "$cg" -name 'schedtape-*')" = "" ] && ! ls -d /run/schedtape-restore.* > log 2>&1
report $? "no cgroup or folder is left"


cat > closing <<'EOS'
for i in 1 2 3 4 5 6; do
	echo $i >> work/list
	checksum 0 work/new | tail -n 1 >> work/list
	sort -r work/list > work/sorted
done
md5sum < work/sorted
EOS
sample three --interval 20ms --at 7 -- bash closing 2>&1 | cat > log
printed=$(cat log)
[ "${#printed}" = 35 ] && cp work/list whole && rm work/*
schedtape restore --keep kept3 three 2>&1 < /dev/null | cat > log
[ "$(cat log)" = "$printed" ] && cmp "kept3$PWD/work/list" whole 2>> log
report $? "files that were written and closed are as they were"

schedtape restore --record part.tape --for interval two < /dev/null > out 2> log
report $? "one interval of them is recorded"
on_tape part.tape "c == {'checksum'} and len(p) == 3" "they are on the tape, and criu is not"
schedtape info --json part.tape > info.json 2> log && like info.json "d['meta']['interval'] == 3"
report $? "with the interval's number"
schedtape report --json part.tape > tape.json 2> log &&
	like tape.json "19e6 < sum(t['cpu_time_ns'] for t in d['tasks']) < 25e6"
report $? "and its CPU time"

# -- trouble --------------------------------------------------------------------

expect 1 "there are 3 checkpoints" schedtape restore one
expect 1 "no checkpoint 9" schedtape restore one/9
expect 1 "No such file" schedtape restore nosuch/1
expect 1 "only root can restore .* replay" nobody schedtape restore "$(realpath two)"
mv one moved
mv work gone
expect 1 "work: the workload wrote files there: No such file" schedtape restore moved/2
finish
