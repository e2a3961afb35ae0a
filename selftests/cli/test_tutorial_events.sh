#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the steps of the tutorial of events work with a download, and print what the page
# shows: lines of the same kinds and the same columns, with other numbers; their counts agree.

set -u -o pipefail
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"
. "${here%/cli}/lib/steps.sh"

page=$here/../Documentation/events.rst
export PYTHONPATH=$build/python
if [ ! -e "$page" ] || ! command -v curl > log || ! schedtape script -l > log 2>&1; then
	skip_all "it needs the checkout, curl, and the Python package schedtape"
fi
find_tracing
[ -d $tracing/events/syscalls ] || skip_all "this kernel has no tracepoints of system calls"

# One CPU, as on the page.
taskset -pc 0 $$ > /dev/null
ip link set lo up
mkdir bin
ln -s /usr/bin/python3 bin/python3
PATH=$dir/bin:$PATH
cp "$here"/../Documentation/examples/{softirqs,download}.py .
take_steps "$page"

for ((n = 1; ; n++)); do
	[ -e $n.command ] || break
	command=$(cat $n.command)
	case $command in
	# They are of this shell.
	*'&' | kill*) eval "$command" > $n.out 2>&1 ;;
	*) try $n "$command" ;;
	esac
	report $? "$(head -n 1 $n.command)"
done
[ $n -gt 10 ]
report $? "there are steps"

# The command, the scripts and the program count the same.
schedtape info --json download.tape > counts.json 2> log
samples=$(sed -n 's/.*"samples": \([0-9]*\),/\1/p' counts.json)
schedtape script -i download.tape -s event-counts 2> log |
	awk '!NF { exit } !/ (sched|task):/ { gsub(",", ""); n += $1 } END { print n }' > counted
[ "$samples" -gt 500 ] && [ "$(cat counted)" = "$samples" ]
report $? "event-counts counts the other events that info does"
schedtape script -e net:netif_receive_skb download.tape 2> log |
	sed -nE 's/.* len=([0-9]+).*/\1/p' | awk '{ n += $1 } END { print n }' > printed
python3 download.py download.tape 2> log |
	sed -nE 's/^ *([0-9,]+)  bytes received$/\1/p' | tr -d , > added
[ "$(cat printed)" -gt 4194304 ] && diff printed added > log
report $? "the program adds up the bytes that script prints"
finish
