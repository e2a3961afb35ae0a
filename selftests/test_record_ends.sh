#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: when schedtape record ends and when it does not, and what signals do to
# it and to its command.

set -u
. "$(dirname "$(realpath "$0")")/lib/commands.sh"

# -- signals -------------------------------------------------------------------------

schedtape record -q -o t -- sh -c 'kill -HUP $PPID; sleep 10; exit 3' 2> log
report $? "SIGHUP ends a recording"
env --ignore-signal=HUP schedtape record -q -o t -- \
	sh -c 'kill -HUP $PPID; sleep 1; exit 3' 2> log
[ $? = 3 ]
report $? "but not where it is ignored"
for how in --ignore-signal --default-signal; do
	look=(grep -E '^Sig(Ign|Blk)' /proc/self/status)
	signals=$how=HUP,PIPE,XFSZ,CHLD
	env "$signals" "${look[@]}" > want
	timeout 30 env "$signals" schedtape record -q -o t -- "${look[@]}" > got 2> log &&
		[ "$(wc -l < got)" = 2 ] && diff want got > log
	report $? "$signals: the command finds them as the recorder has"
done

finish
