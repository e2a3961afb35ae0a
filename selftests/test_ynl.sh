#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the kernel's own netlink client drives the family from its YAML
# spec alone. Needs root and the module.

top=$(realpath "$(dirname "$(realpath "$0")")/..")
ynl=${SCHEDTAPE_BUILD:-$top/build}/linux
[ -d "$ynl/tools/net/ynl" ] || {
	printf 'TAP version 13\n1..1\n'
	echo "ok 1 ynl # SKIP it is not there: run selftests/qemu/fetch selftests"
	exit 4
}

# One process for all: it takes seconds to start in an emulated guest.
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 - "$ynl" "$top" <<'PYTHON'
import errno
import fcntl
import os
import platform
import struct
import sys
import time

YNL, TOP = sys.argv[1:]
sys.path.insert(0, YNL + "/tools/net/ynl")
from lib import NlError, YnlFamily	# noqa: E402

# _IOR(0xE5, 0, struct stape_session_info), whose first member is the id.
IOC_INFO = 2 << 30 | 32 << 16 | 0xE5 << 8


def refused(code, text, call, *args):
    """Is the call refused with this error, and said why?"""
    try:
        call(*args)
    except NlError as error:
        said = error.nl_msg.extack.get("msg", "") if error.nl_msg.extack else ""
        print("# %s: %s" % (errno.errorcode.get(-error.nl_msg.error, "?"), said))
        return -error.nl_msg.error == code and text in said
    return False


def tests():
    spec = TOP + "/Documentation/netlink/specs/schedtape.yaml"
    ynl = YnlFamily(spec, YNL + "/Documentation/netlink/genetlink.yaml")
    yield "the spec is valid, and the family is there", True

    # Apart: ynl stumbles over a notification in front of an answer.
    monitor = YnlFamily(spec, "")
    monitor.ntf_subscribe("monitor")
    info = ynl.do("info-get", {})
    print("#", info)
    with open(TOP + "/include/schedtape/version.h", encoding="utf-8") as header:
        yield "info-get: the version", '"%s"' % info["version"] in header.read()
    yield "info-get: limits", info["page-size"] == 4096 and info["hz"] > 0 and \
        info["cpus"] >= os.cpu_count() and info["ring-pages-max"] >= 4 and \
        info["ring-memory"] == 0 < info["ring-memory-max"]
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
    yield "info-get: the rings have memory", ynl.do("info-get", {})["ring-memory"] >= 16 * 4096

    child = os.fork()
    if not child:
        os.close(device)
        time.sleep(60)
        os._exit(0)
    ynl.do("filter-add", {"id": ident, "pid": [child]})
    ynl.do("session-start", {"id": ident})
    tasks = ynl.dump("task-get", {"session": ident})
    print("#", tasks)
    yield "task-get: the task", [(task["pid"], task["tgid"], task["ppid"], task["nice"])
                                 for task in tasks] == [(child, child, os.getpid(), 0)]
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

    ynl.do("session-stop", {"id": ident})
    session = ynl.do("session-get", {"id": ident})
    yield "session-stop: it has stopped", session["state"] == "stopped" and \
        session["start-time"] < session["stop-time"]
    for _ in range(50):
        monitor.check_ntf()
        if monitor.async_msg_queue:
            break
        time.sleep(0.1)
    told = [(message["name"], message["msg"]["id"], message["msg"]["state"])
            for message in monitor.async_msg_queue]
    print("#", told)
    yield "session-ntf: the group was told", ("session-ntf", ident, "stopped") in told
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(device)
    yield "session-get: closed, it is gone", ynl.dump("session-get", {}) == []


def main():
    number = failed = 0
    print("TAP version 13")
    print("# %s" % platform.release())
    try:
        for name, passed in tests():
            number += 1
            failed += not passed
            print("%s %d %s" % ("ok" if passed else "not ok", number, name), flush=True)
    except Exception as error:	# a plan that is not met tells it, too
        number += 1
        failed += 1
        print("# %s: %s" % (type(error).__name__, error))
        print("not ok %d ended too early" % number)
    print("1..%d" % number)
    return 1 if failed else 0


sys.exit(main())
PYTHON
