#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the module is loaded, records, replays and is unloaded repeatedly: each cycle gives
# the same results, and leaves nothing in memory. SCHEDTAPE_ROUNDS (5) is the number of cycles.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/module/lifecycle}/lib/commands.sh"
rounds=${SCHEDTAPE_ROUNDS:-5}

if [ -z "${SCHEDTAPE_KO:-}" ]; then
	echo "1..0 # SKIP needs SCHEDTAPE_KO, the module to load again"
	exit 4
fi

# kB of kernel memory that cannot be reclaimed.
kernel_memory()
{
	awk '/^(SUnreclaim|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo
}

# Writes the reason for a failure to "log".
cycle()
{
	insmod "$SCHEDTAPE_KO" &&
	schedtape record -o t -- ./work 2> out > /dev/null &&
	grep -q ' 0 lost' out &&
	schedtape replay --speed 4 --record=again t > out &&
	schedtape script again > out &&
	[ "$(grep -c chain out)" -gt 20 ] &&
	[ "$(schedtape list)" = "no sessions, no replays" ] &&
	rmmod schedtape &&
	[ ! -e /dev/schedtape ]
}

cat > work << 'END'
#!/bin/sh
chain 3 5 > /dev/null &
chain 2 5 > /dev/null
wait
END
chmod 755 work
rmmod schedtape 2> log
report $? "the module goes"
done=0
for ((i = 0; i < rounds; i++)); do
	cycle 2>> log || break
	done=$((done + 1))
	# During the first half the kernel's own caches still grow.
	[ $done != $((rounds / 2)) ] || before=$(kernel_memory)
done
[ $done = "$rounds" ]
report $? "$done of $rounds cycles"
grep -E 'stape|schedtape' /proc/vmallocinfo > log
[ ! -s log ]
report $? "no memory of it is left"
if [ $done -ge 100 ]; then
	after=$(kernel_memory)
	echo "kB: $before after half of them, $after after the last" | tee log | sed 's/^/# /'
	# With some hundred cycles, this finds a leak of one page for each cycle.
	[ $((after - before)) -lt $((rounds + 128)) ]
	report $? "the kernel has not grown"
else
	skip "growth of the kernel is only seen in a hundred cycles"
fi
insmod "$SCHEDTAPE_KO" 2> log
report $? "and it comes back"

finish
