# SPDX-License-Identifier: GPL-2.0-only
"""What tests in Python share: where things are, TAP results, the Python package."""
import os
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("SCHEDTAPE_BUILD", os.path.join(TOP, "build"))
SCHEDTAPE = os.path.join(BUILD, "schedtape")
LOAD_TAPE = os.path.join(BUILD, "selftests/tapes/load_tape")
POINTS_TAPE = os.path.join(BUILD, "selftests/tapes/points_tape")
PACKAGE = os.path.join(BUILD, "python")

results = []


def ok(good, name, seen=""):
    """A result, with what was seen if it is not good."""
    results.append(bool(good))
    if not good:
        print("".join(f"# {line}\n" for line in str(seen)[:3000].splitlines()), end="")
    print(f"{'ok' if good else 'not ok'} {len(results)} {name}", flush=True)
    return good


def finish():
    """Prints the plan, and exits."""
    print(f"1..{len(results)}")
    sys.exit(not all(results))


def make_package():
    """Builds the Python package for this Python. Exits if that fails."""
    made = subprocess.run(["make", "-s", "-C", TOP, "python", f"PYTHON={sys.executable}"],
                          capture_output=True, text=True, check=False)
    if not ok(made.returncode == 0, "make python", made.stdout + made.stderr):
        finish()
