#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the kernel's own netlink client drives the family from its YAML
# spec alone. Needs root and the module.

top=$(realpath "$(dirname "$(realpath "$0")")/../../..")
ynl=${SCHEDTAPE_BUILD:-$top/build}/linux

skip()
{
	printf 'TAP version 13\n1..1\nok 1 ynl # SKIP %s\n' "$1"
	exit 4
}

[ -f "$top/Documentation/netlink/specs/schedtape.yaml" ] ||
	skip "the family's spec is only in schedtape's own tree"
[ -d "$ynl/tools/net/ynl" ] || skip "ynl is not there: run selftests/qemu/fetch selftests"

# Most tests run in one process, because it takes seconds to start in an emulated guest.
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 - "$ynl" "$top" <<'PYTHON'
import errno
import fcntl
import json
import os
import platform
import struct
import subprocess
import sys
import time

YNL, TOP = sys.argv[1:]
SPEC = TOP + "/Documentation/netlink/specs/schedtape.yaml"
SCHEMA = YNL + "/Documentation/netlink/genetlink.yaml"
sys.path.insert(0, YNL + "/tools/net/ynl")
from lib import NlError, YnlFamily	# noqa: E402

# _IOR(0xE5, 0, struct stape_session_info), whose first member is the id.
IOC_INFO = 2 << 30 | 32 << 16 | 0xE5 << 8
IOC_REPLAY = 3 << 30 | 32 << 16 | 0xE5 << 8 | 0x10
IOC_JOIN = 1 << 30 | 4 << 16 | 0xE5 << 8 | 0x20
IOC_STEP = 1 << 30 | 56 << 16 | 0xE5 << 8 | 0x21
WAIT_UNTIL = 2


class Family(YnlFamily):
    """A client. The class remembers which operations have succeeded, and how."""

    driven = set()

    def do(self, method, *args):
        reply = super().do(method, *args)
        self.driven.add((method, "do"))
        return reply

    def dump(self, method, *args):
        reply = super().dump(method, *args)
        self.driven.add((method, "dump"))
        return reply

    def left(self):
        """Returns the operations of the spec that have not succeeded."""
        return {(op["name"], how) for op in self.yaml["operations"]["list"]
                for how in ("do", "dump") if how in op} - self.driven


def cli(*args):
    """Returns the output of the client's command, which uses the same library."""
    done = subprocess.run([sys.executable, YNL + "/tools/net/ynl/cli.py", "--spec", SPEC,
                           "--schema", SCHEMA, "--output-json", *args],
                          stdout=subprocess.PIPE, check=True, text=True)
    print("# cli.py %s: %s" % (" ".join(args), done.stdout.strip()))
    return json.loads(done.stdout)


def refused(code, text, call, *args):
    """Tests that the call is refused with this error and a message."""
    try:
        call(*args)
    except NlError as error:
        said = error.nl_msg.extack.get("msg", "") if error.nl_msg.extack else ""
        print("# %s: %s" % (errno.errorcode.get(-error.nl_msg.error, "?"), said))
        return -error.nl_msg.error == code and text in said
    return False


def was_told(monitor, what):
    """Tests that a client receives this notification within 5 s."""
    for _ in range(50):
        monitor.check_ntf()
        told = [(message["name"], message["msg"]["id"], message["msg"]["state"])
                for message in monitor.async_msg_queue]
        if what in told:
            return True
        time.sleep(0.1)
    print("#", told)
    return False


def player(players):
    """Forks a player that waits until an hour after the start, or until it is killed."""
    child = os.fork()
    if not child:
        fcntl.ioctl(players, IOC_JOIN, struct.pack("I", 0))
        fcntl.ioctl(players, IOC_STEP,
                    struct.pack("IIQQIIQQII", 0, 0, 0, 0, WAIT_UNTIL, 0, 3600 * 10 ** 9,
                                0, 0, 0))
        os._exit(1)
    return child


def replay_tests(ynl, device, monitor):
    setup = fcntl.ioctl(device, IOC_REPLAY, struct.pack("IIQQiI", 1, 0, 0, 0, 0, 0))
    players, ident = struct.unpack_from("iI", setup, 24)
    yield "replay-get: the replay is listed", \
        [(replay["id"], replay["state"], replay["players"])
         for replay in ynl.dump("replay-get", {})] == [(ident, "ready", 1)]
    child = player(players)
    for _ in range(100):
        replay = ynl.do("replay-get", {"id": ident})
        if replay["waiting"]:
            break
        time.sleep(0.1)
    yield "replay-get: its player waits", (replay["joined"], replay["waiting"]) == (1, 1)
    ynl.do("replay-start", {"id": ident, "delay": 1000})
    yield "replay-start: it runs", ynl.do("replay-get", {"id": ident})["state"] == "running"
    yield "replay-start: another time is refused", \
        refused(errno.EINVAL, "started before", ynl.do, "replay-start", {"id": ident})
    # The replay notifies its progress every second.
    yield "cli.py --subscribe: the replay's progress", \
        ("replay-ntf", ident) in [(message["name"], message["msg"]["id"])
                                  for message in cli("--subscribe", "monitor", "--sleep", "3")]
    ynl.do("replay-pause", {"id": ident})
    yield "replay-pause: it stands", ynl.do("replay-get", {"id": ident})["state"] == "paused"
    ynl.do("replay-start", {"id": ident})
    ynl.do("replay-set", {"id": ident, "speed": 2000000})
    yield "replay-set: its speed", ynl.do("replay-get", {"id": ident})["speed"] == 2000000
    yield "player-get: its player", \
        [(one["number"], one["pid"]) for one in ynl.dump("player-get", {"replay": ident})] == \
        [(0, child)]
    watch = Family(SPEC, SCHEMA)
    watch.do("replay-monitor", {"id": ident})
    ynl.do("replay-stop", {"id": ident})
    yield "replay-stop: its player is killed", os.WTERMSIG(os.waitpid(child, 0)[1]) == 9
    yield "replay-ntf: the group gets it", was_told(monitor, ("replay-ntf", ident, "stopped"))
    yield "replay-monitor: who asked gets it", was_told(watch, ("replay-ntf", ident, "stopped"))
    os.close(players)


def tests():
    ynl = Family(SPEC, SCHEMA)
    yield "the spec is valid, and the family is there", True

    # A client of its own, because ynl fails when a notification comes before an answer.
    monitor = YnlFamily(SPEC, "")
    monitor.ntf_subscribe("monitor")
    info = ynl.do("info-get", {})
    print("#", info)
    with open(TOP + "/include/schedtape/version.h", encoding="utf-8") as header:
        yield "info-get: the version", '"%s"' % info["version"] in header.read()
    yield "info-get: limits", info["page-size"] == 4096 and info["hz"] > 0 and \
        info["cpus"] >= os.cpu_count() and info["ring-pages-max"] >= 4 and \
        info["memory"] == 0 < info["memory-max"] and info["sessions-max"] > info["sessions-used"]
    yield "session-get: no session", ynl.dump("session-get", {}) == []

    device = os.open("/dev/schedtape", os.O_RDWR | os.O_CLOEXEC)
    ident, = struct.unpack_from("I", fcntl.ioctl(device, IOC_INFO, bytes(32)))
    ynl.do("session-set", {"id": ident, "ring-pages": 16, "watermark": 4, "clock": "mono",
                           "overwrite": True, "cpus": b"\x01"})
    sessions = ynl.dump("session-get", {})
    print("#", sessions)
    yield "session-get: the session is listed", [session["id"] for session in sessions] == [ident]
    yield "session-get: settings", (sessions[0]["state"], sessions[0]["owner"],
                                    sessions[0]["ring-pages"], sessions[0]["watermark"]) == \
        ("ready", os.getpid(), 16, 4)
    yield "session-get: clock, mode and CPUs", \
        (sessions[0]["clock"], "overwrite" in sessions[0], int(sessions[0]["cpus"][:2], 16)) == \
        ("mono", True, 1)
    yield "info-get: the rings have memory", ynl.do("info-get", {})["memory"] >= 16 * 4096

    yield "cli.py --do: the same", cli("--do", "session-get", "--json",
                                       json.dumps({"id": ident})) == sessions[0]
    yield "cli.py --dump: the same", cli("--dump", "session-get") == sessions

    child = os.fork()
    if not child:
        os.close(device)
        time.sleep(60)
        os._exit(0)
    ynl.do("filter-add", {"id": ident, "pid": [child]})
    ynl.do("session-start", {"id": ident})
    tasks = ynl.dump("task-get", {"session": ident})
    print("#", tasks)
    yield "task-get: the task, not its parent", [
        (task["pid"], task["tgid"], task["ppid"], task["nice"])
        for task in tasks] == [(child, child, 0, 0)]
    yield "task-get: its affinity", tasks[0]["affinity"] != ""

    ynl.do("session-pause", {"id": ident})
    yield "session-pause: it pauses", ynl.do("session-get", {"id": ident})["state"] == "paused"
    ynl.do("session-start", {"id": ident})
    yield "session-start: it goes on", ynl.do("session-get", {"id": ident})["state"] == "recording"
    ynl.do("filter-set", {"id": ident, "all": 1, "exclude-comm": ["nobody*", "python?"]})
    yield "filter-set: there are more tasks", ynl.do("session-get", {"id": ident})["tasks"] > 1
    ynl.do("filter-set", {"id": ident})
    ynl.do("filter-add", {"id": ident, "tid": [child]})
    ynl.do("filter-del", {"id": ident, "pid": [child]})
    yield "filter-del: there is none", ynl.do("session-get", {"id": ident})["tasks"] == 0
    ynl.do("filter-add", {"id": ident, "pid": [child]})

    yield "session-get: an unknown one is refused", \
        refused(errno.ENOENT, "no such session", ynl.do, "session-get", {"id": 123456})
    yield "session-set: another time is refused", \
        refused(errno.EBUSY, "rings already", ynl.do, "session-set",
                {"id": ident, "ring-pages": 16})
    yield "info-get: attributes that are not its own are refused", \
        refused(errno.EINVAL, "", ynl.do, "info-get", {"hz": 100})
    yield "filter-add: a PID beyond all is refused", \
        refused(errno.ERANGE, "", ynl.do, "filter-add", {"id": ident, "pid": 1 << 22})
    yield "filter-add: an unknown cgroup is refused", \
        refused(errno.ENOENT, "no such cgroup", ynl.do, "filter-add",
                {"id": ident, "cgroup": 1 << 40})
    yield "replay-get: an unknown one is refused", \
        refused(errno.ENOENT, "no such replay", ynl.do, "replay-get", {"id": 123456})
    yield "replay-get: no replay", ynl.dump("replay-get", {}) == []

    yield from replay_tests(ynl, device, monitor)

    watch = Family(SPEC, SCHEMA)
    watch.do("session-monitor", {"id": ident})
    ynl.do("session-stop", {"id": ident})
    session = ynl.do("session-get", {"id": ident})
    yield "session-stop: it has stopped", session["state"] == "stopped" and \
        session["start-time"] < session["stop-time"]
    yield "session-ntf: the group gets it", was_told(monitor, ("session-ntf", ident, "stopped"))
    yield "session-monitor: who asked gets it", was_told(watch, ("session-ntf", ident, "stopped"))
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(device)
    yield "session-get: closed, it is gone", ynl.dump("session-get", {}) == []
    print("#", ynl.left())
    yield "every do and every dump of the spec was driven", not ynl.left()


def main():
    number = failed = 0
    print("TAP version 13")
    print("# %s" % platform.release())
    try:
        for name, passed in tests():
            number += 1
            failed += not passed
            print("%s %d %s" % ("ok" if passed else "not ok", number, name), flush=True)
    except Exception as error:	# without the plan's last test, too, the output shows the failure
        number += 1
        failed += 1
        print("# %s: %s" % (type(error).__name__, error))
        print("not ok %d ended too early" % number)
    print("1..%d" % number)
    return 1 if failed else 0


sys.exit(main())
PYTHON
