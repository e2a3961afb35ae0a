#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the module tries its tracepoints when it is loaded. SCHEDTAPE_PLANTED is a folder with
# modules for which one of them seems to be wrong, see lib/planted_selftest.h: they do not load, and
# name it.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/module/lifecycle}/lib/commands.sh"

if [ -z "${SCHEDTAPE_KO:-}" ]; then
	echo "1..0 # SKIP needs SCHEDTAPE_KO, the module to load again"
	exit 4
fi

# load FILE [PARAMETER]: loads the module, and writes what its self-test says to "log"
load()
{
	echo "test_selftest: load" > /dev/kmsg
	insmod "$@" 2> /dev/null
	loaded=$?
	dmesg | tac | sed '/test_selftest: load/q' | grep 'schedtape: self-test' > log
	[ $loaded = 0 ]
}

# refuses NUMBER TEXT: that module does not load, and TEXT is all that it says
refuses()
{
	! load "$SCHEDTAPE_PLANTED/selftest-$1.ko" && [ ! -e /sys/module/schedtape ] &&
		grep "$2.* selftest=0 loads" log && [ "$(wc -l < log)" = 1 ]
}

rmmod schedtape 2> log
if [ -n "${SCHEDTAPE_PLANTED:-}" ]; then
	refuses 1 "tracepoint sched_switch was called with other arguments" > out
	report $? "tasks in another order: the module does not load, and names the tracepoint"
	refuses 2 "tracepoint sched_process_exit was not called" > out
	report $? "a silent tracepoint: the module does not load, and names the tracepoint"
	load "$SCHEDTAPE_PLANTED/selftest-3.ko" && grep -q "has not run within 5 s" log
	report $? "the module loads with a warning if its thread has not run in time"
	rmmod schedtape 2> log && [ ! -e /sys/module/schedtape ]
	report $? "and is unloaded after the thread"
	load "$SCHEDTAPE_PLANTED/selftest-1.ko" selftest=0 && [ ! -s log ] && rmmod schedtape
	report $? "selftest=0 skips the self-test"
fi
load "$SCHEDTAPE_KO" && [ ! -s log ]
report $? "this kernel passes the self-test, and nothing is said"
schedtape record -q -o t -- sleep 0 2> log
report $? "and is recorded"

finish
