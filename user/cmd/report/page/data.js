// SPDX-License-Identifier: GPL-2.0-only
//
// What is on the page: internal.h describes it. Times are ns from the page's first one.

const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const NR_CPUS = data.cpus.length;
const NR_TASKS = data.tasks.length;
const OTHER = NR_TASKS + 1;		// number of all tasks without a row
const ROW = 18, BAR = 14;		// heights in CSS pixels
const AXIS = 26, NAMES = 168;
const MOST_BLOCKS = 16;			// of which a view shows single runs
const MOST_KEPT = 64;			// blocks in memory
const MOST_ARROWS = 300;
const LEAST_VIEW = 200;			// ns

// How a task came to wait, and how it left its CPU: enum page_how, enum stape_state.
const PREEMPTED = 5, GOES_ON = 14;
const CONTEXTS = ["", " from a softirq", " from a hard interrupt",
	" from a softirq that a task raised", ""];
const ENDED = 5;
const LEFT = ["it was preempted", "it slept", "it slept without being interruptible",
	"it was stopped", "it was traced", "it ended", "it was parked", "it was idle"];

// -- numbers and texts --------------------------------------------------------

const count = n => n.toLocaleString("en");

// The unit in which a time is printed, and its ns.
const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const unitOf = ns => UNITS.find(([, size]) => Math.abs(ns) >= size) || UNITS.at(-1);

function time(ns, digits = 3) {
	const [unit, size] = unitOf(ns);

	return `${(ns / size).toFixed(size > 1 ? digits : 0)} ${unit}`;
}

// As script prints it: cut, not rounded.
const clock = ns => (Math.floor((data.first + ns) / 1e3) / 1e6).toFixed(6);

const moment = ns => `${clock(ns)} s (${time(ns, 6)} after the start)`;

function escape(text) {
	const letters = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" };

	return String(text).replace(/[&<>"]/g, letter => letters[letter]);
}

function taskName(number) {
	if (number < 1 || number > NR_TASKS)
		return "other tasks";
	const task = data.tasks[number - 1];

	return `${task.name}:${task.pid}`;
}

// -- data ---------------------------------------------------------------------

async function inflate(id) {
	const text = atob($(id).textContent);
	const bytes = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	const unpacked = new Blob([bytes]).stream()
		.pipeThrough(new DecompressionStream("deflate-raw"));

	return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

// Sums by level: level 0 has each part, each other one has two of the level before it in one.
const levels = [];

function readSums(bytes) {
	const cpus = NR_CPUS * data.parts, tasks = NR_TASKS * data.parts;
	const top = new Uint16Array(cpus);

	for (let i = 0; i < cpus; i++)
		top[i] = bytes[cpus + 2 * i] | bytes[cpus + 2 * i + 1] << 8;
	levels.push({
		parts: data.parts, width: data.part, busy: bytes.subarray(0, cpus), top,
		run: bytes.subarray(3 * cpus, 3 * cpus + tasks),
		wait: bytes.subarray(3 * cpus + tasks, 3 * cpus + 2 * tasks),
	});
	while (levels.at(-1).parts > 1)
		levels.push(halve(levels.at(-1)));
}

function halve(level) {
	const parts = Math.ceil(level.parts / 2);
	const less = { parts, width: 2 * level.width, top: new Uint16Array(NR_CPUS * parts) };

	const mean = (from, rows) => {
		const to = new Uint8Array(rows * parts);

		for (let row = 0; row < rows; row++) {
			const a = row * level.parts, b = row * parts;

			for (let i = 0; i < level.parts; i += 2)
				to[b + i / 2] = (from[a + i] +
					(i + 1 < level.parts ? from[a + i + 1] : 0) + 1) >> 1;
		}
		return to;
	};
	less.busy = mean(level.busy, NR_CPUS);
	less.run = mean(level.run, NR_TASKS);
	less.wait = mean(level.wait, NR_TASKS);
	for (let row = 0; row < NR_CPUS; row++) {
		const a = row * level.parts;

		for (let i = a; i < a + level.parts; i += 2) {
			const second = i + 1 < a + level.parts && level.busy[i + 1] > level.busy[i];

			less.top[row * parts + (i - a) / 2] = level.top[i + second];
		}
	}
	return less;
}

// Blocks by number, the last used one at the end; a promise while one is being read.
const blocks = new Map();

function decode(bytes, first) {
	let at = 0;
	const next = () => {
		let value = 0, scale = 1, byte;

		do {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte & 128);
		return value;
	};
	const n = next();
	const column = make => {
		const numbers = make(n);

		for (let i = 0; i < n; i++)
			numbers[i] = next();
		return numbers;
	};
	const wide = n => new Float64Array(n), narrow = n => new Uint32Array(n);
	const signed = number => number % 2 ? -(number + 1) / 2 : number / 2;
	const end = column(wide), cpu = column(narrow), length = column(wide);
	const ends = new Float64Array(NR_CPUS + 1).fill(first);

	for (let i = 0, before = first; i < n; i++) {
		end[i] = before += signed(end[i]);
		if (cpu[i] < NR_CPUS) {
			length[i] = end[i] - ends[cpu[i]] - signed(length[i]);
			ends[cpu[i]] = end[i];
		}
	}
	const task = column(narrow), wait = column(wide);
	const how = column(narrow), waker = column(narrow);

	return { n, end, length, cpu, task, wait, how: how.map(both => both & 15),
		state: how.map(both => both >> 4), waker };
}

// The blocks stand behind the scripts, so they may not be there yet.
const parsed = new Promise(done => {
	if (document.readyState === "loading")
		addEventListener("DOMContentLoaded", done);
	else
		done();
});

async function readBlock(number) {
	await parsed;
	const runs = decode(await inflate(`block${number}`), data.blocks[number][0]);

	blocks.delete(number);
	blocks.set(number, runs);
	for (const old of blocks.keys()) {
		if (blocks.size <= MOST_KEPT)
			break;
		if (!(blocks.get(old) instanceof Promise))
			blocks.delete(old);
	}
	return runs;
}

// Runs that began long before the tape shows them: for every view.
let late = null;

async function readLate() {
	await parsed;
	late = decode(await inflate("late"), 0);
}

// Returns the runs of a block, or a promise of them.
function block(number) {
	let runs = blocks.get(number);

	if (!runs) {
		runs = readBlock(number);
		blocks.set(number, runs);
	} else if (!(runs instanceof Promise)) {
		blocks.delete(number);
		blocks.set(number, runs);
	}
	return runs;
}

// Returns the number of the block that has a time.
function blockAt(ns) {
	let low = 0, high = data.blocks.length - 1;

	while (low < high) {
		const mid = (low + high) >> 1;

		if (data.blocks[mid][1] < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

// Returns the blocks of a view; null: there are too many, or not all are read yet.
function blocksOf(from, to) {
	if (!data.blocks.length)
		return null;
	const first = blockAt(from), last = blockAt(to);

	if (last - first >= MOST_BLOCKS)
		return null;
	const all = [];

	for (let i = first; i <= last; i++)
		all.push(block(i));
	if (!all.some(runs => runs instanceof Promise))
		return late ? [...all, late] : all;
	Promise.all(all).then(redraw);
	return null;
}
