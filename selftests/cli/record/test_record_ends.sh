#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: when schedtape record ends and when it does not, that it sleeps until then, and the
# effect of signals on it and on its command.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
cpu1=/sys/devices/system/cpu/cpu1/online
limit=${SCHEDTAPE_EXACT:+0.6}
limit=${limit:-1.5}

# Tests that the recorder used little CPU time in the 2 s between its child's two looks at it. A
# busy host stops the guest's CPUs, and the kernel counts that time as the recorder's: hence two
# limits.
idle()
{
	/usr/bin/python3 -c 'import os, sys
def used(name):
    fields = open(name).read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
assert used("after") - used("before") < float(sys.argv[1]), used("after") - used("before")' \
		"$limit" 2> log
	report $? "$1"
}

# -- the end of a command, and of named tasks -------------------------------------

sleep 1000 &
named=$!
# shellcheck disable=SC2016 # the command expands it
schedtape record -q -o t -p $named -- sh -c 'kill '$named'
	sleep 1; cat /proc/$PPID/stat > before; sleep 2; cat /proc/$PPID/stat > after
	exit 5' 2> log
[ $? = 5 ]
report $? "-p and a command: the command's end counts"
schedtape info --json t > tape.json 2> log &&
	like tape.json 'd["stop_ns"] - d["start_ns"] > 2.9e9'
report $? "not that of the process"
idle "behind which the recorder sleeps"

for glob in 'none*' sleep 's*'; do
	sleep 1000 &
	named=$!
	(eventually recording && kill $named) &
	timeout $((30 * patience)) \
		schedtape record -q -o t -p $named --exclude-comm "$glob" 2> log &&
		[ ! -e /proc/$named ]
	report $? "--exclude-comm $glob: the process's end counts"
done

# -- a slow stream -----------------------------------------------------------------

# Only the stream's thread is stopped.
/usr/bin/python3 - > out 2> log <<-'END'
	import ctypes, os, shutil, signal, subprocess, time
	SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
	def ptrace(request, tid):
	    if ctypes.CDLL(None).ptrace(request, tid, None, None):
	        raise OSError("ptrace")
	def look(name):
	    shutil.copyfile("/proc/%d/task/%d/stat" % (recorder.pid, recorder.pid), name)
	recorder = subprocess.Popen(["schedtape", "record", "-q", "--threads", "-m", "16K",
	    "-o", "t", "--", "pingpong", "100000000"], stdout=subprocess.DEVNULL)
	cpus, threads = os.cpu_count(), []
	while len(threads) < cpus:
	    time.sleep(0.1)
	    threads = [int(t) for t in os.listdir("/proc/%d/task" % recorder.pid)
	               if int(t) != recorder.pid]
	time.sleep(1)
	for thread in threads:
	    ptrace(SEIZE, thread)
	    ptrace(INTERRUPT, thread)
	    os.waitpid(thread, WALL)
	time.sleep(1)
	look("before")
	time.sleep(2)
	look("after")
	for thread in threads:
	    ptrace(DETACH, thread)
	recorder.send_signal(signal.SIGINT)
	assert recorder.wait() == -signal.SIGINT
END
report $? "streams that are behind catch up in the end"
# One of the two waits for the other one that was killed.
pkill -KILL -x pingpong
idle "and meanwhile the main thread sleeps"

# -- CPUs that are offline -----------------------------------------------------------

# on_cpu1 STATUS TEXT: the recorder has succeeded, and has recorded CPU 1
on_cpu1()
{
	local status=$1

	[ "$status" = 0 ] && schedtape info --json t > tape.json 2>> log &&
		like tape.json 'd["damage"] is None and any(c["cpu"] == 1 and
			c["events"] > 100 and not c["lost"] for c in d["cpus"])'
	report $? "$2"
}

if [ -w $cpu1 ] && echo 0 > $cpu1 2> log; then
	wake="echo 1 > $cpu1; taskset -c 1 pingpong 100 > /dev/null"
	for options in --threads --threads=0/0:1/1 "--threads=0-1/1" "-C 1 --threads"; do
		# shellcheck disable=SC2086 # several options
		schedtape record -q $options -o t -- sh -c "$wake" 2> log
		on_cpu1 $? "$options: a CPU that comes online is recorded"
		echo 0 > $cpu1
	done
	echo 1 > $cpu1
	export -f eventually recording in_state
	export patience
	schedtape record -q --threads -D 2000 -o t -- \
		bash -c "echo 0 > $cpu1; eventually recording; $wake" 2> log
	on_cpu1 $? "--threads -D: a CPU that goes offline before the start"
else
	skip "needs a CPU that can go offline"
fi

# -- a FIFO without a reader ----------------------------------------------------------

mkfifo fifo
timeout --preserve-status -s INT -k $((30 * patience)) $((2 * patience)) \
	schedtape record -o fifo -- sh -c '> ran' 2> log
[ $? = 130 ] && grep -q 'fifo: no process has opened it to read' log && [ ! -e ran ]
report $? "a signal ends the wait for a FIFO's reader"
schedtape report fifo > out 2> log2 &
schedtape record -q -o fifo -- pingpong 10 > log 2>&1 && wait $! && grep -q pingpong out
report $? "which then gets the tape"

# -- signals -------------------------------------------------------------------------

# shellcheck disable=SC2016 # the command expands it
schedtape record -q -o t -- sh -c 'kill -HUP $PPID; sleep 10; exit 3' 2> log
[ $? = 129 ]
report $? "SIGHUP ends a recording"
# shellcheck disable=SC2016 # the command expands it
env --ignore-signal=HUP schedtape record -q -o t -- \
	sh -c 'kill -HUP $PPID; sleep 1; exit 3' 2> log
[ $? = 3 ]
report $? "but not where it is ignored"
# shellcheck disable=SC2016 # the command expands it
schedtape record -q -o t -- sh -c 'kill -USR2 $PPID; sleep 1; exit 3' 2> log
[ $? = 3 ] && schedtape info --json t > tape.json 2> log && like tape.json 'd["events"] > 0'
report $? "SIGUSR2 does not end a recording"
# shellcheck disable=SC2016 # the command expands it
schedtape record -q -o t --overwrite -- sh -c 'kill -USR2 $PPID; sleep 1; exit 3' 2> log
[ $? = 3 ] && grep -q 'no snapshots to be merged' log && schedtape info --json t > tape.json 2> log &&
	like tape.json 'd["events"] > 0 and d["damage"] is None'
report $? "nor in overwrite mode, where it merges the snapshots"
# shellcheck disable=SC2016 # the command expands it
timeout $((30 * patience)) schedtape record -q -o t --overwrite --threads -- \
	sh -c 'kill -USR2 $PPID; sleep 100; exit 3' 2> log &&
	schedtape info --json t > tape.json 2> log &&
	like tape.json 'd["events"] > 0 and d["damage"] is None'
report $? "with --threads, which takes none, it writes what is in the rings, and ends the recording"
# As at a terminal: Ctrl-C reaches the shell, the recorder and the command.
cat > ctrl-c.py << 'EOP'
import os, signal, subprocess, sys, time

def reset():
    signal.signal(signal.SIGINT, signal.SIG_DFL)

def interrupted(*words):
    """Starts a job, and interrupts it when it has made the file "up"."""
    job = subprocess.Popen(words, start_new_session=True, preexec_fn=reset)
    while not os.path.exists("up"):
        time.sleep(0.05)
    os.killpg(job.pid, signal.SIGINT)
    job.wait()
    os.remove("up")
    return job.returncode

loop = "for n in 1 2 3; do schedtape record -q -o loop$n -- sh -c '> up; exec sleep 10'; done"
assert interrupted("bash", "-c", loop) == -signal.SIGINT
assert os.path.exists("loop1") and not os.path.exists("loop2")
took = "trap 'exit 0' INT; > up; while :; do sleep 0.1; done"
record = ["schedtape", "record", "-q", "-o", "took", "--", "sh", "-c", took]
assert interrupted(*record) == -signal.SIGINT
EOP
/usr/bin/python3 -IS ctrl-c.py > log 2>&1
report $? "Ctrl-C ends the recorder by SIGINT, and a shell's loop, whatever the command does"
schedtape report loop1 > out 2> log && grep -q 'sleep' out && ! grep . log
report $? "the tape is complete"
for how in --ignore-signal --default-signal; do
	look=(grep -E '^Sig(Ign|Blk)' /proc/self/status)
	signals=$how=HUP,PIPE,XFSZ,CHLD,USR2
	env "$signals" "${look[@]}" > want
	timeout $((30 * patience)) \
		env "$signals" schedtape record -q -o t -- "${look[@]}" > got 2> log &&
		[ "$(wc -l < got)" = 2 ] && diff want got > log
	report $? "$signals: the command finds them as the recorder has"
done

cat > look << 'END'
#!/bin/sh
cd /proc/self
cat limits cgroup oom_score_adj timerslack_ns
grep -E '^(Umask|Sig[BIC]|Shd|Cap|NoNew|Seccomp|Cpus|Mems)' status
ls fd
wish
END
chmod 755 look
while read -r start options; do
	start=${start//,/ }
	if ! $start true; then
		skip "$start: not here"
		continue
	fi
	sh -c "echo 123456 > /proc/\$\$/timerslack_ns; exec $start ./look" > want
	# shellcheck disable=SC2086
	sh -c "echo 123456 > /proc/\$\$/timerslack_ns
		exec $start schedtape record -q $options -o t -- ./look" > got 2> log &&
		[ "$(wc -l < want)" -gt 30 ] && diff want got > log
	report $? "$start record $options: the command is as it would be without"
done << 'END'
env
nice,-n,3 -r 10
chrt,-R,-f,5 --overwrite -r 10
wish,3,20000000,-1,-1 --threads
wish,0,0,-1,-1 -r 10 -e irq:softirq_entry
END

finish
