#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: checkpoints of sample run on to the right end, with the files that they had.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

find_cgroups || skip_all "no controller cpu for cgroups of version 2"
criu check > log 2>&1 || skip_all "criu: $(tail -n 1 log)"

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
sample one --interval 50ms --max 3 -- checksum 0 work/data 2>&1 | cat > log
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

# The kernel notes which memory has changed since that dump, although there is no checkpoint of it.
cat > failing << 'EOS'
#!/bin/sh
criu "$@" || exit
case $* in
dump*/broken/2\ *) exit 1 ;;
esac
EOS
chmod +x failing
sample "$PWD/broken" --criu="$PWD/failing" --interval 50ms --max 3 -- checksum 0 work/data 2>&1 |
	cat > log
grep -q "no checkpoint 2" log && [ "$(checkpoints broken | xargs)" = "1 3" ]
report $? "where criu fails, the next checkpoint is taken"
schedtape restore broken/3 < /dev/null > out 2> log
[ $? = 3 ] && [ "$(cat out)" = "$printed" ]
report $? "it has all memory"
rm -r work/data broken

sample two --interval 50ms --at 2 -- checksum 2 work/data > file 2> log
[ $? = 3 ] && grep -q 'sum' file
report $? "two processes with a pipe, which write a file as standard output"
cp file whole
schedtape restore --keep kept two < /dev/null > out 2> log
[ $? = 3 ] && cmp "kept$PWD/file" whole 2>> log
report $? "run on together, and write the same"
[ "$(find "$cg" -name 'schedtape-*')" = "" ] && ! ls -d /run/schedtape-restore.* > log 2>&1
report $? "no cgroup or folder is left"

# Without other programs: criu 3.17 was seen to break one that was still being loaded.
cat > closing <<'EOS'
for i in 1 2 3 4 5 6 7 8; do
	echo $i >> work/list
	read -rd '' text < work/list
	printf '%s.' $text > work/dots
	for ((j = 0; j < 4000; j++)); do :; done
done
read -rd '' text < work/dots
echo "$text"
EOS
sample three --interval 50ms --at 6 -- bash closing 2>&1 | cat > log
printed=$(cat log)
[ "$printed" = 1.2.3.4.5.6.7.8. ] && cp work/list whole && rm work/*
schedtape restore --keep kept3 three 2>&1 < /dev/null | cat > log
[ "$(cat log)" = "$printed" ] && cmp "kept3$PWD/work/list" whole 2>> log
report $? "files that were written and closed are as they were"

schedtape restore --record part.tape --for interval two < /dev/null > out 2> log
report $? "one interval of them is recorded"
on_tape part.tape "c == {'checksum'} and len(p) == 3" "they are on the tape, and criu is not"
schedtape info --json part.tape > info.json 2> log && like info.json "d['meta']['interval'] == 3"
report $? "with the interval's number"
schedtape report --json part.tape > tape.json 2> log &&
	like tape.json "45e6 < sum(t['cpu_time_ns'] for t in d['tasks']) < 150e6"
report $? "and its CPU time"

# -- trouble --------------------------------------------------------------------

# is_frozen PID: tests whether the workload of that sampler is frozen
is_frozen()
{
	grep -qs "frozen 1" "$(find "$cg" -name "schedtape-sample-$1")/cgroup.events"
}

cat > waiting << EOS
#!/bin/sh
if [ "\$1" = dump ]; then
	: > "$PWD/dumps"
	until [ -e "$PWD/go-on" ]; do sleep 0.1; done
fi
exec criu "\$@"
EOS
chmod +x waiting
schedtape sample -q -o killed --criu="$PWD/waiting" --event task-clock --interval 50ms -- \
	checksum 0 work/data > sum < /dev/null 2> log &
sampler=$!
eventually [ -e dumps ] && is_frozen $sampler && kill -KILL $sampler && : > go-on &&
	eventually grep -q sum= sum
report $? "a workload that is frozen when its sampler is killed goes on"
wait $sampler 2> /dev/null
schedtape sample --recover killed 2> log
mkdir small && mount -t tmpfs -o size=1m none small
sample small/s --interval 20ms --max 1 -- checksum 0 work/data > out 2> log
[ $? = 3 ] && grep -q "no checkpoint 1: a checkpoint needs up to" log && [ -s small/s/tape ]
report $? "without space there is no checkpoint, and a tape"
umount small
sample orphan --interval 200ms --max 1 -- sh -c '(checksum 0 &); exec checksum 0' > out 2> log
grep -q "no checkpoint 1: process [0-9]* (checksum) is no descendant of process" log
report $? "a process without its parent is named"

expect 1 "there are 3 checkpoints" schedtape restore one
expect 1 "no checkpoint 9" schedtape restore one/9
expect 1 "No such file" schedtape restore nosuch/1
expect 1 "for -5: not a number of task-clock" schedtape restore --for=-5 two
expect 1 "only root can restore .* replay" nobody schedtape restore "$(realpath two)"
mv one moved
mv work gone
expect 1 "work: the workload wrote files there: No such file" schedtape restore moved/2
finish
