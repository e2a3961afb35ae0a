# SPDX-License-Identifier: GPL-2.0-only
"""Compares the events of a snapshot with those of a recording that was made beside it."""
import bisect
import json
import subprocess


def json_of(*words):
    """Returns what a command prints as JSON."""
    return json.loads(subprocess.run(["schedtape", *words], capture_output=True, check=True).stdout)


def events_of(tape, *options):
    """For each CPU the times, and what else is in the events."""
    cpus = {}
    kinds = "switch,waking,wakeup,migrate"
    out = subprocess.run(["schedtape", "script", "--json", "-e", kinds, *options, tape],
                         capture_output=True, check=True, text=True).stdout
    for line in out.splitlines()[1:]:
        event = json.loads(line)
        times, events = cpus.setdefault(event["cpu"], ([], []))
        times.append(event["time_ns"])
        # What ran before the first event, say, is what the recorder has interrupted.
        events.append([event.get(key) for key in ("event", "pid", "comm")])
    return cpus


def places_of_same(tape, whole):
    """Finds the events of each CPU of a tape, in a row, in those of the whole.  Yields the CPU, its
    events, and the index of the first one in the whole."""
    for cpu, (times, events) in events_of(tape).items():
        near = bisect.bisect(whole[cpu][0], times[0])
        # Both sessions have an event at times of their own.
        at = next((i for i in range(max(near - 20, 0), near + 20)
                   if whole[cpu][1][i:i + len(events)] == events), None)
        beside = whole[cpu][1][near:near + len(events)]
        differ = [pair for pair in zip(events, beside) if pair[0] != pair[1]][:9]
        assert at is not None, (tape, cpu, times[0], events[:9], differ)
        print(f"{tape}: {len(events)} events of CPU {cpu}")
        yield cpu, events, at


def names_of_same(tape, whole):
    """Finds them in the same way.  Returns the names of their tasks."""
    return {event[2] for _, events, _ in places_of_same(tape, whole) for event in events}
