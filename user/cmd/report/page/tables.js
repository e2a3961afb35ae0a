// SPDX-License-Identifier: GPL-2.0-only
//
// The table of tasks, the histogram, and how the page begins.

// -- tables -------------------------------------------------------------------

const COLUMNS = [
	["task", task => `${task.name}:${task.pid}`, null],
	["run", task => task.run, time], ["sleeps", task => task.sleeps, count],
	["preempted", task => task.preemptions, count],
	["migrations", task => task.migrations, count],
	["waits", task => task.delays, count], ["median", task => task.median, time],
	["99 %", task => task.p99, time], ["longest", task => task.max, time],
	["began at", task => task.max_at ?? -1, ns => ns < 0 ? "" : `<a>${clock(ns)} s</a>`],
];
let sorted = { column: 1, down: true };

function fillTable() {
	const value = COLUMNS[sorted.column][1];
	const numbers = data.tasks.map((_, i) => i + 1).filter(i => !found || found.has(i));
	const compare = (a, b) => {
		const x = value(data.tasks[a - 1]), y = value(data.tasks[b - 1]);

		return (x < y ? -1 : x > y ? 1 : a - b) * (sorted.down ? -1 : 1);
	};
	const mark = i => i !== sorted.column ? "" : sorted.down ? " ↓" : " ↑";
	const head = COLUMNS.map(([name], i) => `<th>${name}${mark(i)}</th>`).join("");
	const lines = numbers.sort(compare).map(i => `<tr data-task="${i}">` +
		COLUMNS.map(([, get, form]) => {
			const is = get(data.tasks[i - 1]);

			return `<td>${form ? form(is) : `<a>${escape(is)}</a>`}</td>`;
		}).join("") + "</tr>").join("");

	$("table").innerHTML =
		`<table><thead><tr>${head}</tr></thead><tbody>${lines}</tbody></table>`;
}

$("table").addEventListener("click", event => {
	const head = event.target.closest("th"), line = event.target.closest("tr[data-task]");

	if (head) {
		const column = head.cellIndex;

		sorted = { column, down: sorted.column === column ? !sorted.down : column > 0 };
		fillTable();
	} else if (line) {
		const number = Number(line.dataset.task), task = data.tasks[number - 1];
		const column = event.target.closest("td").cellIndex;

		if (column === COLUMNS.length - 1 && task.max_at !== undefined)
			showWait(number, task);
		toRow(rowOfTask[number]);
		scroll.scrollIntoView({ block: "nearest" });
	}
});

// Shows the longest time that a task waited for a CPU, and what came before and after.
function showWait(number, task) {
	show(task.max_at - 2 * task.max, task.max_at + 4 * task.max);
	chooseAt(number, task.max_at + task.max);
}

// -- histogram ----------------------------------------------------------------

// The buckets of the data are at most 1 % wide; a bar has those of a few pixels.
const BARS = 96;
let bars = [];

const barAt = at => bars[Math.min(Math.max(Math.floor(at), 0), BARS - 1)];

function makeBars() {
	const least = Math.log10(100), most = Math.log10(Math.max(data.max || 0, 1e6));

	bars = Array.from({ length: BARS }, (_, i) => ({
		from: i ? 10 ** (least + (most - least) * i / BARS) : 0,
		to: 10 ** (least + (most - least) * (i + 1) / BARS), n: 0,
	}));
	for (const [length, n] of data.histogram) {
		const at = (Math.log10(Math.max(length, 1)) - least) / (most - least) * BARS;

		barAt(at).n += n;
	}
}

function drawHistogram() {
	const graph = $("histogram"), pen = graph.getContext("2d");
	const width = graph.clientWidth, height = graph.clientHeight, base = height - 20;
	const most = Math.max(...bars.map(bar => bar.n), 1);

	graph.width = width * scale;
	graph.height = height * scale;
	pen.scale(scale, scale);
	pen.font = "11px system-ui, sans-serif";
	bars.forEach((bar, i) => {
		const tall = Math.log1p(bar.n) / Math.log1p(most) * (base - 8);

		pen.fillStyle = css(paint.woken);
		pen.fillRect(i * width / BARS, base - tall, width / BARS - 1, tall);
	});
	pen.fillStyle = paint.dim;
	pen.textAlign = "center";
	for (let i = 8; i < BARS; i += 16)
		pen.fillText(time(bars[i].from, 0), i * width / BARS, height - 6);
}

$("histogram").addEventListener("pointermove", event => {
	const bar = barAt(event.offsetX / $("histogram").clientWidth * BARS);

	$("bucket").textContent =
		`${count(bar.n)} waits of ${time(bar.from, 1)} to ${time(bar.to, 1)}`;
});

// -- the beginning ------------------------------------------------------------

function fillTexts() {
	const lost = data.lost ? `, ${count(data.lost)} lost` : "";

	document.title = `${data.tape}: schedtape`;
	$("tape").textContent = data.tape;
	const of = data.selected ? "a part of " : "";

	$("facts").textContent =
		`${time(data.length)}, ${of}${count(data.events)} events${lost}, ` +
		`${count(NR_TASKS + data.other_tasks)} tasks, ${NR_CPUS} CPUs`;
	$("figures").textContent = `${count(data.delays)} waits: median ${time(data.median)}, ` +
		`95 % within ${time(data.p95)}, 99 % within ${time(data.p99)}, ` +
		`longest ${time(data.max)}. Bars are logarithmic.`;
	const notes = [];

	if (!data.single_runs)
		notes.push("This page has no single runs, because it would be too large: the " +
			`shortest time that it tells apart is ${time(data.part)}. A page of a ` +
			"part of the recording has them: " +
			"schedtape report --html FILE --time FROM,TO.");
	if (data.other_tasks)
		notes.push(`${count(data.other_tasks)} tasks with less CPU time have no row.`);
	$("note").hidden = !notes.length;
	$("note").textContent = notes.join(" ");
}

async function begin() {
	makeColours();
	makeRows();
	resize();
	fillTexts();
	makeBars();
	readSums(await inflate("sums"));
	if (data.late)
		readLate().then(redraw);
	draw();
	performance.mark("first picture");
	fillTable();
	drawHistogram();
}

addEventListener("resize", () => {
	resize();
	drawHistogram();
	redraw();
});
scroll.addEventListener("scroll", redraw);
$("search").addEventListener("input", event => search(event.target.value));
$("whole").addEventListener("click", () => show(0, data.length));
$("theme").addEventListener("click", toggleTheme);
$("keys").addEventListener("click", toggleHelp);

// For tests, and for whoever wants more from the console.
window.schedtape = {
	data, view, show, zoom, move, draw, search, choose, chooseNext, runOf, runUnder,
	toRow, xOf, yOf, rows: () => rows, ready: begin().catch(error => {
		$("note").hidden = false;
		$("note").textContent = `This browser cannot show the page: ${error.message}`;
		throw error;
	}), drawn: () => drawn, single: () => single, chosen: () => chosen, block,
	setDark: is => is === dark || toggleTheme(),
};
