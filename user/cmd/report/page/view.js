// SPDX-License-Identifier: GPL-2.0-only
//
// The picture. Its rows are painted pixel by pixel into one image: single runs if the view has few
// blocks, else the sums of equal parts of the time, or of 2, 4, 8, ... of them together, so that
// one is about as wide as a pixel.

// -- colours ------------------------------------------------------------------

// Pixels, and as CSS what is drawn over them.
const PAINT_LIGHT = {
	back: pixel(255, 255, 255), row: pixel(245, 246, 248), faint: pixel(214, 217, 222),
	woken: pixel(240, 150, 30), preempted: pixel(220, 60, 60), pause: pixel(235, 232, 205),
	lost: pixel(250, 215, 215),
	text: "#1c1f24", dim: "#676d78", line: "#d3d6db", arrow: "#1c1f2490", chosen: "#000000",
};
const PAINT_DARK = {
	back: pixel(21, 24, 29), row: pixel(27, 31, 38), faint: pixel(54, 60, 70),
	woken: pixel(240, 160, 60), preempted: pixel(235, 90, 90), pause: pixel(70, 70, 40),
	lost: pixel(80, 40, 40),
	text: "#e3e6ea", dim: "#98a0ac", line: "#363c46", arrow: "#e3e6eab0", chosen: "#ffffff",
};

let dark = matchMedia("(prefers-color-scheme: dark)").matches;
let colours, paint;

// Packs a colour as a pixel of an image: the machines that browsers run on are little-endian.
function pixel(r, g, b) {
	return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

function hsl(h, s, l) {
	const part = n => {
		const k = (n + h / 30) % 12;

		return Math.round(255 * (l - s * Math.min(l, 1 - l) *
			Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};

	return pixel(part(0), part(8), part(4));
}

// Is black easier to read on a colour than white?
function isBright(colour) {
	const [r, g, b] = [0, 8, 16].map(bits => colour >> bits & 255);

	return r * 0.299 + g * 0.587 + b * 0.114 > 128;
}

// Neighbours in the list of tasks get hues that lie far from each other.
function makeColours() {
	document.documentElement.classList.toggle("dark", dark);
	colours = new Uint32Array(OTHER + 1);
	for (let i = 1; i <= NR_TASKS; i++)
		colours[i] = hsl(i * 137.508 % 360, 0.55, (dark ? 0.5 : 0.55) + i % 3 * 0.06);
	paint = dark ? PAINT_DARK : PAINT_LIGHT;
	colours[0] = colours[OTHER] = paint.faint;
}

// -- the view -----------------------------------------------------------------

const canvas = $("view"), ctx = canvas.getContext("2d"), scroll = $("scroll");
const view = { from: 0, to: data.length };
let rows = [], rowOfTask = [];
let image, pixels, scale = 1, wide = 0, high = 0;
let chosen = null, hovered = null, found = null, arrows = true;
let single = null;		// blocks of the last picture; null: it shows sums
let drawn = { ms: 0, runs: 0 };

// Rows of CPUs, then of the tasks that the search finds.
function makeRows() {
	rows = data.cpus.map((cpu, i) => ({ cpu: i, name: `CPU ${cpu}` }));
	rowOfTask = new Int32Array(OTHER + 1).fill(-1);
	for (let i = 1; i <= NR_TASKS; i++) {
		if (found && !found.has(i))
			continue;
		rowOfTask[i] = rows.length;
		rows.push({ task: i, name: taskName(i) });
	}
	$("space").style.height = `${AXIS + rows.length * ROW + 8}px`;
}

function resize() {
	scale = devicePixelRatio || 1;
	wide = scroll.clientWidth;
	high = scroll.clientHeight;
	canvas.width = Math.max(1, Math.round(wide * scale));
	canvas.height = Math.max(1, Math.round(high * scale));
	canvas.style.width = `${wide}px`;
	canvas.style.height = `${high}px`;
	image = ctx.createImageData(canvas.width, canvas.height);
	pixels = new Uint32Array(image.data.buffer);
}

const plotWidth = () => Math.max(1, wide - NAMES);
const xOf = ns => NAMES + (ns - view.from) / (view.to - view.from) * plotWidth();
const nsOf = x => view.from + (x - NAMES) / plotWidth() * (view.to - view.from);
const yOf = row => AXIS + row * ROW - scroll.scrollTop;
const rowAt = y => Math.floor((y - AXIS + scroll.scrollTop) / ROW);

function show(from, to) {
	const least = data.single_runs ? LEAST_VIEW : 20 * data.part;
	const length = Math.min(Math.max(to - from, least), data.length);

	from = Math.min(Math.max(from, 0), data.length - length);
	view.from = from;
	view.to = from + length;
	$("tip").hidden = true;
	redraw();
}

function zoom(factor, x = NAMES + plotWidth() / 2) {
	const at = nsOf(Math.max(x, NAMES));

	show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

const move = share => show(view.from + share * (view.to - view.from),
	view.to + share * (view.to - view.from));

// -- painting -----------------------------------------------------------------

// Fills a rectangle of device pixels, below the axis and right of the names.
function fill(x0, x1, y0, y1, colour) {
	const left = Math.round(NAMES * scale), top = Math.round(AXIS * scale);

	x0 = Math.max(x0, left);
	x1 = Math.min(x1, canvas.width);
	y0 = Math.max(y0, top);
	y1 = Math.min(y1, canvas.height);
	if (x0 >= x1)
		return;
	// Most runs are narrow, for which a call takes longer than the pixels.
	for (let y = y0, at = y0 * canvas.width; y < y1; y++, at += canvas.width)
		if (x1 - x0 > 16)
			pixels.fill(colour, at + x0, at + x1);
		else
			for (let x = x0; x < x1; x++)
				pixels[at + x] = colour;
}

const device = css => Math.round(css * scale);

function visibleRows() {
	const first = Math.max(0, rowAt(AXIS)), last = Math.min(rows.length - 1, rowAt(high));

	return { first, last };
}

function paintBack(first, last) {
	pixels.fill(paint.back);
	for (let row = first; row <= last; row++)
		if (row % 2)
			fill(0, canvas.width, device(yOf(row)), device(yOf(row) + ROW), paint.row);
	for (const [from, to] of data.pauses)
		fill(device(xOf(from)), device(xOf(to)), 0, canvas.height, paint.pause);
	// Between the first and the last event that a CPU has lost, it may only seem to be idle.
	for (const [row, from, to] of data.losses)
		fill(device(xOf(from)), Math.max(device(xOf(to)), device(xOf(from)) + 1),
			device(yOf(row)), device(yOf(row) + ROW), paint.lost);
}

// The colour of a run; faint if the search looks for other tasks.
function colourOf(task) {
	return found && !found.has(task) ? paint.faint : colours[task];
}

function paintSums(first, last) {
	const perPixel = (view.to - view.from) / plotWidth() / scale;
	let number = 0;

	while (number + 1 < levels.length && levels[number + 1].width <= 2 * perPixel)
		number++;
	const level = drawn.level = levels[number];
	const from = Math.max(0, Math.floor(view.from / level.width));
	const to = Math.min(level.parts - 1, Math.floor(view.to / level.width));

	const places = Array.from({ length: to - from + 2 },
		(_, i) => device(xOf((from + i) * level.width)));

	for (let row = first; row <= last; row++) {
		const bottom = device(yOf(row) + (ROW + BAR) / 2), { cpu, task } = rows[row];

		if (task === undefined)
			paintCpu(level, cpu * level.parts + from, places, bottom);
		else
			paintTask(level, task, (task - 1) * level.parts + from, places, bottom);
	}
}

// The higher a bar, the more of the part's time it stands for.
function paintCpu(level, at, places, bottom) {
	const high = device(BAR) / 255;

	for (let i = 0; i + 1 < places.length; i++, at++)
		if (level.busy[at])
			fill(places[i], Math.max(places[i] + 1, places[i + 1]),
				bottom - Math.ceil(level.busy[at] * high), bottom,
				colourOf(level.top[at]));
}

function paintTask(level, task, at, places, bottom) {
	const high = device(BAR), share = high / 255;

	for (let i = 0; i + 1 < places.length; i++, at++) {
		const x0 = places[i], x1 = Math.max(x0 + 1, places[i + 1]);
		const run = bottom - Math.ceil(level.run[at] * share);
		const wait = run - Math.ceil(level.wait[at] * share);

		if (run < bottom)
			fill(x0, x1, run, bottom, colours[task]);
		if (wait < run)
			fill(x0, x1, Math.max(wait, bottom - high), run, paint.woken);
	}
}

// Returns the number of runs in the view.
function paintRuns(first, last) {
	let n = 0;

	for (const runs of single)
		for (let i = 0; i < runs.n; i++) {
			const begin = runs.end[i] - runs.length[i];

			if (runs.end[i] < view.from || begin - runs.wait[i] > view.to)
				continue;
			paintRun(runs, i, begin, first, last);
			n++;
		}
	return n;
}

function paintRun(runs, i, begin, first, last) {
	const task = runs.task[i], cpu = runs.cpu[i], row = rowOfTask[task];
	const x0 = device(xOf(begin)), x1 = Math.max(x0 + 1, device(xOf(runs.end[i])));
	const bar = (row, colour) => fill(x0, x1, device(yOf(row) + (ROW - BAR) / 2),
		device(yOf(row) + (ROW + BAR) / 2), colour);

	if (runs.length[i] && cpu >= first && cpu <= last)
		bar(cpu, colourOf(task));
	if (row < first || row > last)
		return;
	if (runs.wait[i]) {
		const since = device(xOf(begin - runs.wait[i]));

		fill(since, Math.max(x0, since + 1), device(yOf(row) + ROW / 2 - 2),
			device(yOf(row) + ROW / 2 + 2),
			runs.how[i] === PREEMPTED ? paint.preempted : paint.woken);
	}
	if (runs.length[i])
		bar(row, colours[task]);
}

// -- what is drawn over the image ---------------------------------------------

function drawAxis() {
	const length = view.to - view.from, about = length / plotWidth() * 110;
	const ten = 10 ** Math.floor(Math.log10(about));
	const step = [1, 2, 5, 10].map(n => n * ten).find(n => n >= about);
	// All times of an axis have the unit of the last one.
	const [unit, size] = unitOf(view.to);
	const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
	const text = ns => `${(ns / size).toFixed(Math.min(digits, 9))} ${unit}`;

	ctx.fillStyle = paint.dim;
	ctx.strokeStyle = paint.line;
	ctx.textAlign = "center";
	ctx.textBaseline = "middle";
	ctx.beginPath();
	for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step) {
		const x = xOf(ns);

		ctx.fillText(text(ns), Math.max(x, NAMES + 24), AXIS / 2);
		ctx.moveTo(x, AXIS - 5);
		ctx.lineTo(x, high);
	}
	ctx.globalAlpha = 0.6;
	ctx.stroke();
	ctx.globalAlpha = 1;
}

function drawNames(first, last) {
	ctx.fillStyle = css(paint.back);
	ctx.fillRect(0, 0, NAMES, high);
	ctx.textAlign = "left";
	ctx.textBaseline = "middle";
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, AXIS, NAMES - 6, high);
	ctx.clip();
	for (let row = first; row <= last; row++) {
		const is = hovered && hovered.row === row;

		ctx.fillStyle = is || rows[row].task === undefined ? paint.text : paint.dim;
		ctx.fillText(rows[row].name, 12, yOf(row) + ROW / 2);
		if (rows[row].task !== undefined) {
			ctx.fillStyle = css(colours[rows[row].task]);
			ctx.fillRect(3, yOf(row) + 4, 4, ROW - 8);
		}
	}
	ctx.restore();
}

const css = colour => `rgb(${colour & 255} ${colour >> 8 & 255} ${colour >> 16 & 255})`;

function drawArrow(x0, y0, x1, y1) {
	const angle = Math.atan2(y1 - y0, x1 - x0);

	ctx.moveTo(x0, y0);
	ctx.lineTo(x1, y1);
	ctx.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
	ctx.moveTo(x1, y1);
	ctx.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
}

// An arrow goes from the waker's row to the wakee's, at the time of the wake-up.
function arrowOf(runs, i) {
	const at = runs.end[i] - runs.length[i] - runs.wait[i];
	const from = rowOfTask[runs.waker[i]], to = rowOfTask[runs.task[i]];

	if (!runs.waker[i] || from < 0 || to < 0 || runs.how[i] >= PREEMPTED ||
	    at < view.from || at > view.to)
		return null;
	return { x: xOf(at), from: yOf(from) + ROW / 2, to: yOf(to) + ROW / 2 };
}

function drawArrows() {
	const all = [], last = single.at(late ? -2 : -1);

	for (const runs of single)
		for (let i = 0; i < runs.n; i++) {
			// What goes on is whole in the next block, if the view has it.
			const again = runs.state[i] === GOES_ON && runs !== last;
			const arrow = again ? null : arrowOf(runs, i);

			if (arrow && all.push(arrow) > MOST_ARROWS)
				return 0;
		}
	ctx.strokeStyle = paint.arrow;
	ctx.beginPath();
	for (const { x, from, to } of all) {
		const down = Math.sign(to - from);

		drawArrow(x, from + down * BAR / 2, x, to - down * 2);
	}
	ctx.stroke();
	return all.length;
}

// A frame around the chosen run, on its CPU and its task, and the arrow of who woke it.
function drawChosen() {
	const { begin, end, cpu, task, wait } = chosen;
	const x = xOf(begin), width = Math.max(2, xOf(end) - x);

	ctx.strokeStyle = paint.chosen;
	ctx.lineWidth = 1.5;
	for (const row of [cpu < NR_CPUS ? cpu : -1, rowOfTask[task]])
		if (row >= 0)
			ctx.strokeRect(x - 1, yOf(row) + 1, width + 2, ROW - 2);
	const from = rowOfTask[chosen.waker], to = rowOfTask[task];

	if (chosen.waker && from >= 0 && to >= 0 && chosen.how < PREEMPTED) {
		const woken = xOf(begin - wait);

		ctx.beginPath();
		drawArrow(woken, yOf(from) + ROW / 2, woken, yOf(to) + ROW / 2);
		ctx.stroke();
	}
	ctx.lineWidth = 1;
}

// Names within the bars of CPUs that have room for them.
function drawLabels(first, last) {
	ctx.textAlign = "left";
	for (const runs of single)
		for (let i = 0; i < runs.n; i++)
			if (runs.cpu[i] >= first && runs.cpu[i] <= last && runs.cpu[i] < NR_CPUS)
				drawLabel(runs, i);
}

function drawLabel(runs, i) {
	const x0 = Math.max(xOf(runs.end[i] - runs.length[i]), NAMES);
	const x1 = Math.min(xOf(runs.end[i]), wide);

	if (x1 - x0 < 40)
		return;
	const name = taskName(runs.task[i]);

	if (x1 - x0 < 12 + 6.5 * name.length)
		return;
	ctx.fillStyle = isBright(colourOf(runs.task[i])) ? "#101216" : "#ffffff";
	ctx.fillText(name, x0 + 5, yOf(runs.cpu[i]) + ROW / 2);
}

function draw() {
	const begun = performance.now();
	const { first, last } = visibleRows();

	single = blocksOf(view.from, view.to);
	paintBack(first, last);
	drawn.runs = 0;
	drawn.arrows = 0;
	if (single)
		drawn.runs = paintRuns(first, last);
	else if (levels.length)
		paintSums(first, last);
	ctx.setTransform(1, 0, 0, 1, 0, 0);
	ctx.putImageData(image, 0, 0);
	ctx.setTransform(scale, 0, 0, scale, 0, 0);
	ctx.font = "12px system-ui, sans-serif";
	drawAxis();
	ctx.save();
	ctx.beginPath();
	ctx.rect(NAMES, AXIS, wide, high);
	ctx.clip();
	if (single) {
		drawLabels(first, last);
		if (arrows)
			drawn.arrows = drawArrows();
	}
	if (chosen)
		drawChosen();
	ctx.restore();
	drawNames(first, last);
	drawn.ms = performance.now() - begun;
}

let asked = false;

function redraw() {
	if (asked)
		return;
	asked = true;
	requestAnimationFrame(() => {
		asked = false;
		draw();
	});
}
