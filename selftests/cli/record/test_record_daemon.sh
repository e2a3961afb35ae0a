#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: record --daemon: its start and its end, the pidfile, the log and the journal; what a
# recorder reports to a service manager; and a start after the recorder was killed.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

chain 100000000 5 > /dev/null &
chain=$!
end_all()
{
	local file

	# shellcheck disable=SC2154 # of commands.sh
	for file in "$dir"/*.pid; do
		[ ! -s "$file" ] || kill -KILL "$(cat "$file")"
	done
	# shellcheck disable=SC2046 # each is a word
	kill -KILL $(jobs -p)
	rm -rf "$dir" /run/systemd/journal/stdout
} 2> /dev/null
trap end_all EXIT
gone() { ! kill -0 "$1" 2> /dev/null; }

# -- the start -------------------------------------------------------------------------

# A pipe ends only when nobody has it open any more.
said=$(schedtape record --daemon --pidfile d.pid --log log.txt -p $chain -o t 2>&1 < /dev/zero)
report $? "a daemon starts"
[ -z "$said" ] && recording
report $? "when the caller goes on, it records"
pid=$(cat d.pid)
[ "$(stat -c %a d.pid)" = 644 ] && [ "$(cat "/proc/$pid/comm")" = schedtape ]
report $? "everybody can read its PID"
[ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ] &&
	[ "$(readlink "/proc/$pid/fd/"{0,1,2} | tr '\n' ' ')" = "/dev/null /dev/null $PWD/log.txt " ]
report $? "it has a session, and nothing of the caller's terminal"
schedtape list --json > list.json &&
	like list.json "[s['owner_pid'] for s in d['sessions']] == [$pid]"
report $? "it is the session's owner"
expect 1 "d.pid: the recorder with PID $pid has this pidfile" \
	schedtape record --daemon --pidfile d.pid -p $chain -o other
expect 1 'has this pidfile' schedtape record --pidfile d.pid -p $chain -o other
[ ! -e other ] && [ "$(cat d.pid)" = "$pid" ]
report $? "a second one leaves no tape, and the pidfile as it is"

# -- the log ---------------------------------------------------------------------------

mv log.txt log.1 && kill -HUP "$pid" && eventually [ -e log.txt ]
report $? "SIGHUP makes it open the log again"
kill -0 "$pid" && recording
report $? "and the recording goes on"

# -- the end ---------------------------------------------------------------------------

kill "$pid"
eventually gone "$pid"
report $? "SIGTERM ends it"
[ ! -e d.pid ]
report $? "the pidfile is gone"
schedtape report t > report.txt 2> log && grep -q chain: report.txt && ! grep . log
report $? "the tape is complete"
grep -qE '^20[-0-9]{8}T[:0-9]{8}Z \[ schedtape record: wrote .* to t: ' log.txt && [ ! -s log.1 ]
report $? "the log says so, with the time"

# -- starts that fail ------------------------------------------------------------------

expect 1 'PID 999999: there is no such process' \
	schedtape record --daemon --pidfile f.pid --log f.log -p 999999 -o f
[ ! -e f ] && [ ! -e f.pid ]
report $? "neither a tape nor a pidfile is left"
expect 1 'f.log: No such file' schedtape record --daemon --log none/f.log -p $chain -o f
expect 1 'f.pid: cannot be written: No such file' \
	schedtape record --daemon --pidfile none/f.pid -p $chain -o f
echo precious > f.pid
expect 1 'f.pid: this is no pidfile' schedtape record --daemon --pidfile f.pid -p $chain -o f
[ "$(cat f.pid)" = precious ]
report $? "such a file stays"
rm f.pid
expect 1 'CAP_PERFMON' nobody schedtape record --daemon -p $chain -o f
expect 129 'not with a command' schedtape record --daemon -- true
expect 129 'not with --json' schedtape record --daemon --json -a
expect 129 'not with -o -' schedtape record --daemon -a -o -
expect 129 'is for --daemon' schedtape record --log f.log -a

# -- killed, and started again ---------------------------------------------------------

for n in 1 2 3; do
	# A number that is no recorder's: the file has no lock, whether or not there is a process.
	[ $n != 1 ] || echo 1 > k.pid
	schedtape record --daemon -q --name web --pidfile k.pid --log k.log -p $chain -o k \
		--switch-output 2> log
	report $? "start $n, with a stale pidfile"
	pid=$(cat k.pid)
	eventually [ -s k ]
	schedtape snapshot --recorder web > out 2> log && [ -s "$(cat out)" ]
	report $? "a tape by its name"
	sleep 1.2
	kill -KILL "$pid"
	eventually gone "$pid"
done
tapes=(k.20*Z)
[ -s k ] && [ ${#tapes[@]} = 5 ] && [ ! -e k.old ]
report $? "each tape is kept, also those of recorders that were killed"
failed_tapes=0
for tape in k k.20*Z; do
	schedtape report "$tape" 2>> log | grep -q chain: || failed_tapes=$((failed_tapes + 1))
done
[ "$failed_tapes" = 0 ]
report $? "and has events"
rm -f k.pid

# -- the journal -----------------------------------------------------------------------

expect 1 '^schedtape record: --log journal: No such file' \
	schedtape record --daemon --log journal -p $chain -o j
schedtape record --daemon --pidfile j.pid -p $chain -o j 2> log && grep -q 'messages are lost' log
report $? "without a journal, a warning"
kill "$(cat j.pid)"
eventually gone "$(cat j.pid)"
cat > journal.py << 'EOP'
import os, socket
os.makedirs("/run/systemd/journal", exist_ok=True)
server = socket.socket(socket.AF_UNIX)
server.bind("/run/systemd/journal/stdout")
server.listen()
server.settimeout(60)
connection = server.accept()[0]
connection.settimeout(60)
stream = connection.makefile()
with open("journal.txt", "w") as copy:
    for line in stream:
        copy.write(line)
EOP
/usr/bin/python3 -IS journal.py 2> log &
journal=$!
eventually [ -S /run/systemd/journal/stdout ]
schedtape record --daemon --pidfile j.pid -p $chain -o j --max-size 1B 2> log && [ ! -s log ]
report $? "with a journal, nothing is printed"
wait $journal
# The name, no unit, the level "info", and that messages may begin with their level.
head -n 7 journal.txt | tr '\n' ' ' | grep -q '^schedtape  6 1 0 0 0 ' &&
	grep -q '^<4>schedtape record: warning: --max-size is reached' journal.txt &&
	grep -q '^\[ schedtape record: wrote ' journal.txt
cp journal.txt log
report $? "messages are in the journal, with their level"

# -- a service manager -----------------------------------------------------------------

cat > manager.py << 'EOP'
import os, signal, socket, subprocess, sys, time

manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind("notify.sock")
manager.settimeout(60)

def reports():
    return manager.recv(4096).decode().split("\n")

def start(*words, **more):
    return subprocess.Popen(["schedtape", "record", "-q", *words],
                            env={**os.environ, "NOTIFY_SOCKET": os.path.abspath("notify.sock"),
                                 **more})

# Half a second: less than the recorder's own waits.
recorder = start("-p", sys.argv[1], "-o", "n", "--pidfile", "n.pid", WATCHDOG_USEC="1000000")
assert "READY=1" in reports()
assert open("n.pid").read() == "%d\n" % recorder.pid, "a pidfile without --daemon"
times, status = [], []
while not status:
    for report in reports():
        assert report == "WATCHDOG=1" or report.startswith("STATUS="), report
        if report.startswith("STATUS="):
            status.append(report)
        else:
            times.append(time.monotonic())
print(status, ["%.2f" % (b - a) for a, b in zip(times, times[1:])])
assert status[0].startswith("STATUS=Recording: ") and " events, 0 lost, " in status[0]
assert len(times) >= 10, "some 20 in 10 s"
recorder.terminate()
while "STOPPING=1" not in (last := reports()):
    assert last == ["WATCHDOG=1"], last
assert recorder.wait() == -signal.SIGTERM

# With a command, reports are the command's.
command = start("-o", "n", "--", "sh", "-c", "echo $NOTIFY_SOCKET > with")
assert not command.wait() and open("with").read().strip().endswith("/notify.sock")
manager.setblocking(False)
try:
    raise AssertionError(reports())
except BlockingIOError:
    pass
EOP
/usr/bin/python3 -IS manager.py $chain > log 2>&1
report $? "READY=1, WATCHDOG=1, STATUS=, STOPPING=1"
sed 's/^/# /' log
[ ! -e n.pid ] && schedtape report n > report.txt 2> log
report $? "the recorder has ended"
kill $chain
finish
