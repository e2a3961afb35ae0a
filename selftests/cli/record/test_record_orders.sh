#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: orders to a recorder by its name: snapshot, pause, resume, stop; who may give them; and
# what a recorder does with connections that say nothing, too much, or something wrong.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
sockets=/run/schedtape

chain 100000000 5 > /dev/null &
chain=$!
trap 'kill -KILL $(jobs -p) 2> /dev/null; rm -rf "$dir" $sockets' EXIT

# is_named NAME PID: succeeds if "list" shows the recorder's session by its name
is_named()
{
	schedtape list --json > list.json && schedtape list | grep -q " $1:$2 " &&
		like list.json "[s['owner_pid'] for s in d['sessions'] if s['name'] == '$1'] == [$2]"
}

# -- orders ----------------------------------------------------------------------

schedtape record -q --name web -p $chain -o t --switch-output 2> log &
recorder=$!
eventually recording
is_named web $recorder
report $? "list shows the name"
[ "$(stat -c %a $sockets/web.sock)" = 600 ] && [ "$(stat -c %a $sockets)" = 700 ]
report $? "only its user can reach the socket"
schedtape snapshot --recorder web > out && [ -s "$(cat out)" ] && schedtape info "$(cat out)" > info.txt
report $? "snapshot prints the name of a tape"
schedtape list --json > list.json && like list.json '[(s["keeps_ns"], s["snapshot_count"],
	s["last_trigger"]["name"], 0 < s["last_trigger"]["time_ns"] < 2**63)
	for s in d["sessions"] if s["name"] == "web"] == [(None, 1, "order", True)]' &&
	schedtape list -F owner,keeps,snapshots,last,since > list.txt &&
	grep -qE "^web:$recorder +- +1 +order +0:0" list.txt
report $? "list shows that it was taken"
schedtape pause web > out && [ ! -s out ] && eventually in_state paused
report $? "pause"
schedtape resume web:$recorder > out && [ ! -s out ] && eventually recording
report $? "resume, by the name that list prints"
expect 1 'there is no recorder of that name' schedtape pause web:1
expect 1 'another recorder has this name' schedtape record -q --name web -p $chain -o other
[ ! -e other ]
report $? "and no tape is there"
schedtape stop web > out && wait $recorder
report $? "stop"
schedtape report --json "$(cat out)" > report.json && like report.json 'd["tasks"]'
report $? "prints the name of the last tape, which is complete"
[ ! -e $sockets/web.sock ]
report $? "the socket is gone"
expect 1 'there is no recorder of that name' schedtape stop web

schedtape record -q --name "$PWD/here" -D -1 -p $chain -o late 2> log &
recorder=$!
there() { [ -S here ]; }
eventually there
sleep 0.5
schedtape start "$PWD/here" && eventually recording
report $? "start begins a recording, by the path of its socket"
expect 1 'without --switch-output' schedtape snapshot --recorder ./here
# The last one has no time to clean up.
kill -KILL $recorder
wait $recorder 2> /dev/null
schedtape record -q --name "$PWD/here" -p $chain -o again 2> log &
recorder=$!
eventually recording
schedtape stop ./here > out && [ "$(cat out)" = "$PWD/again" ] && wait $recorder
report $? "the name of a recorder that was killed is free"

schedtape record -q --name fly -p $chain -o fly -M 64K 2> log &
recorder=$!
keeps()
{
	schedtape list --json > list.json && like list.json 'any(0 < s["keeps_ns"] < 1e11 and
		s["snapshot_count"] == 0 and s["last_trigger"] is None
		for s in d["sessions"] if s["name"] == "fly")'
}
eventually keeps
report $? "list shows how far back a recorder in memory goes"
kill -STOP $recorder
schedtape list --json > list.json && like list.json 'any(s["keeps_ns"] is None and
	s["snapshot_count"] is None for s in d["sessions"] if s["name"] == "fly")'
report $? "and nothing if it does not answer"
kill -CONT $recorder
schedtape stop fly > out && wait $recorder
report $? "it ends well"

# -- snapshots ---------------------------------------------------------------------

expect 1 'there is no recorder that takes snapshots' schedtape snapshot
# One that takes no snapshots does not count.
schedtape record -q --name plain -p $chain -o plain 2> log &
plain=$!
schedtape record -q -p $chain -o memory -M 64K 2> log &
recorder=$!
taken() { schedtape snapshot "it is slow" > out 2> log; }
eventually taken
schedtape info --json "$(cat out)" > info.json 2> log && like info.json '[d["meta"]["trigger"][key]
	for key in ("name", "note", "uid")] == ["order", "it is slow", 0]'
report $? "a snapshot of the only recorder has its note, and who asked for it"
kill -USR1 $recorder
signal_taken()
{
	schedtape list --json > list.json && like list.json 'any(s["snapshot_count"] == 2 and
		s["name"] is None and s["last_trigger"]["name"] == "signal" for s in d["sessions"])'
}
eventually signal_taken
report $? "list has the snapshots of a recorder without a name"
schedtape info --json "$(printf '%s\n' memory.20*Z | tail -n 1)" > info.json 2> log &&
	like info.json "d['meta']['trigger']['uid'] == 0 and d['meta']['trigger']['pid'] == $$"
report $? "that of a signal says who sent it"
schedtape record -q -p $chain --name other -o other -M 64K 2> log &
other=$!
two() { schedtape snapshot 2>&1 | grep -q "which --recorder? There are .*other"; }
eventually two
expect 1 "which --recorder\? There are .*$recorder" schedtape snapshot
schedtape snapshot --recorder $recorder --after 2s > out 2> log &
late=$!
sleep 0.5
schedtape snapshot --recorder schedtape:$recorder now > first 2> log && kill -0 $late
report $? "one with --after waits, and others do not wait for it"
wait $late && schedtape info --json "$(cat out)" > info.json 2> log &&
	like info.json 'd["stop_ns"] - d["meta"]["trigger"]["time"] > 19e8'
report $? "--after: it has what came after the order"
schedtape snapshot --recorder $other --after 1h > out 2> late.log &
late=$!
sleep 1
schedtape stop other > out 2> log
! wait $late && grep -q 'the recording has ended' late.log
report $? "unless the recording ends"
# The socket of one that was killed is no recorder.
kill -KILL $recorder
wait $recorder 2> /dev/null
expect 1 'there is no recorder that takes snapshots' schedtape snapshot
kill $plain
wait $plain

# -- connections -------------------------------------------------------------------

schedtape record -q --name odd -p $chain -o odd 2> log &
recorder=$!
eventually recording
cat > talk.py << 'EOP'
import socket, sys, time

def connect():
    """With a time limit a full queue of connections is an error at once: try again, then."""
    talk = socket.socket(socket.AF_UNIX)
    talk.settimeout(20)
    end = time.monotonic() + 20
    while True:
        try:
            talk.connect("/run/schedtape/odd.sock")
            return talk
        except BlockingIOError:
            assert time.monotonic() < end, "the recorder takes no connection"
            time.sleep(0.05)

def answer(data):
    talk = connect()
    talk.sendall(data)
    line = talk.makefile("rb").read()
    talk.close()
    return line

assert answer(b"ping\n") == b"ok\n"
for wrong in (b"\n", b"pong\n", b"ping \n", b"\0\n", b"stop\0\n", b"x" * 64, b"snapshot after=\n",
              b"snapshot after=1s\n", b"snapshot after=-1 a\n", b"snapshot after=9999999999999\n"):
    assert answer(wrong).startswith(b"error not one of"), wrong
try:
    assert answer(b"x" * 5000).startswith(b"error not one of")
except ConnectionError:
    pass  # the recorder does not read all of it
talk = connect()
talk.sendall(b"pi")
time.sleep(0.2)
talk.sendall(b"ng\n")
assert talk.makefile("rb").read() == b"ok\n", "an order may come in two parts"
silent = [connect() for _ in range(5)]
begin = time.monotonic()
assert answer(b"ping\n") == b"ok\n", "those who say nothing are sent away"
print("waited for %.1f s" % (time.monotonic() - begin))
for talk in silent:
    talk.close()
for _ in range(50):
    connect().close()
talk = connect()
talk.sendall(b"snapshot\n")
talk.close()
assert answer(b"ping\n") == b"ok\n", "who goes before the answer does no harm"
EOP
/usr/bin/python3 -IS talk.py > log 2>&1
report $? "wrong, late and silent connections"
sed 's/^/# /' log
chmod 755 $sockets
chmod 666 $sockets/odd.sock
expect 1 "only the recorder's user and root" nobody schedtape stop $sockets/odd.sock
kill -0 $recorder && schedtape stop odd > out
report $? "another user could not stop it, root can"
wait $recorder

# -- the command line ------------------------------------------------------------------

expect 1 'XDG_RUNTIME_DIR is no path of a folder' nobody env -u XDG_RUNTIME_DIR schedtape stop web
expect 129 'which recorder' schedtape pause
expect 129 'one argument too many' schedtape pause a b
expect 129 'quote it' schedtape snapshot a b
expect 129 'one line' schedtape snapshot $'a\nb'
expect 129 'not a time' schedtape snapshot --after 5
expect 129 'not digits only' schedtape record --name 12 -a
for name in '' .a 'a b' a/ 'a*'; do
	expect 129 'a name has letters' schedtape stop "$name"
	expect 129 'letters, digits' schedtape record --name "$name" -a
done
expect 1 'No such file' schedtape record --name /none/socket -a
touch file
expect 1 'file: File exists' schedtape record --name ./file -a
[ -f file ]
report $? "which is still there"
expect 1 'a socket.s path has at most' schedtape record --name "/tmp/$(printf '%0200d' 0)" -a
kill $chain
finish
