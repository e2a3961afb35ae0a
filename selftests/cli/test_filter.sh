#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape filter changes which tasks a session records, while it records.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

start_three
trap 'kill $other $periodic $chain 2> /dev/null; rm -rf "$dir"' EXIT
thread=$(cd /proc/$chain/task && echo * | cut -d ' ' -f 2)

schedtape record -q -o t -p $periodic 2> record.log &
recorder=$!
eventually recording
schedtape filter "$id" add -p $other -t "$thread" > log 2>&1
report $? "filter add: it is done"
sleep 0.3
schedtape filter "$id" del -p $other > log 2>&1
report $? "filter del: it is done"
schedtape list --json > list.json
like list.json 'd["sessions"][0]["task_count"] == 2'
report $? "filter del: the session has the others"
schedtape filter "$id" set -a --exclude-comm bash > log 2>&1
report $? "filter set: it is done"
sleep 0.3
schedtape filter "$id" set > log 2>&1
schedtape list --json > list.json
like list.json 'd["sessions"][0]["task_count"] == 2'
report $? "filter set: options that are not given are off"
expect 1 'PID 4194303: there is no such process' schedtape filter "$id" add -p 4194303
expect 1 'there is no such cgroup' schedtape filter "$id" add -G id:123456789
interrupt $recorder
on_tape t "{$periodic, $other, $thread, $chain} <= p and 'bash' not in c" \
	"filter: all tasks that it had at some time are on the tape"
expect 1 "filter: session $id: there is no such session" schedtape filter "$id" add -p $other
expect 1 "filter: session $id: there is no such session" schedtape filter "$id" set -a
expect 129 'not the number of a session' schedtape filter x add -p $other
expect 129 'not the number of a session' schedtape filter 4294967297 add -p $other
expect 129 'neither add nor del nor set' schedtape filter 1 put -p $other
expect 129 'which tasks' schedtape filter 1 add
expect 129 'add takes -p, -t and -G' schedtape filter 1 add -a
expect 129 'set takes' schedtape filter 1 set -p $other
expect 129 'which session' schedtape filter

finish
