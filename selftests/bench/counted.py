# SPDX-License-Identifier: GPL-2.0-only
"""What the emulator's plugin has counted: the parts sections and functions. For "report"."""
import collections
import json


def read(folder):
    """The plugin's results, by the run's configuration and the load's phase."""
    results = {}
    for line in (folder / "plugin").read_text().splitlines():
        result = json.loads(line)
        results[result["run"].rpartition("/")[0], result["phase"]] = result
    return results


# -- sections ----------------------------------------------------------------------

def report_sections(part, table):
    """Returns the longest section of each phase, by the number of threads."""
    rows, found = [], []
    for (name, phase), result in read(part.folder).items():
        longest, section = result["off"], result["section"]
        found.append({"threads": int(name.rpartition("-")[2]), "phase": phase,
                      "section": section, **longest})
        rows.append([phase, found[-1]["threads"], longest["instructions"], longest["function"],
                     longest["caller"], section["ours"], section["all"]])
    table("sections: instructions with interrupts off: the longest call of the module; and all "
          "calls in one section of the kernel's, and that section",
          ["load", "threads", "call", "function", "called by", "calls", "section"],
          sorted(rows))
    return {"sections": found}


# -- functions ---------------------------------------------------------------------

def add_up(counts, key):
    """Adds up what CPUs and files have under the same name."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for count in counts:
        entry = sums[key(count)]
        entry[0] += count["calls"]
        entry[1] += count["instructions"]
        entry[2] = max(entry[2], count["max"])
    return sums


def unit_of(part, name, phase):
    """Returns what the load does, and how often."""
    arguments = part.get(name, "drain")["load"].split()[1:]
    if phase == "periodic":
        return "period", int(arguments[2])
    number = int(arguments[0])
    return ("fork and exit", number) if phase == "forks" else ("event", (number - 1) * 6)


# What writes into the ring of descriptions in a fork and in an exit. None of them calls another.
DESCRIPTIONS = ("stape_encode_fork", "stape_encode_differences", "stape_encode_exit",
                "stape_encode_ended")
# What a fork and an exit do for a session, as opposed to the switches and wake-ups around them.
LIFE = ("stape_members_fork", "stape_members_exit", "stape_members_add_dead", "stape_members_reap")


def spent(result, names):
    """Instructions of functions, with all that they call."""
    return sum(count["instructions"] for count in result["calls"] if count["name"] in names)


def described(result):
    """Instructions of descriptions: of a fork's and an exit's events in their ring."""
    for name in ("stape_encode_fork", "stape_encode_exit"):
        if not spent(result, [name]):
            raise ValueError(f"{name}() was not called, or the compiler has put it into its caller")
    return spent(result, DESCRIPTIONS)


def life(result):
    """Instructions of a fork and an exit, without descriptions."""
    return spent(result, LIFE) - described(result)


# Of these, any may be the one that ends a full page.
PROBES = ("stape_probe_switch", "stape_probe_waking", "stape_probe_wakeup")


def switch_cost(result, probes=PROBES):
    """Instructions of the probes for a switch, and for the wake-up that goes with it."""
    switches = sum(count["calls"] for count in result["calls"] if count["name"] == PROBES[0])
    return spent(result, probes) / switches


def report_functions(part, table):
    """Returns the calls into the module and the instructions of each function, by load."""
    found = {}
    for (name, phase), result in read(part.folder).items():
        unit, times = unit_of(part, name, phase)
        outside = [count for count in result["calls"] if count["from"] == "outside"]
        calls = add_up(outside, lambda count: (count["name"], count["caller"]))
        rows = [[probe, caller, number / times, insns / times, most]
                for (probe, caller), (number, insns, most) in calls.items()]
        rows = sorted((row for row in rows if row[3] >= 0.5), key=lambda row: -row[3])
        table(f"functions: {name}: calls into the module, of each {unit}",
              ["function", "called by", "calls", "instructions", "longest call"], rows)
        own = add_up(result["own"], lambda count: (
            count["name"], count["caller"] if count["from"] == "kernel" else ""))
        parts = [[function, caller, number / times, insns / times]
                 for (function, caller), (number, insns, _) in own.items()]
        parts = sorted((row for row in parts if row[3] >= 0.5), key=lambda row: -row[3])
        table(f"functions: {name}: instructions of functions alone, of each {unit}",
              ["function", "of the kernel, called by", "calls", "instructions"], parts)
        found[name] = {
            "switch": switch_cost(result), "alone": switch_cost(result, PROBES[:1]),
            "calls": rows, "own": parts, "longest": max((row[4] for row in rows), default=0),
            "off": result["off"], "section": result["section"],
        }
        if phase == "forks":
            found[name] |= {"described": described(result) / times, "life": life(result) / times}
    return {"loads": found}


# -- limits ------------------------------------------------------------------------

def growth(sections):
    """How many instructions longer the longest call of a phase is with the most threads."""
    phases = collections.defaultdict(list)
    for section in sections:
        phases[section["phase"]].append((section["threads"], section["instructions"]))
    return max((max(found)[1] - min(found)[1] for found in phases.values()), default=None)


def targets(results):
    """Limits for schedtape: text, measured value, limit."""
    sections = results.get("sections", {}).get("sections", [])
    loads = results.get("functions", {}).get("loads", {})
    return [
        ["instructions with interrupts off",
         max((section["instructions"] for section in sections), default=None), 50000],
        ["the same, 30,000 threads, more than with 1,000", growth(sections), 10000],
        ["fork and exit, without descriptions",
         loads.get("forks", {}).get("life"), 520],
        ["system calls, a switch of a task that sleeps",
         loads["syscalls"]["switch"] - loads["pingpong"]["switch"] if loads else None, 16],
        ["triggers, a switch",
         loads["triggers"]["alone"] - loads["pingpong"]["alone"] if loads else None, 20],
        ["triggers, a wake-up",
         loads["triggers"]["switch"] - loads["triggers"]["alone"] -
         loads["pingpong"]["switch"] + loads["pingpong"]["alone"] if loads else None, 20],
    ]
