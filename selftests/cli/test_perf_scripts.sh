#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: perf's own scripts print of a tape what they print of perf's recording of the same
# tasks at the same time, and the tallies of scripts are those of perf stat.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

perf_scripts=
for place in /usr/lib*/perf-core /usr/lib*/*/perf-core /usr/share/perf-core; do
	[ ! -d "$place/scripts/python" ] || perf_scripts=$place/scripts
done
export PYTHONPATH=$build/python
if [ -z "$perf_scripts" ] || ! command -v perf > /dev/null; then
	skip "perf or its scripts are not installed"
	finish
	exit
fi
if ! schedtape script -l > log 2>&1; then
	skip "the Python package schedtape is not built"
	finish
	exit
fi

# -- one run, recorded and counted by three --------------------------------------

# It waits at the gate, so all three have seen nothing when it begins, and all of it when it ends.
mkfifo gate
# shellcheck disable=SC2016 # the shell expands it
sh -c 'read x < gate
	dd if=/dev/zero of=/dev/null bs=1 count=300 status=none
	cat /nonexistent 2> /dev/null
	for i in 1 2 3; do sleep 0.01; done' &
run=$!
points=raw_syscalls:sys_enter,raw_syscalls:sys_exit
perf record -q -e $points -p $run -o perf.data 2> log &
recording=$!
perf stat -x, -e $points -p $run 2> stat.csv &
counting=$!
schedtape record -q -e $points -p $run -o tape 2> said &
recorder=$!
eventually recording
# perf has opened its events, of which each CPU needs one.
opened()
{
	[ "$(find "/proc/$1/fd" -lname '*perf_event*' 2> /dev/null | wc -l)" -ge 2 ]
}
eventually opened $recording
eventually opened $counting
sleep 1
echo > gate
wait $recording $counting $recorder
report $? "a run of system calls is recorded by perf and by schedtape"

# -- tallies ---------------------------------------------------------------------

cat > tally.pl << 'EOP'
sub raw_syscalls::sys_enter { $n{sys_enter}++ }
sub raw_syscalls::sys_exit { $n{sys_exit}++ }
sub trace_end { print "$n{$_} raw_syscalls:$_\n" for sort keys %n }
EOP
awk -F, '/raw_syscalls/ { print $1, $3 }' stat.csv | sort -k2 > counted
schedtape script -i tape -s event-counts 2> log |
	awk '!NF { exit } /raw_syscalls/ { gsub(",", ""); print $1, $2 }' | sort -k2 > python
schedtape script -i tape -s tally.pl > perl 2>> log
sed 's/^/# /' counted
for language in python perl; do
	[ "$(awk '$1 > 600' counted | wc -l)" = 2 ] && diff counted $language > log
	report $? "$language counts what perf stat counts"
done

# -- perf's scripts --------------------------------------------------------------

# perf's scripts take the names of system calls from a module that Debian does not have. It has the
# names that ours has, so that lines can be compared.
cat > audit.py << EOP
import runpy
syscall_name = runpy.run_path("$build/python/schedtape/perf/Util.py")["syscall_name"]
def audit_syscall_to_name(number, machine):
    return syscall_name(number)
def __getattr__(name):
    return 0
EOP

# like_perf SCRIPT FILE: the same lines, in any order
like_perf()
{
	PYTHONPATH=. perf script -i perf.data -s "$2" > perf.out 2> log &&
		schedtape script -i tape -s "$2" > our.out 2> log &&
		[ "$(wc -l < our.out)" -gt 5 ] &&
		diff <(sort perf.out) <(sort our.out) > log
	report $? "$1 prints the same"
}

# perf_has LANGUAGE: newer versions of perf are built without Perl
perf_has()
{
	perf version --build-options | grep -q " lib$1: \[ on"
}

for name in syscall-counts syscall-counts-by-pid failed-syscalls-by-pid; do
	if perf_has python; then
		like_perf "$name.py" "$perf_scripts/python/$name.py"
	else
		skip "$name.py: perf is built without Python"
	fi
done
if perf_has perl; then
	like_perf failed-syscalls.pl "$perf_scripts/perl/failed-syscalls.pl"
else
	skip "failed-syscalls.pl: perf is built without Perl"
fi
finish
