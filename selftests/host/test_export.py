#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Description: traces of export have the published fields, and the times and counts of report."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

from tap import LOAD_TAPE, POINTS_TAPE, SCHEDTAPE, TOP, finish, ok

PROTO = os.path.join(TOP, "user/cmd/export/perfetto.proto")
WIRE = {"string": "bytes", "fixed64": "fixed64"}
UNKNOWN = 0x8000  # a state that the kernel never reports


def run(*words, **options):
    return subprocess.run([SCHEDTAPE, *words], capture_output=True, check=False, **options)


# -- the table of fields -------------------------------------------------------------------------

def read_table():
    """Messages of the .proto: for each number the name, the wire type and the type of a field."""
    messages, stack, enums = {}, [], set()
    with open(PROTO, encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    for line in text.splitlines():
        line = line.strip()
        if match := re.match(r"(message|enum) (\w+) {", line):
            stack.append(match[2])
            if match[1] == "message":
                messages[match[2]] = {}
            else:
                enums.add(match[2])
        elif line == "}":
            stack.pop()
        elif match := re.match(r"(?:optional|repeated) (\w+) (\w+) = (\d+);", line):
            messages[stack[-1]][int(match[3])] = (match[2], match[1])
    return {message: {number: (name, kind, WIRE.get(kind, "bytes" if kind in messages else "varint"))
                      for number, (name, kind) in fields.items()}
            for message, fields in messages.items()}


# -- protoc's view -------------------------------------------------------------------------------

LINE = re.compile(r'(\d+)(?: {|: (?:(0x[0-9a-f]{16})|(\d+)|"(.*)"))$')


def decode(trace, table):
    """Packets as dictionaries by the names of fields, and what the table does not have."""
    text = subprocess.run(["protoc", "--decode_raw"], input=trace, capture_output=True, check=True)
    root, strange, seen = defaultdict(list), set(), set()
    stack = [("Trace", root)]
    for line in text.stdout.decode().splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
            continue
        message, into = stack[-1]
        if message == "string":
            # Some texts look like messages to protoc.
            if line.endswith("{"):
                stack.append((message, into))
            continue
        number, fixed, plain, string = LINE.match(line).groups()
        wire = "fixed64" if fixed else "varint" if plain is not None else "bytes"
        name, kind, expected = table[message].get(int(number), ("?", "?", None))
        if wire != expected:
            strange.add((message, number, wire))
        seen.add((message, name))
        value = int(fixed, 16) if fixed else int(plain) if plain is not None else string
        if line.endswith("{"):
            value = defaultdict(list)
            stack.append((kind, value))
        into[name].append(value)
    return root["packet"], strange, seen


def flat(message):
    """The only value of each field."""
    return {name: values[0] for name, values in message.items()}


# -- what a viewer makes of it -------------------------------------------------------------------

def events_of(packets):
    """Events of all CPUs, by time: time, CPU, PID, name, fields."""
    events = []
    for packet in packets:
        for bundle in packet["ftrace_events"]:
            for event in bundle["event"]:
                name = next(key for key in event if isinstance(event[key][0], dict))
                events.append((event["timestamp"][0], bundle["cpu"][0], event["pid"][0], name,
                               flat(event[name][0])))
    return sorted(events, key=lambda event: event[0])


def follow(events):
    """As Perfetto's importer: for each PID the time in each state, and how often it began."""
    running, states, times, counts = {}, {}, defaultdict(Counter), defaultdict(Counter)
    mismatched = 0

    def enter(tid, state, time):
        if tid in states:
            before, since = states[tid]
            times[tid][before] += time - since
        states[tid] = (state, time)
        counts[tid][state] += 1

    for time, cpu, _, name, fields in events:
        if name == "sched_switch":
            prev, following = fields["prev_pid"], fields["next_pid"]
            mismatched += cpu in running and running[cpu] != prev
            running[cpu] = following
            enter(prev, fields["prev_state"], time)
            enter(following, "running", time)
        elif name == "sched_waking" and states.get(fields["pid"], (UNKNOWN,))[0] not in (0, "running"):
            enter(fields["pid"], 0, time)
    return times, counts, mismatched


def arrows_of(packets):
    """Arrows from instants to slices, as PIDs and times: of each the begin and the end."""
    threads, begins, ends = {}, {}, {}
    for packet in packets:
        for track in packet["track_descriptor"]:
            if "thread" in track:
                threads[track["uuid"][0]] = track["thread"][0]["tid"][0]
        for event in packet["track_event"]:
            at = (threads.get(event["track_uuid"][0]), packet["timestamp"][0])
            begins.update((flow, at) for flow in event["flow_ids"])
            ends.update((flow, at) for flow in event["terminating_flow_ids"])
    return {flow: (begins[flow], ends[flow]) for flow in begins | ends}


def test_arrows(packets, report):
    arrows = arrows_of(packets)
    by_pid = {task["index"]: task["pid"] for task in report["tasks"]}
    expected = {(by_pid[edge["waker_index"]], by_pid[edge["wakee_index"]]): edge["count"]
                for edge in report["edges"]}
    found = Counter((begin[0], end[0]) for begin, end in arrows.values())
    missing = sum(expected.values()) - sum(found.values())
    # The last wake-ups have not got a CPU when the tape ends.
    ok(all(found[pair] <= expected.get(pair, 0) for pair in found) and 0 <= missing < 60,
       "an arrow for each wake-up by a task", (missing, found - Counter(expected)))
    ok(all(begin[1] <= end[1] for begin, end in arrows.values()), "none goes back in time")


def counters_of(packets):
    """The values of the counters that are called delay, by PID."""
    threads, parents, values = {}, {}, defaultdict(list)
    for packet in packets:
        for track in packet["track_descriptor"]:
            if "thread" in track:
                threads[track["uuid"][0]] = track["thread"][0]["tid"][0]
            elif "counter" in track:
                parents[track["uuid"][0]] = track["parent_uuid"][0]
        for event in packet["track_event"]:
            if "counter_value" in event:
                pid = threads[parents[event["track_uuid"][0]]]
                values[pid].append(event["counter_value"][0])
    return values


def test_delays(packets, report):
    found = {pid: (len(values), sum(values)) for pid, values in counters_of(packets).items()}
    expected = {task["pid"]: (task["delays"], task["delay_total_ns"])
                for task in report["tasks"] if task["delays"]}
    ok(found == expected, "delays are those of report",
       [(pid, found.get(pid), expected[pid]) for pid in expected
        if found.get(pid) != expected[pid]])


def waits_of(packets):
    """The worst waits, the worst first: PID, begin, end, the first of their causes."""
    threads, parents, waits, begun = {}, {}, {}, {}
    for packet in packets:
        for track in packet["track_descriptor"]:
            if "thread" in track:
                threads[track["uuid"][0]] = track["thread"][0]["tid"][0]
            elif track["name"] == ["worst waits"]:
                parents[track["uuid"][0]] = threads[track["parent_uuid"][0]]
        for event in packet["track_event"]:
            track = event["track_uuid"][0]
            if track in parents and event["type"] == [1]:
                begun[track] = (int(re.match(r"wait (\d+): ", event["name"][0])[1]),
                                packet["timestamp"][0], flat(event["debug_annotations"][0]))
            elif track in parents:
                number, begin, note = begun.pop(track)
                waits[number] = (parents[track], begin, packet["timestamp"][0], note)
    return [waits[number] for number in sorted(waits)]


def test_waits(packets, tape):
    waits = waits_of(packets)
    ok(len(waits) == 20, "20 worst waits are explained", len(waits))
    pid, begin, end, note = waits[0]
    done = run("why", "--json", "--worst=1", "--top=20", str(pid), tape)
    chain = json.loads(done.stdout)["chains"][0]
    link = chain["links"][0]
    share = 100 * link["time_ns"] / (chain["end_ns"] - chain["begin_ns"])
    ok((begin, end) == (chain["begin_ns"], chain["end_ns"]) and
       note["string_value"] == f"{link['time_ns'] / 1e6:.3f} ms ({share:.2f} %)" and
       note["name"].startswith("01 "), "as why does", (waits[0], chain))
    longest = max(json.loads(run("why", "--json", "--worst=1", str(task["pid"]), tape).stdout)
                  ["chains"][0]["kept_ns"] for task in json.loads(
                      run("report", "--json", "--top=60", tape).stdout)["tasks"][:60])
    ok(chain["kept_ns"] == longest, "the first one is the worst of all tasks",
       (chain["kept_ns"], longest))


def test_points(folder, table):
    """Other tracepoints, with the values that script prints."""
    tape = f"{folder}/points.tape"
    subprocess.run([POINTS_TAPE, tape, "20"], check=True)
    done = run("export", "perfetto", "-q", tape)
    with open(f"{tape}.pftrace", "rb") as file:
        packets, strange, _ = decode(file.read(), table)
    ok(done.returncode == 0 and not strange, "other tracepoints", (done, strange))
    lines = [json.loads(line) for line in run("script", "--json", tape).stdout.splitlines()[1:]]
    expected = [line for line in lines if ":" in line["event"]]
    found = [(packet["timestamp"][0], event) for packet in packets
             for event in packet["track_event"]
             if re.match(r"\w+:\w+$", event["name"][0] if event["name"] else "")]
    ok([(time, event["name"][0]) for time, event in found] ==
       [(line["time_ns"], line["event"]) for line in expected] and len(found) > 20,
       "each has its time and its name", (len(found), len(expected), expected[:2], found[:2]))
    notes = [{flat(note)["name"]: flat(note).get("uint_value", flat(note).get("int_value"))
              for note in event["debug_annotations"]} for _, event in found]
    ok(all(notes[i].get(key) == value for i, line in enumerate(expected)
           for key, value in (line["fields"] or {}).items()
           if isinstance(value, int) and value >= 0),
       "and its numbers", (notes[:2], expected[:2]))
    losses = [event["name"][0] for packet in packets for event in packet["track_event"]
              if "lost" in str(event["name"])]
    ok(losses == ["12 events of other tracepoints lost"], "and what is lost of them", losses)


# -- Chrome's format -----------------------------------------------------------------------------

def ns(us):
    return round(us * 1000)


def are_nested(slices):
    """Is each slice in another one, or apart from it?"""
    stack = []
    for begin, end in sorted(slices, key=lambda slice: (slice[0], -slice[1])):
        while stack and stack[-1] <= begin:
            stack.pop()
        if stack and end > stack[-1]:
            return False
        stack.append(end)
    return True


def test_chrome(tape, report):
    done = run("export", "chrome", tape)
    with open(f"{tape}.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    tracks, runs, delays, flows = defaultdict(list), defaultdict(list), defaultdict(list), {}
    for event in events:
        if event["ph"] == "X":
            slice_ = (ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]))
            tracks[(event["pid"], event["tid"])].append(slice_)
            if event["name"] == "running":
                runs[event["tid"]].append(slice_)
        elif event["ph"] == "C":
            delays[event["tid"]].append(ns(event["args"]["us"]))
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], {})[event["ph"]] = (event["tid"], ns(event["ts"]))
    found = {task["pid"]: (sum(end - begin for begin, end in runs[task["pid"]]),
                           len(delays[task["pid"]]), sum(delays[task["pid"]]))
             for task in report["tasks"]}
    expected = {task["pid"]: (task["cpu_time_ns"], task["delays"], task["delay_total_ns"])
                for task in report["tasks"]}
    ok(done.returncode == 0 and found == expected, "chrome: CPU times and delays of report",
       (done, [(pid, found[pid], expected[pid]) for pid in found if found[pid] != expected[pid]]))
    ok(all(are_nested(slices) for slices in tracks.values()), "chrome: slices are nested")
    ok(flows and all(any(begin <= flow["s"][1] <= end for begin, end in runs[flow["s"][0]])
                     for flow in flows.values()), "chrome: arrows begin where their waker runs")
    ok(len(flows) > 100 and all(flow["s"][1] <= flow["f"][1] for flow in flows.values()),
       "chrome: and end later", len(flows))


def test_load(folder, table):
    tape = f"{folder}/load.tape"
    subprocess.run([LOAD_TAPE, tape, "4000"], check=True)
    done = run("export", "perfetto", tape)
    ok(done.returncode == 0 and b"wrote" in done.stderr, "export perfetto", done)
    with open(f"{tape}.pftrace", "rb") as file:
        trace = file.read()
    packets, strange, seen = decode(trace, table)
    ok(not strange, "each field has a number and a wire type of the table", strange)
    report = json.loads(run("report", "--json", tape).stdout)
    times, _, mismatched = follow(events_of(packets))
    ok(not mismatched, "each switch is from the task of the switch before", mismatched)
    expected = {task["pid"]: task["cpu_time_ns"] for task in report["tasks"]}
    found = {pid: times[pid]["running"] for pid in expected}
    ok(found == expected, "tasks run as long as report says",
       [(pid, found[pid], expected[pid]) for pid in expected if found[pid] != expected[pid]])
    return packets, report


def limit_memory():
    """One CPU, because each of several has a thread with a stack, and 48 MB of memory."""
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    resource.setrlimit(resource.RLIMIT_DATA, (48 << 20, 48 << 20))


def test_memory(folder):
    """The memory does not grow with the trace."""
    tape = f"{folder}/long.tape"
    subprocess.run([LOAD_TAPE, tape, "1500000"], check=True)
    for kind in "perfetto", "chrome":
        with open(f"{folder}/trace", "wb") as file:
            done = subprocess.run([SCHEDTAPE, "export", kind, "-o", "-", tape], stdout=file,
                                  stderr=subprocess.PIPE, preexec_fn=limit_memory, check=False)
            ok(done.returncode == 0 and file.seek(0, os.SEEK_END) > 64 << 20,
               f"{kind}: a trace is larger than the memory", done)


def main():
    table = read_table()
    with tempfile.TemporaryDirectory() as folder:
        packets, report = test_load(folder, table)
        test_arrows(packets, report)
        test_delays(packets, report)
        test_waits(packets, f"{folder}/load.tape")
        test_chrome(f"{folder}/load.tape", report)
        test_points(folder, table)
        test_memory(folder)
    finish()


if __name__ == "__main__":
    main()
