#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Description: "make bench ONLY=reading" fails if a reader has less than half of the speed that
Documentation/performance.rst has for it.
"""
import json
import pathlib
import re
import subprocess
import tempfile

from tap import TOP, finish, ok

# A reader, and the least factor on one CPU and on two.
ROW = re.compile(r"^(schedtape \S+(?: --json| -F perf)?) +(\d+\.\d+)(?:-\d+\.\d+)? +"
                 r"(\d+\.\d+)(?:-\d+\.\d+)? +perf [a-z ]+$", re.M)


def judge(figures):
    """Returns the status of reading-report, and what it prints."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({name: {"times": times} for name, times in figures.items()}, file)
        file.flush()
        run = subprocess.run([f"{TOP}/selftests/bench/reading-report", "--judge", file.name],
                             capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


document = pathlib.Path(TOP, "Documentation/performance.rst").read_text(encoding="utf-8")
least = {row[1]: (float(row[2]), float(row[3])) for row in ROW.finditer(document)}
ok({"schedtape script", "schedtape report", "schedtape timehist"} <= set(least),
   "the document has factors", least)
half = {f"{reader}, {n}": factors[n - 1] * 0.51 for reader, factors in least.items()
        for n in (1, 2)}
ok(judge(half) == (0, ""), "half of each is enough", judge(half))
one = least["schedtape report"][1] * 0.49
status, said = judge({**half, "schedtape report, 2": one})
ok(status == 1 and said.startswith("schedtape report is too slow on 2 CPUs: ") and
   said.count("\n") == 1, "less of one reader is not", said)

finish()
