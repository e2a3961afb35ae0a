#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is the netlink family that the YAML spec describes the one of the C headers?

Runs anywhere, without the module. Prints TAP; exits with 1 if they differ.
"""

import glob
import os
import re
import subprocess
import sys

import jsonschema
import yaml

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SPEC = "Documentation/netlink/specs/schedtape.yaml"

# What a comment of the header calls a type.
TYPES = ("string", "binary", "flag", "u8", "u32", "s32", "u64")


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def parse_enum(text, name):
    """{constant: (value, comment)} of an enum, without the __..._MAX ones."""
    found = re.search(r"^enum %s \{\n(.*?)^\};" % name, text, re.M | re.S)
    if not found:
        raise KeyError("the headers have no enum " + name)
    constants = {}
    value = -1
    for line in found.group(1).split("\n"):
        entry = re.match(r"\s*(\w+)(?:\s*=\s*(\d+))?,\s*(?:/\* (.*) \*/)?", line)
        if not entry or entry.group(1).startswith("__"):
            continue
        value = int(entry.group(2)) if entry.group(2) else value + 1
        constants[entry.group(1)] = (value, entry.group(3) or "")
    return constants


def parse_define(text, name):
    return re.search(r"^#define %s\s+(.*?)\s*$" % name, text, re.M).group(1)


def c_name(prefix, name):
    return (prefix + name).upper().replace("-", "_")


def same(ours, theirs, what):
    """What one side has otherwise or not at all, as lines."""
    return ["%s: %s %s, in the header %s" %
            (what, key, ours.get(key, "missing"), theirs.get(key, "missing"))
            for key in sorted(set(ours) | set(theirs))
            if ours.get(key) != theirs.get(key)]


class Spec:
    def __init__(self):
        self.yaml = yaml.safe_load(read(SPEC))
        self.header = read("include/schedtape/netlink.h")
        self.events = read("include/schedtape/event.h")

    def schema(self):
        tree = subprocess.run([os.path.join(TOP, "selftests/qemu/fetch"), "selftests"],
                              stdout=subprocess.PIPE, check=False, text=True)
        if tree.returncode:
            return None
        path = tree.stdout.strip() + "/Documentation/netlink/genetlink.yaml"
        with open(path, encoding="utf-8") as file:
            schema = yaml.safe_load(file)
        try:
            jsonschema.validate(self.yaml, schema)
        except jsonschema.ValidationError as error:
            return [error.message]
        return []

    def family(self):
        ours = {"name": '"%s"' % self.yaml["name"],
                "groups": ['"%s"' % group["name"]
                           for group in self.yaml["mcast-groups"]["list"]]}
        theirs = {"name": parse_define(self.header, "STAPE_FAMILY_NAME"),
                  "groups": re.findall(r"^#define STAPE_MCGRP_\w+\s+(.*)$", self.header, re.M)}
        return same(ours, theirs, "family")

    def commands(self):
        operations = self.yaml["operations"]
        ours = {c_name(operations["name-prefix"], command["name"]): value
                for value, command in enumerate(operations["list"], 1)}
        theirs = {name: value for name, (value, _) in
                  parse_enum(self.header, "stape_cmd").items() if name != "STAPE_CMD_MAX"}
        return same(ours, theirs, "command")

    def attributes(self):
        problems = []
        for attrs in self.yaml["attribute-sets"]:
            enum = attrs["enum-name"].replace("-", "_")
            ours = {c_name(attrs["name-prefix"], attr["name"]):
                    (value, attr["type"], attr.get("multi-attr", False))
                    for value, attr in enumerate(attrs["attributes"], 1)}
            theirs = {}
            for name, (value, comment) in parse_enum(self.header, enum).items():
                if name == enum.upper() + "_MAX":
                    continue
                words = re.split(r"[,:]? ", comment) if comment else ["pad"]
                kind = words[0].strip(",:") if words[0].strip(",:") in TYPES else "pad"
                theirs[name] = (value, kind, "repeated" in comment)
            problems += same(ours, theirs, enum)
        return problems

    def states(self):
        problems = []
        for enum, text, prefix in (
                ("session-state", self.header, "STAPE_SESSION_"),
                ("clock", self.header, "STAPE_CLOCK_"),
                ("replay-state", self.header, "STAPE_REPLAY_"),
                ("task-state", self.events, "STAPE_STATE_")):
            c_enum = "stape_state" if enum == "task-state" else "stape_" + enum.replace("-", "_")
            entries = next(definition["entries"] for definition in self.yaml["definitions"]
                           if definition["name"] == enum)
            ours = {c_name(prefix, entry if isinstance(entry, str) else entry["name"]): value
                    for value, entry in enumerate(entries)}
            theirs = {name: value for name, (value, _) in parse_enum(text, c_enum).items()}
            problems += same(ours, theirs, enum)
        return problems

    def limits(self):
        ours = {definition["name"]: definition["value"]
                for definition in self.yaml["definitions"] if definition["type"] == "const"}
        delay = re.search(r"stape_delay_range = \{\s*\.max = (\d+)ULL \* NSEC_PER_SEC",
                          read("kmod/netlink_replay.c"))
        theirs = {
            "ring-pages-max": int(parse_define(read("kmod/ring.h"), "STAPE_RING_PAGES_MAX")),
            "pid-max": (1 << int(parse_define(self.events, "STAPE_PID_BITS"))) - 1,
            "delay-max": int(delay.group(1)) * 10 ** 9,
            "speed-min": int(parse_define(self.header, "STAPE_REPLAY_SPEED_MIN")),
            "speed-max": int(parse_define(self.header, "STAPE_REPLAY_SPEED_MAX")),
        }
        return same(ours, theirs, "limit")

    def requests(self):
        """What a request may carry is what the command's policy has."""
        module = "".join(read(path) for path in sorted(glob.glob("kmod/netlink*.c", root_dir=TOP)))
        policies = {name: set(re.findall(r"\[(STAPE_A_\w+)\] =", body)) for name, body in
                    re.findall(r"nla_policy (\w+)\[[^]]*\] = \{(.*?)^\};", module, re.M | re.S)}
        theirs = {name: policies.get(policy, set()) for name, policy in
                  re.findall(r"STAPE_(?:DO|DUMP)\((STAPE_CMD_\w+), (\w+),", module)}
        prefixes = {attrs["name"]: attrs["name-prefix"] for attrs in self.yaml["attribute-sets"]}
        ours = {}
        for command in self.yaml["operations"]["list"]:
            if "notify" in command:
                continue
            request = (command.get("do") or command["dump"]).get("request", {})
            ours[c_name("stape-cmd-", command["name"])] = {
                c_name(prefixes[command["attribute-set"]], attr)
                for attr in request.get("attributes", [])}
        return same(ours, theirs, "request")


def main():
    spec = Spec()
    tests = (
        (spec.schema, "the spec follows the kernel's schema"),
        (spec.family, "the family's name and groups"),
        (spec.commands, "commands"),
        (spec.attributes, "attributes and their types"),
        (spec.states, "states"),
        (spec.limits, "limits"),
        (spec.requests, "attributes of requests"),
    )
    failed = False
    print("TAP version 13\n1..%d" % len(tests), flush=True)
    for number, (test, name) in enumerate(tests, 1):
        problems = test()
        if problems is None:
            print("ok %d %s # SKIP the kernel's schema cannot be had" % (number, name))
            continue
        for problem in problems:
            print("# " + problem)
        print("%s %d %s" % ("not ok" if problems else "ok", number, name), flush=True)
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
