#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests that the netlink family is the same in the YAML spec, the headers and the module.

Runs anywhere, without the module: reads its sources. Prints TAP; exits with 1 if they
differ.
"""

import glob
import os
import re
import subprocess
import sys

import jsonschema
import yaml

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
SPEC = "Documentation/netlink/specs/schedtape.yaml"

# Types as the header's comments name them.
TYPES = ("string", "binary", "flag", "nest", "u8", "u32", "s32", "u64")

# Types as the module names them in a policy, and in its functions for messages.
MODULE_TYPES = {"NUL_STRING": "string", "u64_64bit": "u64", "cpumask_put": "binary",
                "nest_start": "nest", "message_put_vpid": "u32"}


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
    """The differences of the two sides, as lines."""
    return ["%s: %s %s, in C %s" %
            (what, key, ours.get(key, "missing"), theirs.get(key, "missing"))
            for key in sorted(set(ours) | set(theirs))
            if ours.get(key) != theirs.get(key)]


class Module:
    """The commands according to the module's sources."""

    def __init__(self, header, events):
        self.text = "".join(read(path) for path in
                            sorted(glob.glob("kmod/*/*.[ch]", root_dir=TOP)))
        self.known = {"NSEC_PER_SEC": 10 ** 9, "PID_MAX_LIMIT": 1 << 22}
        for name, value in re.findall(r"^#define (STAPE_\w+)\s+(\d+)$",
                                      header + events + self.text, re.M):
            self.known[name] = int(value)
        for enum in ("stape_clock", "stape_dl_word"):
            for name, (value, _) in parse_enum(header + events, enum).items():
                self.known[name] = value

    def number(self, text):
        """The value of a sum or product of numbers and their names."""
        text = re.sub(r"\b[A-Z]\w*", lambda name: str(self.known[name.group()]), text)
        text = re.sub(r"(\d)ULL\b", r"\1", text)
        if not re.fullmatch(r"[\d *-]+", text):
            raise ValueError("this is no number: " + text)
        return eval(text)

    def commands(self):
        """{command: (do, dump or both, policy)}"""
        commands = {}
        for macro, command, policy, doit in re.findall(
                r"\tSTAPE_([A-Z]+)\((STAPE_CMD_\w+), (\w+),\s+(\w+)", self.text):
            how = ([] if doit == "NULL" else ["do"]) + (["dump"] if macro == "DUMP" else [])
            commands[command] = (how, policy)
        return commands

    def bounds(self, name):
        """The bounds of a range that policies point to."""
        body = re.search(r"netlink_range_validation %s = \{(.*?)\};" % name, self.text, re.S)
        return {key: self.number(value.strip())
                for key, value in re.findall(r"\.(\w+) = ([^,]*[^, ])", body.group(1))}

    def entry(self, text):
        """Type and checks of an attribute, as a policy has them."""
        macro = re.match(r"NLA_POLICY_(\w+)\((?:NLA_(\w+), )?&?(.*)\)", text)
        if not macro:
            kind, length = re.match(r"\{ \.type = NLA_(\w+)(?:,\s+\.len = (.*))? \}",
                                    text).groups()
            return kind, {"max-len": self.number(length)} if length else {}
        check, kind, value = macro.groups()
        if check == "NESTED":
            return "nest", {}
        if check == "FULL_RANGE":
            return kind, self.bounds(value)
        return kind or "BINARY", {check.lower().replace("_", "-"): self.number(value)}

    def policies(self):
        """{policy: {attribute: (type, checks)}}"""
        policies = {}
        for name, body in re.findall(r"nla_policy (\w+)\[[^]]*\] = \{(.*?)^\};", self.text,
                                     re.M | re.S):
            policies[name] = {}
            for attr, text in re.findall(r"\[(STAPE_A_\w+)\] = (\w+\(.*?\)|\{.*?\}),", body,
                                         re.S):
                kind, checks = self.entry(text)
                policies[name][attr] = (MODULE_TYPES.get(kind, kind.lower()), checks)
        return policies

    def put(self, names):
        """{attribute: type} of those names that go into messages."""
        put = {}
        for kind, attr, row in re.findall(
                r"(?:nla_(?:put_)?|stape_)(\w+)\((?:skb|reply),\s+(STAPE_A_\w+)( \+ i)?[,)]",
                self.text):
            if attr not in names:
                continue
            first = names.index(attr)
            for name in names[first:first + (self.known["STAPE_DL_WORDS"] if row else 1)]:
                put[name] = MODULE_TYPES.get(kind, kind)
        return put


class Spec:
    def __init__(self):
        self.yaml = yaml.safe_load(read(SPEC))
        self.header = read("include/schedtape/netlink.h")
        self.events = read("include/schedtape/event.h")
        self.module = Module(self.header, self.events)
        self.sets = {attrs["name"]: attrs for attrs in self.yaml["attribute-sets"]}
        self.commands = {c_name("stape-cmd-", command["name"]): command
                         for command in self.yaml["operations"]["list"]
                         if "notify" not in command and "event" not in command}

    def definition(self, name):
        return next(definition for definition in self.yaml["definitions"]
                    if definition["name"] == name)

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

    def numbers(self):
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

    def enums(self):
        problems = []
        for definition in self.yaml["definitions"]:
            if definition["type"] != "enum":
                continue
            name = definition["name"].replace("task-state", "state")
            prefix = re.sub(r"(-\w+)-(state|kind)$", r"\1", "stape-" + name) + "-"
            ours = {c_name(prefix, entry if isinstance(entry, str) else entry["name"]): value
                    for value, entry in enumerate(definition["entries"],
                                                  definition.get("value-start", 0))}
            enum = parse_enum(self.header + self.events, "stape_" + name.replace("-", "_"))
            problems += same(ours, {key: value for key, (value, _) in enum.items()}, name)
        return problems

    def limits(self):
        ours = {definition["name"]: definition["value"]
                for definition in self.yaml["definitions"] if definition["type"] == "const"}
        theirs = {
            "ring-pages-max": int(parse_define(read("kmod/record/ring.h"), "STAPE_RING_PAGES_MAX")),
            "pid-max": (1 << int(parse_define(self.events, "STAPE_PID_BITS"))) - 1,
            "delay-max": self.module.bounds("stape_delay_range")["max"],
            "speed-min": int(parse_define(self.header, "STAPE_REPLAY_SPEED_MIN")),
            "speed-max": int(parse_define(self.header, "STAPE_REPLAY_SPEED_MAX")),
        }
        return same(ours, theirs, "limit")

    def kinds(self):
        ours = {name: [how for how in ("do", "dump") if how in command]
                for name, command in self.commands.items()}
        theirs = {name: how for name, (how, _) in self.module.commands().items()}
        return same(ours, theirs, "asked by")

    def entries(self, command, part):
        """{attribute: its entry} of a command's request or reply."""
        attrs = self.sets[command["attribute-set"]]
        return {c_name(attrs["name-prefix"], attr["name"]): attr
                for attr in attrs["attributes"] if attr["name"] in part.get("attributes", [])}

    def checks(self, attr):
        """An attribute's checks, with numbers in place of names."""
        checks = {key: self.definition(value)["value"] if isinstance(value, str) else value
                  for key, value in attr.get("checks", {}).items()}
        if "enum" in attr:
            checks["max"] = len(self.definition(attr["enum"])["entries"]) - 1
        return checks

    def requests(self):
        """Compares a request's attributes and bounds with the command's policy."""
        policies = self.module.policies()
        theirs = {(name, attr): entry for name, (_, policy) in self.module.commands().items()
                  for attr, entry in policies.get(policy, {}).items()}
        ours = {}
        for name, command in self.commands.items():
            request = (command.get("do") or command["dump"]).get("request", {})
            for attr, entry in self.entries(command, request).items():
                ours[name, attr] = (entry["type"], self.checks(entry))
        return same(ours, theirs, "request")

    def replies(self):
        """Checks that replies have all of a set, and that "do" and "dump" return the same."""
        problems = []
        ours = {}
        for name, command in self.commands.items():
            told = [command[how].get("reply") for how in ("do", "dump") if how in command]
            if told == [None]:
                continue
            enum = self.sets[command["attribute-set"]]["enum-name"].replace("-", "_")
            ours.setdefault(enum, {}).update(
                (attr, entry["type"]) for attr, entry in self.entries(command, told[0]).items())
            if told[-1] != told[0]:
                problems.append("reply: %s has one to do and another to dump" % name)
        for enum, attrs in ours.items():
            problems += same(attrs, self.module.put(list(parse_enum(self.header, enum))), "reply")
        return problems


def main():
    spec = Spec()
    tests = (
        (spec.schema, "the spec follows the kernel's schema"),
        (spec.family, "the family's name and groups"),
        (spec.numbers, "commands"),
        (spec.attributes, "attributes and their types"),
        (spec.enums, "states and other enums"),
        (spec.limits, "limits"),
        (spec.kinds, "commands that are done, and that dump"),
        (spec.requests, "attributes of requests, and their bounds"),
        (spec.replies, "attributes of replies"),
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
