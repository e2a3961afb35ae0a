#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: "schedtape record" is killed at a random moment of a storm. What it has written
# stays readable, its session ends, and the module can be unloaded. SCHEDTAPE_ROUNDS (20) is the
# number of kills; SCHEDTAPE_SEED repeats the moments.

here=$(dirname "$(realpath "$0")")
here=${here%/cli/record}
build=${SCHEDTAPE_BUILD:-$here/../build}
PATH=$build:$build/selftests/workloads:$here/workloads:$here:$PATH
schedtape=${SCHEDTAPE:-$(command -v schedtape)}
storm=$(command -v storm)
rounds=${SCHEDTAPE_ROUNDS:-20}
seed=${SCHEDTAPE_SEED:-$RANDOM}
dir=$(mktemp -d) || exit 4
trap 'rm -rf "$dir"' EXIT
n=0 failed=0

# check TEXT COMMAND...: prints one result.
check()
{
	local text=$1

	n=$((n + 1))
	if "${@:2}" > "$dir/log" 2>&1; then
		echo "ok $n $text"
	else
		echo "not ok $n $text"
		sed 's/^/# /' "$dir/log"
		failed=1
	fi
}

# A recorder that is killed before it has written the tape's head leaves an empty file.
readable()
{
	[ -s "$1" ] || return 0
	"$schedtape" info "$1" && "$schedtape" script "$1" > /dev/null
}

no_session()
{
	[ "$("$schedtape" list)" = "no sessions, no replays" ]
}

# A killed process may take a moment to release the module.
unloads()
{
	local tries=$((50 * ${SCHEDTAPE_PATIENCE:-4} * ${SCHEDTAPE_SLOW:-1}))

	until rmmod schedtape; do
		[ $((tries--)) -gt 0 ] || return
		sleep 0.1
	done
	[ ! -e /dev/schedtape ]
}

if [ ! -x "$schedtape" ] || [ ! -e /dev/schedtape ]; then
	echo "1..0 # SKIP needs $schedtape and the module"
	exit 4
fi

echo "TAP version 13"
echo "1..$((2 * rounds + 2))"
echo "# SCHEDTAPE_SEED=$seed"
RANDOM=$seed
read=0
for i in $(seq "$rounds"); do
	# A job is a process group: the storm stays in it when its parent dies.
	set -m
	"$schedtape" record -q -m 64K -o "$dir/tape" -- "$storm" 2 3 1000000 > /dev/null 2>&1 &
	set +m
	recorder=$!
	# Every second kill comes some time after the tape's head, however long that takes.
	while [ $((i % 2)) = 0 ] && [ ! -s "$dir/tape" ] && kill -0 $recorder; do
		sleep 0.01
	done
	ms=$((RANDOM % 700 * ${SCHEDTAPE_SLOW:-1}))
	sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
	kill -KILL $recorder
	kill -KILL -- -$recorder 2> /dev/null
	wait $recorder 2> /dev/null
	check "killed $i: the tape is readable" readable "$dir/tape"
	[ ! -s "$dir/tape" ] || read=$((read + 1))
	check "killed $i: no session is left" no_session
	rm -f "$dir/tape"
done
check "$read of $rounds left a tape" [ "$read" -gt 0 ]
if [ -n "$SCHEDTAPE_KO" ]; then
	check "the module unloads" unloads
	insmod "$SCHEDTAPE_KO"
else
	n=$((n + 1))
	echo "ok $n the module unloads # SKIP SCHEDTAPE_KO does not say how to load it again"
fi
exit $failed
