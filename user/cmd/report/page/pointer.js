// SPDX-License-Identifier: GPL-2.0-only
//
// What is under the pointer, and what the user does with it and with keys.

// -- what is under the pointer ------------------------------------------------

function runOf(runs, i) {
	return { begin: runs.end[i] - runs.length[i], end: runs.end[i], cpu: runs.cpu[i],
		task: runs.task[i], wait: runs.wait[i], how: runs.how[i], state: runs.state[i],
		waker: runs.waker[i] };
}

// Returns the run at a place of the view, or the wait before one, or null. Of those that are too
// narrow to be hit it takes the nearest one.
function runUnder(x, row) {
	const slack = 2 / plotWidth() * (view.to - view.from), ns = nsOf(x);
	let best = null, distance = slack;

	for (const runs of single || [])
		for (let i = 0; i < runs.n; i++) {
			const ofTask = rows[row].task === runs.task[i];
			const ofCpu = rows[row].cpu === runs.cpu[i] && runs.length[i];

			if (!ofTask && !ofCpu)
				continue;
			const begin = runs.end[i] - runs.length[i] - (ofTask ? runs.wait[i] : 0);
			const away = Math.max(begin - ns, ns - runs.end[i], 0);

			if (away < distance || (away === distance && away === 0)) {
				distance = away;
				best = runOf(runs, i);
			}
		}
	return best;
}

// Describes how a task slept at a place of the view, between two of its runs: the state in which
// the first run left it, until the task runs or waits for a CPU again. Returns "" if the first run
// is not in the view's blocks.
function describeGap(x, row) {
	const { task } = rows[row], ns = nsOf(x);
	let before = null, next = Infinity;

	if (task === undefined)
		return "";
	for (const runs of single)
		for (let i = 0; i < runs.n; i++) {
			if (runs.task[i] !== task)
				continue;
			const begin = runs.end[i] - runs.length[i] - runs.wait[i];

			if (runs.end[i] <= ns && (!before || runs.end[i] >= before.end))
				before = runOf(runs, i);
			if (begin > ns)
				next = Math.min(next, begin);
		}
	if (!before || !LEFT[before.state])
		return "";
	const length = next === Infinity ? "" : ` for ${time(next - before.end)}`;

	return `<b>${escape(taskName(task))}</b>: ${LEFT[before.state]}${length}` +
		`<br>${before.state === ENDED ? "at" : "from"} ${moment(before.end)}`;
}

// How a run came about, in words. A run of length 0 is a wait that goes on.
function whyRan(run, waits) {
	if (run.how > PREEMPTED)
		return "";
	if (run.how === PREEMPTED)
		return `It was preempted${waits ? "" : ` and waited ${time(run.wait)}`}.`;
	const then = waits ? "." : `, ${time(run.wait)} before it got a CPU.`;
	const by = run.waker ? `${taskName(run.waker)} woke it, or forked it` : "It was woken";

	return `${by}${CONTEXTS[run.how]}${then}`;
}

function describe(run) {
	const waits = run.end === run.begin;
	const where = run.cpu < NR_CPUS ? ` on CPU ${data.cpus[run.cpu]}` : "";
	const least = run.state === GOES_ON ? "at least " : "";
	const length = waits ? `waited for a CPU for ${least}${time(run.wait)}` :
		`ran ${least}${time(run.end - run.begin)}${where}`;
	const begin = waits ? run.begin - run.wait : run.begin;

	return { what: `<b>${escape(taskName(run.task))}</b> ${length}`,
		when: `from ${moment(begin)}`,
		why: escape(whyRan(run, waits)),
		then: LEFT[run.state] ? `Then ${LEFT[run.state]}.` : "" };
}

// What the sums say of a place of the view.
function describeSum(x, row) {
	const level = drawn.level;
	const part = Math.min(level.parts - 1, Math.floor(nsOf(x) / level.width));
	const share = n => `${Math.round(n / 2.55)} %`, { cpu, task } = rows[row];

	if (task === undefined) {
		const at = cpu * level.parts + part;

		return `<b>CPU ${data.cpus[cpu]}</b> ${share(level.busy[at])} busy` +
			(level.top[at] ? `, longest with ${escape(taskName(level.top[at]))}` : "") +
			`<br>in ${time(level.width)} from ${clock(part * level.width)} s`;
	}
	const at = (task - 1) * level.parts + part;

	return `<b>${escape(taskName(task))}</b> ran ${share(level.run[at])}, ` +
		`waited for a CPU ${share(level.wait[at])}` +
		`<br>of ${time(level.width)} from ${clock(part * level.width)} s`;
}

function showTip(event, row, x) {
	const tip = $("tip");
	let text = "";

	if (row >= 0 && row < rows.length && x >= NAMES) {
		const run = single && runUnder(x, row);

		if (run) {
			const { what, when, why, then } = describe(run);

			text = [what, when, why, then].filter(Boolean).join("<br>");
		} else if (single) {
			text = describeGap(x, row);
		} else if (drawn.level) {
			text = describeSum(x, row);
		}
	}
	tip.hidden = !text;
	if (!text)
		return;
	tip.innerHTML = text;
	tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
	tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

function choose(run) {
	chosen = run;
	if (run) {
		const { what, when, why, then } = describe(run);
		const waker = run.waker ? "<a id='waker'>Show who woke it</a> · " : "";

		$("detail").innerHTML = `<p>${what} ${when}. ${then}</p>` +
			`<p>${why} ${waker}<a id='near'>Zoom to it</a></p>`;
		$("near").onclick = () => {
			const length = Math.max(run.end - run.begin + run.wait, 100);

			show(run.begin - run.wait - 2 * length, run.end + 2 * length);
		};
		if (run.waker)
			$("waker").onclick = () => chooseAt(run.waker, run.begin - run.wait);
	} else {
		$("detail").innerHTML =
			"<p class='dim'>Click on a run to see what it was, and who woke it.</p>";
	}
	redraw();
}

// Returns the run of a task at a time, or null. A run that begins where a block ends is in the next
// one.
async function findRun(task, ns) {
	const first = blockAt(ns);

	for (const number of [first, first + 1]) {
		if (number >= data.blocks.length)
			break;
		const runs = await block(number);

		for (let i = 0; i < runs.n; i++)
			if (runs.task[i] === task && runs.length[i] && runs.end[i] >= ns &&
			    runs.end[i] - runs.length[i] <= ns)
				return runOf(runs, i);
	}
	return null;
}

// Chooses the run of a task at a time, which the view is moved to.
async function chooseAt(task, ns) {
	const length = view.to - view.from, before = chosen;

	if (ns < view.from || ns > view.to)
		show(ns - length / 2, ns + length / 2);
	toRow(rowOfTask[task]);
	if (!data.blocks.length)
		return;
	const run = await findRun(task, ns);

	if (run && chosen === before)
		choose(run);
}

// Chooses the chosen task's next run, or the one before.
async function chooseNext(step) {
	const from = chosen;
	let best = null;

	if (!from || !data.blocks.length)
		return;
	for (let number = blockAt(from.end); number >= 0 && number < data.blocks.length && !best;
	     number += step) {
		const runs = await block(number);

		// The user has chosen something else meanwhile.
		if (chosen !== from)
			return;
		for (let i = 0; i < runs.n; i++) {
			const begin = runs.end[i] - runs.length[i];

			if (runs.task[i] !== from.task || !runs.length[i] ||
			    runs.state[i] === GOES_ON || (begin - from.begin) * step <= 0)
				continue;
			if (!best || (begin - best.begin) * step < 0)
				best = runOf(runs, i);
		}
	}
	if (!best)
		return;
	const length = view.to - view.from;

	if (best.begin < view.from || best.end > view.to)
		show(best.begin - length / 2, best.begin + length / 2);
	choose(best);
}

function toRow(row) {
	if (row < 0)
		return;
	const top = row * ROW;

	if (top < scroll.scrollTop || top + ROW + AXIS > scroll.scrollTop + high)
		scroll.scrollTop = top - high / 2;
}

// -- what the user does -------------------------------------------------------

let dragging = null;

function place(event) {
	const box = canvas.getBoundingClientRect();

	return { x: event.clientX - box.left, y: event.clientY - box.top };
}

canvas.addEventListener("wheel", event => {
	const { x } = place(event);

	event.preventDefault();
	if (x < NAMES || event.shiftKey) {
		scroll.scrollTop += event.deltaY || event.deltaX;
		return;
	}
	if (event.deltaX)
		move(event.deltaX / plotWidth());
	if (event.deltaY)
		zoom(1.0018 ** event.deltaY, x);
}, { passive: false });

canvas.addEventListener("pointerdown", event => {
	const { x, y } = place(event);

	if (event.button || x < NAMES)
		return;
	dragging = { x, y, from: view.from, to: view.to, moved: false, part: event.shiftKey };
	canvas.setPointerCapture(event.pointerId);
});

canvas.addEventListener("pointermove", event => {
	const { x, y } = place(event), row = rowAt(y);

	if (dragging) {
		dragging.moved ||= Math.abs(x - dragging.x) > 3 ||
			(!dragging.part && Math.abs(y - dragging.y) > 3);
		if (dragging.moved && !dragging.part) {
			const { from, to } = dragging;
			const shift = (dragging.x - x) / plotWidth() * (to - from);

			show(from + shift, to + shift);
			scroll.scrollTop -= event.movementY;
		}
		return;
	}
	if (!hovered || hovered.row !== row) {
		hovered = { row };
		redraw();
	}
	showTip(event, row, x);
});

canvas.addEventListener("pointerup", event => {
	const { x, y } = place(event), was = dragging, row = rowAt(y);

	dragging = null;
	if (!was)
		return;
	if (was.part && was.moved)
		show(Math.min(nsOf(was.x), nsOf(x)), Math.max(nsOf(was.x), nsOf(x)));
	else if (!was.moved && row >= 0 && row < rows.length)
		choose(single ? runUnder(x, row) : null);
});

canvas.addEventListener("pointercancel", () => {
	dragging = null;
});

canvas.addEventListener("pointerleave", () => {
	$("tip").hidden = true;
});

const KEYS = {
	"+": () => zoom(0.7), "=": () => zoom(0.7), "w": () => zoom(0.7),
	"-": () => zoom(1 / 0.7), "s": () => zoom(1 / 0.7),
	"ArrowLeft": () => move(-0.15), "a": () => move(-0.15),
	"ArrowRight": () => move(0.15), "d": () => move(0.15),
	"ArrowUp": () => scroll.scrollBy(0, -3 * ROW),
	"ArrowDown": () => scroll.scrollBy(0, 3 * ROW),
	"0": () => show(0, data.length), "Home": () => show(0, data.length),
	"/": () => $("search").focus(),
	"r": () => {
		arrows = !arrows;
		redraw();
	},
	"t": () => toggleTheme(),
	"?": () => toggleHelp(),
	"[": () => chooseNext(-1), "]": () => chooseNext(1),
	"Escape": () => choose(null),
};

document.addEventListener("keydown", event => {
	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.target === $("search")) {
		if (event.key === "Escape" || event.key === "Enter")
			event.target.blur();
		return;
	}
	if (KEYS[event.key]) {
		event.preventDefault();
		KEYS[event.key]();
	}
});

// Finds tasks by a part of their name or of their process's, or by their PID.
function search(text) {
	const words = text.trim().toLowerCase();

	found = null;
	if (words) {
		found = new Set();
		data.tasks.forEach((task, i) => {
			const names = `${task.name}:${task.pid} ${task.process}`.toLowerCase();

			if (names.includes(words) || String(task.tgid) === words)
				found.add(i + 1);
		});
	}
	makeRows();
	scroll.scrollTop = 0;
	fillTable();
	redraw();
}

function toggleTheme() {
	dark = !dark;
	makeColours();
	drawHistogram();
	redraw();
}

function toggleHelp() {
	$("help").hidden = !$("help").hidden;
}
