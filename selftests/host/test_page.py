#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Description: report --html writes a page that has the runs and sums of the tape, and that a
browser shows.

Pictures are left in <build>/page, to be looked at.
"""
import base64
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

from browser import Browser
from tap import BUILD, LOAD_TAPE, SCHEDTAPE, finish, ok

PICTURES = os.path.join(BUILD, "page")

# enum page_how, and in place of a state: see report/internal.h
PREEMPTED, UNKNOWN = 5, 6
GOES_ON, NO_STATE = 14, 15
STATES = "RSDTtXPI"

# The times of the goals, in a browser that has a CPU for itself, and what a test allows.
FIRST_PICTURE_MS, FRAME_MS, ALLOWED = 2000, 50, 3


def schedtape(*words, **options):
    return subprocess.run([SCHEDTAPE, *words], capture_output=True, text=True, check=False,
                          **options)


class Page:
    """What is on a page, read without a browser."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.data = json.loads(self.script("data"))
        self.late = self.decode("late", 0) if self.data["late"] else []
        self.blocks = [self.decode(f"block{number}", first)
                       for number, (first, _, _) in enumerate(self.data["blocks"])]

    def script(self, name):
        return re.search(rf'<script type="[a-z/]*" id="{name}">(.*?)</script>', self.text,
                         re.DOTALL).group(1)

    def inflate(self, name):
        return zlib.decompress(base64.b64decode(self.script(name)), -zlib.MAX_WBITS)

    def decode(self, name, first):
        """Returns the runs of a block: (end, cpu, length, task, wait, how, waker)."""
        data = iter(self.inflate(name))

        def value():
            total = shift = 0
            for byte in data:
                total |= (byte & 127) << shift
                shift += 7
                if not byte & 128:
                    return total
            raise ValueError("the block ends within a number")

        count = value()
        columns = [[value() for _ in range(count)] for _ in range(7)]
        assert next(data, None) is None
        ends, times = [first] * (len(self.data["cpus"]) + 1), first
        runs = []
        for end, cpu, idle, task, wait, how, waker in zip(*columns):
            times += -(end + 1) // 2 if end % 2 else end // 2
            length = 0
            if cpu < len(self.data["cpus"]):
                length = times - ends[cpu] - (-(idle + 1) // 2 if idle % 2 else idle // 2)
                ends[cpu] = times
            runs.append((times, cpu, length, task, wait, how, waker))
        return runs

    def whole_runs(self):
        return [run for block in [*self.blocks, self.late] for run in block
                if run[5] >> 4 != GOES_ON and run[2]]


# -- what is on the page ----------------------------------------------------------------------

def timehist_runs(tape, first):
    """Returns what timehist prints of each run, in the order of Page.whole_runs()."""
    lines = schedtape("timehist", "--json", tape).stdout.splitlines()[1:]
    runs = []
    for line in map(json.loads, lines):
        if line["event"] == "run":
            wait = line["delay_ns"] if line["delay_ns"] is not None else line["wait_ns"]
            runs.append((line["time_ns"] - first, line["cpu"], line["run_ns"], line["pid"],
                         wait or 0, line["state"]))
    return sorted(runs)


def page_runs(page):
    runs = []
    for end, cpu, length, task, wait, how, _ in page.whole_runs():
        state = how >> 4
        runs.append((end, page.data["cpus"][cpu], length, page.data["tasks"][task - 1]["pid"], wait,
                     "-" if state == NO_STATE else STATES[state]))
    return sorted(runs)


def without_last(runs):
    """Runs that last when the tape ends have no state, which timehist tells in another way."""
    return [run for run in runs if run[5] in STATES]


def who_runs(runs, cpu, when):
    return {run[3] for run in runs if run[1] == cpu and run[2] and run[0] - run[2] < when < run[0]}


def who_waits(runs, when):
    return {run[3] for run in runs if run[4] and run[0] - run[2] - run[4] < when < run[0] - run[2]}


def blocks_are_complete(page):
    """Returns the times at which a block does not tell all that happens."""
    whole = [run for block in [*page.blocks, page.late] for run in block if run[5] >> 4 != GOES_ON]
    wrong = []
    for (first, last, _), runs in zip(page.data["blocks"], page.blocks):
        runs = runs + page.late
        for tenth in range(1, 10):
            when = first + (last - first) * tenth // 10 + 0.5
            for cpu in range(len(page.data["cpus"])):
                if who_runs(runs, cpu, when) != who_runs(whole, cpu, when):
                    wrong.append((when, cpu))
            if who_waits(runs, when) != who_waits(whole, when):
                wrong.append((when, "waits", who_waits(runs, when) ^ who_waits(whole, when)))
    return wrong


def part_sums(page, row_of, length_of):
    """Adds up ns by row and part of the time."""
    parts, width = page.data["parts"], page.data["part"]
    sums = {}
    for run in page.whole_runs():
        row = row_of(run)
        begin, end = length_of(run)
        for part in range(begin // width, min(end // width, parts - 1) + 1):
            inside = min(end, (part + 1) * width) - max(begin, part * width)
            if inside > 0:
                sums[row, part] = sums.get((row, part), 0) + inside
    return sums


def wrong_shares(page, shares, rows, sums):
    width = page.data["part"]
    return [(row, part, shares[row * page.data["parts"] + part], sums.get((row, part), 0))
            for row in range(rows) for part in range(page.data["parts"])
            if abs(shares[row * page.data["parts"] + part]
                   - sums.get((row, part), 0) * 255 / width) > 1]


def test_sums(page):
    parts, cpus, tasks = (page.data["parts"], len(page.data["cpus"]), len(page.data["tasks"]))
    sums = page.inflate("sums")
    ok(len(sums) == parts * (3 * cpus + 2 * tasks), "the sums of all rows", len(sums))
    busy = part_sums(page, lambda run: run[1], lambda run: (run[0] - run[2], run[0]))
    wrong = wrong_shares(page, sums, cpus, busy)
    ok(not wrong, "how busy each CPU was", wrong[:20])
    ran = part_sums(page, lambda run: run[3] - 1, lambda run: (run[0] - run[2], run[0]))
    wrong = wrong_shares(page, sums[3 * cpus * parts:], tasks, ran)
    ok(not wrong, "how much of the time each task ran", wrong[:20])

    by_task = part_sums(page, lambda run: (run[1], run[3]), lambda run: (run[0] - run[2], run[0]))
    tops = sums[cpus * parts:3 * cpus * parts]
    wrong = []
    for row in range(cpus):
        for part in range(parts):
            at = 2 * (row * parts + part)
            top = tops[at] | tops[at + 1] << 8
            times = {task: spent for ((cpu, task), of), spent in by_task.items()
                     if cpu == row and of == part} if part % 50 == 0 else None
            if times is not None and times.get(top, 0) != max(times.values(), default=0):
                wrong.append((row, part, top, times))
    ok(not wrong, "who ran longest on each CPU", wrong[:5])


def test_content(folder):
    tape, path = f"{folder}/small.tape", f"{folder}/small.html"
    subprocess.run([LOAD_TAPE, tape, "40000"], check=True)
    made = schedtape("report", "--html", path, tape)
    size = f"{os.path.getsize(path):,}" if os.path.exists(path) else "none"
    if not ok(made.returncode == 0 and made.stdout == f"{path}: {size} bytes\n" and
              not made.stderr, "report --html says what it has written", made):
        return
    page = Page(path)
    expected, found = (without_last(timehist_runs(tape, page.data["first"])),
                       without_last(page_runs(page)))
    ok(found == expected and len(found) > 10000, "the runs that timehist prints",
       [pair for pair in zip(found, expected) if pair[0] != pair[1]][:5])
    ok(len(page.blocks) > 2 and len(page.late) == 1 and page.late[0][2] > page.data["length"] / 3,
       "several blocks, and a run that the tape shows late", (len(page.blocks), page.late))
    wrong = blocks_are_complete(page)
    ok(not wrong, "each block has all that happens in its time", wrong[:10])
    test_sums(page)
    names = [task["name"] for task in page.data["tasks"]]
    ok("</script><b>" in names and "<!--<script>" in names and "?[31m" in names,
       "names of tasks", names)
    ok("</script><b>" not in page.text and "<!--<script>" not in page.text,
       "which are no part of the page's text")
    report = json.loads(schedtape("report", "--json", tape).stdout)["tasks"]
    ok([task["run"] for task in page.data["tasks"]] ==
       sorted((task["cpu_time_ns"] for task in report), reverse=True),
       "tasks by CPU time, as report has it")


def test_parts(folder):
    tape, path = f"{folder}/small.tape", f"{folder}/part.html"
    info = json.loads(schedtape("report", "--json", tape).stdout)
    schedtape("report", "--html", path, "--time", "40%-60%", "--cpu", "1,3", tape)
    page = Page(path)
    ok(page.data["cpus"] == [1, 3] and {run[1] for run in page.whole_runs()} == {0, 1},
       "--cpu: rows of these CPUs", page.data["cpus"])
    ok(0 < page.data["length"] < 10**9 and
       all(run[0] > 0 and run[0] - run[2] < page.data["length"] for run in page.whole_runs()),
       "--time: runs of that time", info.keys())
    report = json.loads(schedtape("report", "--json", "--time", "40%-60%", "--cpu", "1,3",
                                  tape).stdout)["lines"]
    ok([task["run"] for task in page.data["tasks"]] ==
       sorted((line["cpu_time_ns"] for line in report), reverse=True) and
       {task["sleeps"] for task in page.data["tasks"]} == {line["sleeps"] for line in report},
       "figures of that time and these CPUs", (page.data["tasks"][:2], report[:2]))
    waits = [run for block in page.blocks for run in block if not run[2]]
    ok(waits and not blocks_are_complete(page), "waits of that time and these CPUs",
       blocks_are_complete(page)[:5])
    last = page.blocks[-1]
    ok(any(run[0] > page.data["length"] and run[2] for run in last) and
       any(run[0] > page.data["length"] and not run[2] for run in last),
       "runs and waits that go on over the end of that time", last[-5:])
    schedtape("report", "--html", path, "--comm", "load-5", tape)
    page = Page(path)
    ok({task["name"] for task in page.data["tasks"]} == {"load-5"} and page.whole_runs(),
       "--comm: rows of these tasks", page.data["tasks"])


def test_losses(folder):
    tape, path = f"{folder}/damaged.tape", f"{folder}/damaged.html"
    with open(f"{folder}/small.tape", "rb") as file:
        whole = bytearray(file.read())
    whole[len(whole) // 2] ^= 0xff
    with open(tape, "wb") as file:
        file.write(whole)
    made = schedtape("report", "--html", path, tape)
    page = Page(path)
    ok(made.returncode == 0 and page.data["lost"] and page.data["losses"] and
       all(row < len(page.data["cpus"]) and first < last
           for row, first, last in page.data["losses"]), "where events are lost",
       (made, page.data["losses"]))


def test_trouble(folder):
    tape = f"{folder}/small.tape"
    failed = schedtape("report", "--html", f"{folder}/none/page.html", tape)
    ok(failed.returncode == 1 and "No such file or directory" in failed.stderr,
       "a folder that is not there: an error", failed)
    failed = schedtape("report", "--html", "/dev/full", tape)
    ok(failed.returncode == 1 and "/dev/full: No space left on device" in failed.stderr,
       "a full disk: an error", failed)
    fine = schedtape("report", "--html", "/dev/null", tape)
    ok(fine.returncode == 0 and not os.path.isfile("/dev/null"), "a device stays one", fine)
    failed = schedtape("report", "--html", f"{folder}/p.html", "--json", tape)
    ok(failed.returncode == 129 and "--html: not together with" in failed.stderr,
       "together with --json: an error", failed)
    with open(tape, "rb") as file:
        before = file.read()
    failed = schedtape("report", "--html", tape, tape)
    with open(tape, "rb") as file:
        ok(failed.returncode == 1 and "this is no page" in failed.stderr and file.read() == before,
           "a tape is not replaced", failed)
    os.chmod(f"{folder}/part.html", 0o600)
    fine = schedtape("report", "--html", f"{folder}/part.html", tape)
    ok(fine.returncode == 0 and os.stat(f"{folder}/part.html").st_mode & 0o777 == 0o600,
       "an earlier page is, and keeps its mode", fine)
    done = subprocess.run(f"'{SCHEDTAPE}' report --html /dev/stdout '{tape}' | tail -n 1",
                          shell=True, capture_output=True, text=True, check=False)
    ok(done.stdout == "</html>\n" and not done.stderr, "a pipe gets the page and no more", done)
    failed = schedtape("report", "--html", f"{folder}/p.html", "--cpu", "99", tape)
    ok(failed.returncode == 1 and not os.path.exists(f"{folder}/p.html"),
       "a CPU that the tape does not have: an error", failed)
    failed = schedtape("report", "--html", f"{folder}/p.html", "--comm", "nobody", tape)
    ok(failed.returncode == 1 and not os.path.exists(f"{folder}/p.html"),
       "no task matches: an error, and no page", failed)
    with open(tape, "rb") as file:
        failed = subprocess.run(f"cat '{tape}' | '{SCHEDTAPE}' report --html '{folder}/p.html' -",
                                shell=True, capture_output=True, text=True, check=False, stdin=file)
    ok(failed.returncode == 1 and "pipe" in failed.stderr and
       not os.path.exists(f"{folder}/p.html"), "a tape from a pipe: an error", failed)
    ok(not [name for name in os.listdir(folder) if ".html." in name], "no temporary file is left",
       os.listdir(folder))


# -- in the browser ---------------------------------------------------------------------------

NR_COLOURS = """
const canvas = document.getElementById("view");
const pixels = new Uint32Array(canvas.getContext("2d").getImageData(170, 30, canvas.width - 170,
	canvas.height - 30).data.buffer);
return new Set(pixels).size;
"""

PAN_100 = """new Promise(done => {
	const times = [], step = (schedtape.view.to - schedtape.view.from) / 100;
	const pan = () => {
		schedtape.show(schedtape.view.from + step, schedtape.view.to + step);
		schedtape.draw();
		times.push(schedtape.drawn().ms);
		if (times.length < 100)
			requestAnimationFrame(pan);
		else
			done(times);
	};
	pan();
})"""

# Shows a time around the middle of a block, once the blocks beside it have been read, too.
SHOW_RUNS = """Promise.resolve(schedtape.block(arguments[0])).then(runs => new Promise(done => {
	const middle = runs.end[runs.n >> 1], around = arguments[1];
	let left = 500;
	const look = () => {
		schedtape.draw();
		if (schedtape.single() || !left--)
			done(schedtape.single() && schedtape.drawn());
		else
			setTimeout(look, 10);
	};
	schedtape.show(middle - around, middle + around);
	look();
}))"""


# Moves the view to a sleep between two runs of a task, and returns a place within it.
SHOW_SLEEP = """
const [runs] = schedtape.single(), slept = 1, last = new Map();
for (let i = 0; i < runs.n; i++) {
	const task = runs.task[i], before = last.get(task);
	const begin = runs.end[i] - runs.length[i] - runs.wait[i];

	if (!runs.length[i])
		continue;
	last.set(task, i);
	if (before === undefined || runs.state[before] !== slept || begin - runs.end[before] < 2000)
		continue;
	const row = schedtape.rows().findIndex(row => row.task === task);
	const middle = (begin + runs.end[before]) / 2, length = begin - runs.end[before];

	schedtape.show(middle - length, middle + length);
	schedtape.toRow(row);
	schedtape.draw();
	return { x: schedtape.xOf(middle), y: schedtape.yOf(row) + 9,
		name: schedtape.rows()[row].name };
}"""


def load(browser, path):
    """Opens a page.  Returns the ms to its first picture."""
    browser.open(path)
    browser.wait("schedtape.ready.then(() => true)")
    return browser.run("return performance.getEntriesByName('first picture')[0].startTime")


def view_of(browser):
    return browser.run("return [schedtape.view.from, schedtape.view.to]")


def test_small(browser, folder):
    load(browser, f"{folder}/small.html")
    length = browser.run("return schedtape.data.length")
    ok(browser.run(NR_COLOURS) > 20, "a picture with many colours")
    browser.picture(f"{PICTURES}/small.png")
    browser.point(800, 200, wheel=-1200)
    begin, end = view_of(browser)
    ok(end - begin < length / 5, "the wheel zooms", (begin, end, length))
    browser.press("d")
    ok(view_of(browser)[0] > begin, "a key moves the view", view_of(browser))
    browser.press("0")
    ok(view_of(browser) == [0, length], "a key shows all of the time", view_of(browser))
    rows = browser.run("return schedtape.rows().length")
    browser.run("schedtape.search('load-5')")
    ok(browser.run("return schedtape.rows().length") == 4 + 3 and rows == 4 + 60,
       "the search leaves the rows of three threads of four CPUs", rows)
    browser.run("schedtape.search('')")
    drawn = browser.wait(SHOW_RUNS, 1, 50000)
    ok(drawn and drawn["runs"] > 10 and drawn["arrows"] > 3, "single runs, and arrows", drawn)
    box = browser.run("const box = document.getElementById('view').getBoundingClientRect();"
                      "return [box.left, box.top]")
    for x in range(400, 1200, 40):
        browser.point(int(box[0]) + x, int(box[1]) + 26 + 9, click=True)
        if browser.run("return schedtape.chosen()"):
            break
    detail = browser.run("return document.getElementById('detail').textContent")
    ok(re.search(r"ran [0-9.]+ [mµn]?s on CPU 0 from [0-9.]+ s", detail), "a click chooses a run",
       detail)
    ok(browser.run("return !document.getElementById('tip').hidden"), "and a tip is beside it")
    place = browser.run(SHOW_SLEEP)
    browser.point(int(box[0] + place["x"]), int(box[1] + place["y"]))
    tip = browser.run("return document.getElementById('tip').innerText")
    ok(re.fullmatch(re.escape(place["name"]) + r": it slept for [0-9.]+ [mµn]?s\n"
                    r"from [0-9.]+ s \([0-9.]+ [mµn]?s after the start\)", tip),
       "the pointer between two runs shows the sleep", tip)
    browser.wait(SHOW_RUNS, 1, 50000)
    was = browser.run("return schedtape.chosen().begin")
    browser.wait("schedtape.chooseNext(1).then(() => true)")
    ok(browser.run("return schedtape.chosen().begin") > was, "from there to the task's next run")
    browser.wait(SHOW_RUNS, 1, 50000)
    was = browser.run("""
const runs = schedtape.single()[0], goesOn = 14;
let i = 0;
while (!runs.waker[i] || !runs.length[i] || runs.state[i] === goesOn)
	i++;
schedtape.choose(schedtape.runOf(runs, i));
return schedtape.chosen();""")
    browser.run("document.getElementById('waker').click()")
    for _ in range(100):
        waker = browser.run("return schedtape.chosen()")
        if waker["task"] == was["waker"]:
            break
        time.sleep(0.05)
    ok(waker["task"] == was["waker"] and
       waker["begin"] <= was["begin"] - was["wait"] <= waker["end"], "who woke it", (was, waker))
    browser.press("]]]\ue00c")
    ok(browser.run("return schedtape.chosen()") is None, "Esc chooses none")
    browser.picture(f"{PICTURES}/small-light.png")
    light = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.press("t")
    ok(browser.run("return getComputedStyle(document.body).backgroundColor") != light,
       "a key changes between light and dark", light)
    browser.picture(f"{PICTURES}/small-dark.png")


def test_large(browser, folder):
    tape, path = f"{folder}/large.tape", f"{folder}/large.html"
    subprocess.run([LOAD_TAPE, tape, "5000000"], check=True)
    made = schedtape("report", "--html", path, tape)
    ok(made.returncode == 0 and os.path.getsize(path) < 30e6,
       f"5 million events: a page of {os.path.getsize(path):,} bytes", made)
    first = load(browser, path)
    ok(first < ALLOWED * FIRST_PICTURE_MS, f"first picture after {first:.0f} ms")
    browser.picture(f"{PICTURES}/large.png")
    browser.run("schedtape.show(0, schedtape.data.length / 3)")
    times = browser.wait(PAN_100)
    median = statistics.median(times)
    ok(median < ALLOWED * FRAME_MS, f"sums: {median:.1f} ms a frame", times)
    drawn = browser.wait(SHOW_RUNS, 300, 2e7)
    ok(drawn and drawn["runs"] > 1000, f"{drawn and drawn['runs']} single runs in a view", drawn)
    median = statistics.median(browser.wait(PAN_100))
    ok(median < ALLOWED * FRAME_MS, f"single runs: {median:.1f} ms a frame")
    browser.picture(f"{PICTURES}/large-runs.png")


def main():
    os.makedirs(PICTURES, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        test_content(folder)
        test_parts(folder)
        test_losses(folder)
        test_trouble(folder)
        with Browser() as browser:
            test_small(browser, folder)
            test_large(browser, folder)
            said = browser.errors()
            ok(not said, "nothing on the console", said)
            loaded = browser.run("return performance.getEntriesByType('resource').length")
            ok(loaded == 0, "nothing else was loaded", loaded)
    finish()


main()
