#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Description: prints the ABI of the libraries and of the headers of the module, for 64-bit
machines: abi.py INCLUDE LIBRARY...

INCLUDE is the folder of the installed headers. A LIBRARY is a shared one. What is printed is
committed as user/lib/abi; test_library.sh compares.
"""
import re
import subprocess
import sys
import tempfile

HEADERS = ("schedtape.h", "schedtape/client.h", "schedtape/device.h", "schedtape/dump.h",
           "schedtape/event.h", "schedtape/netlink.h")
OURS = re.compile(r"_*s(ched|)tape_", re.I)
# Change with each version, or say nothing.
NO_CONSTANTS = re.compile(r"SCHEDTAPE_VERSION|_*(LIB)?SCHEDTAPE_(\w+_)?H")


def run(*words, text=""):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


# -- DWARF, as readelf prints it ------------------------------------------------------------------

NODE = re.compile(r" *<([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
VALUE = re.compile(r" *<[0-9a-f]+> +DW_AT_(\w+) *: (.*)")


class Node:
    """An entry: its tag, its attributes and the entries in it."""

    def __init__(self, tag):
        self.tag = tag
        self.values = {}
        self.inner = []

    def number(self, name):
        return int(re.sub(r"\(\w+\)", "", self.values.get(name, "0")), 0)

    def name(self):
        return re.sub(r"^(\([^)]*\):? )+", "", self.values.get("name", ""))


def read_nodes(text):
    """Returns all entries by their offset, with those below the compile unit in it."""
    nodes, stack = {}, []
    for line in text.splitlines():
        match = NODE.match(line)
        if match:
            node = nodes[match[2]] = Node(match[3])
            del stack[int(match[1], 16):]
            if stack:
                stack[-1].inner.append(node)
            stack.append(node)
        elif stack and (match := VALUE.match(line)):
            stack[-1].values[match[1]] = match[2].strip()
    return nodes


class Types:
    """The names and sizes of types."""

    def __init__(self, nodes):
        self.nodes = nodes

    def of(self, node):
        match = re.search(r"<0x([0-9a-f]+)>", node.values.get("type", ""))
        return self.nodes[match[1]] if match else None

    def size(self, node):
        if node.tag == "pointer_type":
            return 8
        if "byte_size" in node.values:
            return node.number("byte_size")
        if node.tag == "array_type":
            size = self.size(self.of(node))
            for bound in node.inner:
                size *= bound.number("upper_bound") + 1
            return size
        return self.size(self.of(node))

    def text(self, node):
        """A type as it stands in a header, but with what it points to on the left."""
        if node is None:
            return "void"
        inner = self.of(node)
        if node.tag == "pointer_type":
            if inner and inner.tag == "subroutine_type":
                return self.text(inner)
            return f"{self.text(inner)} *"
        if node.tag == "const_type":
            return f"{self.text(inner)} const" if inner and inner.tag == "pointer_type" else \
                f"const {self.text(inner)}"
        if node.tag == "array_type":
            return self.text(inner) + "".join(f"[{bound.number('upper_bound') + 1}]"
                                              for bound in node.inner)
        if node.tag == "subroutine_type":
            return f"{self.text(inner)} ()({', '.join(self.text(self.of(i)) for i in node.inner)})"
        kinds = {"structure_type": "struct ", "union_type": "union ", "enumeration_type": "enum "}
        return kinds.get(node.tag, "") + node.name()

    def members(self, node, begin):
        """The lines of members, with those of members without a name in place of these."""
        for member in node.inner:
            at, type_ = begin + member.number("data_member_location"), self.of(member)
            if member.name():
                yield f"\t{at}\t{self.size(type_)}\t{member.name()}\t{self.text(type_)}"
            else:
                yield from self.members(type_, at)


def types_and_enums(include):
    with tempfile.NamedTemporaryFile(suffix=".o") as file:
        run("gcc", "-xc", "-std=gnu11", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-c",
            f"-I{include}", "-o", file.name, "-",
            text="".join(f"#include <{name}>\n" for name in HEADERS))
        nodes = read_nodes(run("readelf", "--debug-dump=info", "--wide", file.name))
    types, lines = Types(nodes), {}
    for node in nodes.values():
        what = types.text(node) if node.tag in ("structure_type", "union_type") else "enum"
        if what != "enum" and OURS.match(node.name()) and "byte_size" in node.values:
            lines[what] = [f"{what}\t{types.size(node)}", *types.members(node, 0)]
        elif node.tag == "enumeration_type" and node.inner and OURS.match(node.inner[0].name()):
            lines[node.inner[0].name()] = [types.text(node).strip()] + [
                f"\t{value.number('const_value')}\t{value.name()}" for value in node.inner]
    return [line for key in sorted(lines) for line in lines[key]]


# -- functions and macros -------------------------------------------------------------------------

def functions(include, library):
    """The functions of a library as the headers declare them, with their version."""
    text = run("gcc", "-xc", "-std=gnu11", "-fsyntax-only", f"-I{include}", "-aux-info",
               "/dev/stdout", "-", text="#include <schedtape/client.h>\n")
    declared = {match[2]: f"{match[1]}{match[2]}{match[3]}" for match in
                re.finditer(r"extern (.*?)(schedtape_\w+) (\(.*\));", text)}
    exported = re.findall(r" T (\w+)@@(\w+)", run("nm", "-D", "--defined-only", library))
    return [f"{version}\t{declared.get(name, name)}" for name, version in sorted(exported)]


def constants(include):
    """Macros that stand for a value, by their text."""
    text = run("gcc", "-xc", "-std=gnu11", "-E", "-dM", f"-I{include}", "-",
               text="".join(f"#include <{name}>\n" for name in HEADERS))
    macros = re.findall(r"^#define (\w+) (.+)$", text, re.M)
    return [f"{name}\t{' '.join(value.split())}" for name, value in sorted(macros)
            if OURS.match(name) and not NO_CONSTANTS.fullmatch(name)]


def main():
    include, *libraries = sys.argv[1:]
    print("# SPDX-License-Identifier: LGPL-2.1-or-later")
    for library in libraries:
        print("\n".join(functions(include, library)))
    print("\n".join(constants(include) + types_and_enums(include)))


main()
