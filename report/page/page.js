/* global CallsView */

// The page works without this script. The script adds: one view at a time, keys, links that survive another run, sorting,
// counts in other units, the jump at the cursor, the map, the sums of selections, sources beside the code.
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (tag, properties, ...children) => {
	const el = Object.assign(document.createElement(tag), properties);
	el.append(...children);
	return el;
};
const svg = (tag, attributes) => {
	const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const name in attributes) el.setAttribute(name, attributes[name]);
	return el;
};

const ROW = 16; // the height of a row, as in the style sheet
const root = document.documentElement;
const data = JSON.parse($("#data").textContent);
const overview = $("#overview");
const articles = $$(".code");
const sections = $$(".profile");
const fileOf = new Map(); // method → index of its file
const placeOf = (method, line) => data.moved?.[method]?.[line] ?? [fileOf.get(method), line];
data.files?.forEach((file, i) => file.methods.forEach((m) => fileOf.set(m, i)));
const marked = new Map(); // class → its elements; searching a large page is slow
let profile = 0;
let event = 0;
let unit = data.unit || "percent";
let only = null; // for each part of the profile, whether its samples count; null if all do
let version = 0; // changes whenever only does
let totals = []; // how many samples of the profile count, by event
let code = null; // the info of the shown listing; null in the overview
let cursor = null; // row
let anchor = null; // where the selection began
let inCalls = false; // the view of calls is shown

function mark(name, elements) {
	marked.get(name)?.forEach((el) => el.classList.remove(name));
	elements.forEach((el) => el.classList.add(name));
	marked.set(name, elements);
}

// --- listings ---

const infos = new Map();
const firstOf = data.profiles.map((_, p) => articles.findIndex((a) => +a.dataset.p === p));

// info returns what the script knows about a listing, since it was first shown.
function info(article) {
	let it = infos.get(article);
	if (it) return it;
	const p = +article.dataset.p;
	it = { article, p, ...data.profiles[p].code[articles.indexOf(article) - firstOf[p]] };
	it.rows = $$(".r", article);
	it.rows.forEach((r, i) => (r.at = i));
	it.starts = $$(".s", article);
	it.box = $(".rows", article);
	it.lines = $(".lines", article);
	it.map = $(".map", article);
	it.chainBox = $(".chain", article);
	it.jumpsBox = $(".jumps", article);
	it.groups = $$(".g", article).map((el) => ({ el, first: $(".r", el).at }));
	it.groups.forEach((g, i) => {
		g.n = (it.groups[i + 1]?.first ?? it.rows.length) - g.first;
		for (let k = 0; k < g.n; k++) it.rows[g.first + k].group = g;
	});
	it.jumps = new Map(); // id → the rows that jump there
	it.jumpRows = [];
	for (const a of $$("code a", article)) {
		const to = a.getAttribute("href").slice(1);
		if (!it.jumps.has(to)) it.jumps.set(to, []);
		const row = a.parentNode.parentNode;
		it.jumps.get(to).push(row);
		if (isJump(row)) it.jumpRows.push(row);
	}
	it.data = JSON.parse($(".d", article).textContent);
	it.other = it.data.other;
	it.chains = it.data.chains || [];
	it.byChain = new Map();
	for (const r of it.rows) {
		const f = r.dataset.f;
		if (f === undefined) continue;
		if (!it.byChain.has(+f)) it.byChain.set(+f, []);
		it.byChain.get(+f).push(r);
	}
	it.hot = [];
	it.dirty = true;
	infos.set(article, it);
	article.addEventListener("toggle", () => ((it.dirty = true), later(drawMap)), true);
	it.box.addEventListener("scroll", () => later(drawView), { passive: true });
	it.map.addEventListener("click", (e) => {
		const y = (e.offsetY / it.map.clientHeight) * height(it);
		setCursor(rowAtY(it, y), { center: true });
	});
	return it;
}

// share adds up the parts that count. In "0.12 3 7.2", part 0 has 12 samples, part 3 has 1, part 7 has 2.
function share(text) {
	let sum = 0;
	for (const one of text ? text.split(" ") : []) {
		const [part, n] = one.split(".");
		if (only[part]) sum += +(n ?? 1);
	}
	return sum;
}
const samplesOf = (el) => (only ? (el.sum ?? share(el.dataset.v)) : +el.dataset.n);
const eventOf = (el) => +(el.dataset.e || 0);
function countsOf(row) {
	if (row.version !== version) {
		row.version = version;
		row.counts = [];
		for (const b of row.getElementsByTagName("b")) row.counts[eventOf(b)] = samplesOf(b);
	}
	return row.counts;
}
const countsOfMethod = (it) => (only ? it.parts.map(share) : it.counts);
const count = (row, e = event) => countsOf(row)[e] || 0;
const offset = (row) => parseInt(row.id.slice(row.id.indexOf("-") + 1), 16);
// lastOf returns the last element of a sorted list for which ok is true, or the first element.
function lastOf(list, ok) {
	let [lo, hi] = [0, list.length - 1];
	while (lo < hi) {
		const mid = (lo + hi + 1) >> 1;
		if (ok(list[mid])) lo = mid;
		else hi = mid - 1;
	}
	return list[lo];
}
// rowAt returns the instruction at an offset, or the last one before it.
const rowAt = (it, at) => lastOf(it.rows, (row) => offset(row) <= at);
const rowById = (id) => {
	const el = document.getElementById(id);
	return el && el.classList.contains("r") ? el : null;
};

// hotRows returns the rows with samples of the event, the hottest one first.
function hotRows(it) {
	return (it.hot[event] ??= it.rows.filter((r) => count(r)).sort((a, b) => count(b) - count(a) || a.at - b.at));
}

// layout computes where each group is. All rows have the same height, so it measures nothing. The browser knows the height
// of each chunk before it comes into view.
function layout(it) {
	if (!it.dirty) return;
	let y = it.lines.firstElementChild.matches(".events") ? ROW : 0;
	const heights = new Map();
	for (const g of it.groups) {
		g.y = y;
		g.open = g.el.open;
		const n = 1 + (g.open ? g.n : 0);
		y += n * ROW;
		for (let el = g.el.parentNode; el !== it.lines; el = el.parentNode) heights.set(el, (heights.get(el) || 0) + n);
	}
	for (const [chunk, n] of heights) if (chunk.n !== n) chunk.style.setProperty("--r", (chunk.n = n));
	it.height = y;
	it.dirty = false;
}
const height = (it) => (layout(it), it.height);
function rowY(it, row) {
	layout(it);
	const g = row.group;
	return g.y + (g.open ? (1 + row.at - g.first) * ROW : 0);
}
function rowAtY(it, y) {
	layout(it);
	const g = lastOf(it.groups, (one) => one.y <= y);
	const n = Math.floor((y - g.y) / ROW) - 1;
	return it.rows[g.first + Math.min(Math.max(n, 0), g.n - 1)];
}

// --- counts ---

const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
function percent(n, total) {
	if (!n || !total) return "";
	const hundredths = Math.floor((20000 * n + total) / (2 * total));
	return hundredths ? `${(hundredths / 100).toFixed(2)}%` : "<0.01%";
}
function amount(n, e, p, it, as = unit) {
	const of = data.profiles[p];
	if (!n) return "";
	if (as === "raw") return number(n);
	if (as === "norm" && of.perOp?.[e]) return (n * of.perOp[e].factor).toFixed(of.perOp[e].decimals);
	return percent(n, as === "method" && it ? countsOfMethod(it)[e] : p === profile ? totals[e] : of.totals[e]);
}
const heat = (n, e = event) => (n ? [0.001, 0.005, 0.015, 0.05, 0.15].filter((from) => n >= from * totals[e]).length + 1 : 0);
function rewrite(within, it) {
	for (const el of $$("[data-n]", within)) {
		const p = it ? it.p : +(el.closest("[data-p]")?.dataset.p ?? profile);
		const n = p === profile ? samplesOf(el) : +el.dataset.n;
		const text = amount(n, eventOf(el), p, it, el.dataset.u);
		const row = it && el.parentNode.matches(".r, summary");
		el.textContent = row ? text.padStart(8) : text;
		if (row) el.className = `h${heat(n, eventOf(el))}`;
	}
}
// refresh updates counts after a change of what counts, or of the unit.
function refresh() {
	if (inCalls) return calls.refresh();
	const shown = code || overview;
	const state = `${unit} ${version}`;
	if ((shown.state ?? "percent 0") === state) return;
	shown.state = state;
	if (code) {
		if (only) sumParts(code);
		return rewrite(code.article, code);
	}
	rewrite(overview, null);
	$$(`#p${profile} table`).forEach(scale);
	const spans = $$(`#p${profile} .stack span`);
	$$(`#p${profile} .sources b`).forEach((b, i) => (spans[i].style.width = `${(100 * samplesOf(b)) / totals[0]}%`));
}
function setUnit(next) {
	unit = next;
	$("#unit").value = unit;
	refresh();
	if (code && cursor) setCursor(cursor, { still: true });
	if (code) drawSources();
}
// sumParts adds up the parts of blocks, loops and inlined methods. The page has only those of instructions.
function sumParts(it) {
	const loops = [];
	for (const g of it.groups) {
		const rows = it.rows.slice(g.first, g.first + g.n);
		const sums = totals.map((_, e) => rows.reduce((sum, r) => sum + count(r, e), 0));
		for (const b of $$("summary b", g.el)) b.sum = sums[eventOf(b)];
		for (let l = +g.el.dataset.l || 0; l; l = it.data.loops[l - 1]) loops[l] = (loops[l] || 0) + sums[0];
	}
	const methods = new Map(); // name → self, total
	for (const [c, rows] of it.byChain) {
		const n = rows.reduce((sum, r) => sum + count(r, 0), 0);
		const names = it.chains[c].filter((_, i) => i % 3 === 0).map((m) => it.data.methods[m]);
		for (const name of new Set(names)) {
			const [self, all] = methods.get(name) ?? [0, 0];
			methods.set(name, [self + (name === names[0] ? n : 0), all + n]);
		}
	}
	$(".about b", it.article).sum = countsOfMethod(it)[0];
	for (const { cells } of $$(".loops .lp", it.article)) cells[0].sum = loops[cells[1].textContent.slice(5)] ?? 0;
	for (const { cells } of $$(".inlined tbody tr", it.article)) [cells[0].sum, cells[1].sum] = methods.get(cells[2].title) ?? [0, 0];
}
// scale sets the lengths of a table's bars, relative to the most samples in it, and sorts the table again.
function scale(table) {
	const most = [];
	const cells = $$("[data-n]", table).map((el) => [el, samplesOf(el), eventOf(el)]);
	for (const [, n, e] of cells) most[e] = Math.max(most[e] || 1, n);
	for (const [el, n, e] of cells) el.style.setProperty("--w", `${(100 * n) / most[e]}%`);
	for (const tr of table.tBodies[0].rows) {
		const counts = $$("[data-n]", tr);
		tr.hidden = only && counts.length && !counts.some(samplesOf);
	}
	table.sort();
}

// --- threads and time: only the samples of some parts of the profile ---

let choices = {}; // of the profile: texts, and the numbers of threads or slices that they mean
function listChoices() {
	choices = { threads: [], time: [] };
	const { threads = [], slices = [], warm } = data.profiles[profile].parts ?? {};
	const add = (list, all, whole, name) => {
		const groups = new Set(all.map((one) => one[whole]));
		for (const text of groups) {
			const of = [...all.keys()].filter((i) => all[i][whole] === text);
			const several = groups.size > 1;
			if (several) list.push({ text, of });
			if (of.length > 1) for (const i of of) list.push({ text: (several ? `${text}: ` : "") + name(all[i]), of: [i] });
		}
	};
	add(choices.threads, threads, "kind", (t) => t.name || "others");
	if (warm) choices.time.push({ text: "after warm-up", of: warm });
	add(choices.time, slices, "jvm", (s) => s.name);
	for (const [name, list] of Object.entries(choices)) {
		const select = $(`#${name}`);
		select.hidden = $(`[for=${name}]`).hidden = list.length < 2;
		select.replaceChildren(make("option", { value: 0, textContent: "all" }));
		list.forEach((choice) => addOption(select, choice));
	}
}
const addOption = (select, { text }) => select.append(make("option", { value: select.length, textContent: text }));
// choose makes only the samples of some threads and of some slices of time count.
function choose() {
	const { parts, totals: whole } = data.profiles[profile];
	const [threads, time] = ["threads", "time"].map((name) => choices[name][$(`#${name}`).value - 1]);
	const ok = (choice, i) => !choice || choice.of.includes(i);
	only = threads || time ? parts.list.map(([slice, thread]) => ok(threads, thread) && ok(time, slice)) : null;
	totals = only ? parts.all.map(share) : whole;
	version = only || version ? version + 1 : 0;
	for (const it of infos.values()) it.hot = [];
	root.classList.toggle("filtered", !!only);
	$("#only").hidden = !only;
	const names = [threads, time].flatMap((choice) => choice?.text ?? []).join(", ");
	$("#only span").textContent =
		`Only ${names}: ${totals.map((n, e) => `${number(n)} of ${number(whole[e])}`).join(", ")} samples. Percentages are of these; tables without samples by thread and time are hidden.`;
	$$(".pick").forEach((el) => el.classList.toggle("on", !!time && ok(time, +el.dataset.slice)));
	refresh();
	if (!code) return;
	drawMap();
	drawSources();
	setCursor(cursor, { still: true });
}
// pick chooses a slice of time. With extend, it chooses all slices from the one chosen before.
function pick(slice, extend) {
	const select = $("#time");
	const { slices } = data.profiles[profile].parts;
	const before = choices.time[select.value - 1]?.of ?? [];
	const ends = extend && before.length ? [before[0], slice].sort((a, b) => a - b) : [slice, slice];
	const of = [...slices.keys()].filter((i) => i >= ends[0] && i <= ends[1]);
	let at = choices.time.findIndex((choice) => String(choice.of) === String(of));
	if (at < 0) {
		at = choices.time.push({ text: ends.map((i) => `${slices[i].jvm}: ${slices[i].name}`).join(" to "), of }) - 1;
		addOption(select, choices.time[at]);
	}
	select.value = +select.value === at + 1 ? 0 : at + 1;
	choose();
}
function nextChoice(name) {
	const select = $(`#${name}`);
	select.value = (+select.value + 1) % select.length;
	choose();
}
function units() {
	const list = [
		["percent", "% of all"],
		["method", "% of the method"],
		["raw", "samples"],
	];
	const perOp = data.profiles[profile]?.perOp;
	if (perOp) list.push(["norm", perOp[0].unit]);
	$("#unit").replaceChildren(...list.map(([value, text]) => make("option", { value, textContent: text })));
	if (!list.some(([value]) => value === unit)) unit = "percent";
	$("#unit").value = unit;
}

// --- links that survive another run: #m=java.util.HashMap::getNode&t=c2, level 4&o=0x3c&p=trial ---

const quote = (text) => encodeURIComponent(text).replace(/%(3A|2C|24|2F)/g, decodeURIComponent);
const profileLink = () => (data.profiles.length > 1 ? `&p=${quote(data.profiles[profile].name)}` : "");
function link(it, row) {
	const same = data.profiles[it.p].code.filter((c) => c.method === it.method && c.tier === it.tier);
	const nth = same.findIndex((c) => c.id === it.id);
	return `#m=${quote(it.method)}&t=${quote(it.tier)}${nth > 0 ? `&n=${nth + 1}` : ""}${row ? `&o=0x${offset(row).toString(16)}` : ""}${profileLink()}`;
}
// resolve finds the place in this page that a link means.
function resolve(hash) {
	const el = hash.includes("=") ? null : document.getElementById(hash.slice(1));
	if (el?.classList.contains("r")) return { article: el.closest(".code"), row: el };
	if (el?.classList.contains("code")) return { article: el };
	if (el && overview.contains(el)) return { section: el };
	const q = Object.fromEntries(new URLSearchParams(hash.slice(1)));
	let p = data.profiles.findIndex((one) => one.name === q.p);
	if (p < 0) p = profile;
	if (q.g && calls) return { graph: new URLSearchParams(hash.slice(1)), p };
	if (!q.m) return { p: q.p ? p : undefined };
	const ok = (c) => c.method === q.m;
	let list = data.profiles[p].code.map((c, i) => [c, i]).filter(([c]) => ok(c));
	if (!list.length) return { missing: q.m, p };
	const tier = list.filter(([c]) => c.tier === q.t);
	if (tier.length) list = tier;
	const article = articles[firstOf[p] + list[Math.min((+q.n || 1) - 1, list.length - 1)][1]];
	const at = parseInt(q.o, 16);
	const row = Number.isNaN(at) ? null : rowAt(info(article), at);
	return { article, row };
}
// push adds a place to the browser's history. depth counts the places that the page has added. y is how far the tables
// were scrolled at the place that is left, for the way back.
function push(hash) {
	history.replaceState({ ...history.state, y: $("#main").scrollTop }, "");
	history.pushState({ depth: (history.state.depth || 0) + 1 }, "", hash);
}
function follow(hash, pushed) {
	const to = resolve(hash);
	if (pushed) push(to.article ? link(info(to.article), to.row || undefined) : hash);
	notice(to.missing ? `${to.missing} has no code in this page.` : "");
	if (to.article) return showCode(to.article, to.row);
	if (to.graph) return showCalls(to);
	if (to.p !== undefined) setProfile(to.p);
	showOverview(to.section);
}
function notice(text) {
	$("#notice").textContent = text;
	$("#notice").hidden = !text;
}

// --- views ---

// The browser's search finds hidden text too, if the browser supports that.
const hidden = "onbeforematch" in root ? "until-found" : "";
const hide = (el, away) => (away ? el.setAttribute("hidden", hidden) : el.removeAttribute("hidden"));
function setProfile(p) {
	if (p === profile && units.done) return;
	units.done = true;
	profile = p;
	event = Math.min(event, Math.max(data.profiles[p].events.length - 1, 0));
	units();
	code = null;
	listChoices();
	choose();
	sections.forEach((s, i) => hide(s, i !== p));
	const select = $("#switch select");
	if (select) select.value = p;
}
// leaveCalls hides the view of calls. While it is hidden, its samples are not counted.
function leaveCalls() {
	inCalls = false;
	root.classList.remove("in-calls");
	if (calls) calls.el.hidden = true;
}
function showCalls({ graph, p }) {
	setProfile(p);
	code = cursor = anchor = null;
	root.classList.remove("in-code");
	root.classList.add("in-calls");
	articles.forEach((a) => hide(a, true));
	hide(overview, true);
	calls.el.hidden = false;
	inCalls = true;
	calls.show(graph);
	document.title = `Calls: ${data.profiles[profile].name} – gasm`;
}
function showOverview(section) {
	leaveCalls();
	code = null;
	cursor = anchor = null;
	root.classList.remove("in-code");
	articles.forEach((a) => hide(a, true));
	hide(overview, false);
	const p = section?.closest(".profile");
	if (p) setProfile(+p.dataset.p);
	refresh();
	if (section) section.scrollIntoView();
	document.title = `gasm: ${data.profiles[profile]?.name ?? ""}`;
}
function showCode(article, row, options = {}) {
	const it = info(article);
	leaveCalls();
	if (code !== it) {
		setProfile(it.p);
		code = it;
		cursor = anchor = null;
		root.classList.add("in-code");
		articles.forEach((a) => hide(a, a !== article));
		hide(overview, true);
		refresh();
		document.title = `${it.method} – gasm`;
		const source = $("#source");
		if (source) $(".slot", article).append(source);
		drawSources();
		drawMap();
	}
	setCursor(row || hotRows(it)[0] || it.rows[0], { center: true, ...options });
}
function open(article, row) {
	push(link(info(article), row));
	notice("");
	showCode(article, row);
}

// --- the cursor ---

let pending = 0;
const waiting = new Set();
function later(draw) {
	waiting.add(draw);
	pending ||= requestAnimationFrame(() => {
		pending = 0;
		const todo = [...waiting];
		waiting.clear();
		if (code) todo.forEach((f) => f());
	});
}
function setCursor(row, { center, extend, still } = {}) {
	if (!row) return;
	const g = row.group;
	if (!g.el.open) {
		g.el.open = true;
		code.dirty = true;
	}
	if (!still) reveal(row, center); // before any change, which makes the browser compute all positions again
	mark("rel", []);
	if (cursor && cursor !== row) cursor.removeAttribute("tabindex");
	if (!extend) anchor = row;
	cursor = row;
	mark("cur", [row]);
	row.tabIndex = 0;
	if (!still) {
		row.focus({ preventScroll: true });
		const hash = link(code, row);
		if (hash !== location.hash) history.replaceState(history.state, "", hash);
	}
	showSelection();
	drawJump();
	drawChain();
	later(drawView);
}
function reveal(row, center) {
	const { box } = code;
	const y = rowY(code, row);
	const [view, was] = [box.clientHeight, box.scrollTop];
	let top = was;
	if (center) top = y - view * 0.4;
	else if (y < was + 2 * ROW) top = y - 3 * ROW;
	else if (y > was + view - 4 * ROW) top = y - view + 5 * ROW;
	if (top === was) return;
	if (Math.abs(top - was) > view) showFirst(code, Math.max(top, 0), view);
	box.scrollTop = top;
}
// showFirst makes the browser draw the visible chunks first after a jump. The chunks around them, which it prepares for
// scrolling, are several times as many.
function showFirst(it, top, view) {
	const first = new Map(); // chunk → its visibility
	const around = 1.5 * root.clientHeight + 60 * ROW; // how far beyond the view Chromium lays out
	const chunks = (y) => {
		const all = [];
		for (let k = rowAtY(it, y).closest(".k"); k; k = k.parentElement.closest(".k")) all.push(k);
		return all;
	};
	for (let y = top; y < top + view + ROW; y += ROW) chunks(y).forEach((k) => first.set(k, "visible"));
	for (let y = top - around; y < top + view + around; y += 8 * ROW) {
		const k = chunks(y).findLast((one) => first.get(one) !== "visible");
		if (k) first.set(k, "hidden");
	}
	const show = (as) => first.forEach((how, k) => (k.style.contentVisibility = as ?? how));
	show();
	setTimeout(show, 60, "");
}
const selected = () => (cursor ? code.rows.slice(Math.min(anchor.at, cursor.at), Math.max(anchor.at, cursor.at) + 1) : []);
function showSelection() {
	const rows = selected();
	mark("sel", rows.length > 1 ? rows : []);
	const sums = data.profiles[code.p].events.map((_, e) => rows.reduce((n, r) => n + count(r, e), 0));
	const parts = [rows.length > 1 ? `${number(rows.length)} instructions selected` : place(cursor)];
	sums.forEach((n, e) => {
		const name = sums.length > 1 ? `${data.profiles[code.p].events[e]} ` : "";
		const perOp = data.profiles[code.p].perOp?.[e];
		parts.push(
			n
				? `${name}${percent(n, totals[e])} of all, ${percent(n, countsOfMethod(code)[e])} of the method, ${samples(n)}` +
						(perOp ? `, ${amount(n, e, code.p, code, "norm")} (${perOp.unit})` : "")
				: `${name}no samples`,
		);
	});
	if (rows.length === 1) {
		const loop = $(".loop", cursor.group.el);
		parts.push(blockOf(cursor));
		if (loop) parts.push(loop.textContent);
	}
	$("#where").textContent = parts.filter(Boolean).join(" · ");
}
const note = (...children) => make("p", { className: "note" }, ...children);
const samples = (n) => `${number(n)} sample${n > 1 ? "s" : ""}`;
// place returns where a row is, as offset and as address: "+0x1a0 (0x7f4ddbed18a0)".
const place = (row) => `+0x${offset(row).toString(16)} (0x${$("code", row).previousSibling.data.match(/\w+/)})`;
const linkTo = (row) => make("a", { href: `#${row.id}`, textContent: place(row) });
const targetOf = (row) => {
	const a = $("code a", row);
	return a && rowById(a.hash.slice(1));
};
const links = (rows, most) => [
	...rows.slice(0, most).flatMap((r) => [" ", linkTo(r)]),
	rows.length > most ? ` and ${rows.length - most} more` : "",
];
const mnemonic = (row) => $("code", row).textContent.trim().split(/\s/)[0];
const isJump = (row) => /^(j|b$|b\.|cbn?z|tbn?z)/.test(mnemonic(row));
// blockOf returns the name of a row's block. Blocks without samples share a heading: B61–B68.
function blockOf(row) {
	const { el, first } = row.group;
	const b = $("summary", el).textContent.match(/B(\d+)(–B\d+)?/);
	const nth = code.starts.filter((r) => r.at > first && r.at <= row.at).length;
	return `B${+b[1] + nth}${b[2] ? ` of ${b[0]}` : ""}`;
}
// goal describes where a jump leads: the instruction, its block with its samples, the uncommon trap at its end.
function goal(to) {
	const { first, n } = to.group;
	const sum = code.rows.slice(first, first + n).reduce((all, r) => all + count(r), 0);
	const facts = [sum ? `${percent(sum, totals[event])}, ${samples(sum)}` : "no samples"];
	for (const r of code.rows.slice(to.at, first + n)) {
		const trap = r.textContent.match(/\{(?:runtime_call )?[^ {}]*uncommon_?trap[^{}]*\}\s*(\*.*)?/i);
		if (trap) facts.push(`uncommon trap${trap[1] ? `: ${trap[1].trim()}` : ""}`);
		if (trap || isJump(r) || mnemonic(r).startsWith("ret")) break;
	}
	return [linkTo(to), `, block ${blockOf(to)} (${facts.join("; ")})`];
}
// drawJump marks the arrow and the target of the jump at the cursor.
function drawJump() {
	code.arrow ??= code.lines.appendChild(make("div", { className: "hl" }));
	code.arrow.hidden = true;
	const to = targetOf(cursor);
	const jumps = $$(".jit", cursor).map((q) => note(q.textContent));
	mark("to", to ? [to] : []);
	if (to) {
		const i = $("i", cursor);
		const column = i ? i.textContent.search(/[╭╰├┏┗┣↺]/) : -1;
		if (column >= 0 && to !== cursor && to.group.el.open) {
			const before = cursor.textContent.indexOf(i.textContent) + column;
			const a = rowY(code, cursor) + ROW / 2;
			const b = rowY(code, to) + ROW / 2;
			code.arrow.style.cssText = `left:calc(${before}.4ch + 3px);top:${Math.min(a, b) - 1}px;height:${Math.abs(a - b) + 2}px`;
			code.arrow.hidden = false;
		}
		jumps.push(
			note("jumps to ", ...goal(to), `, ${number(Math.abs(to.at - cursor.at))} instructions ${to.at > cursor.at ? "down" : "up"}`),
		);
	}
	const next = !to && code.jumpRows.find((r) => r.at > cursor.at);
	if (next)
		jumps.push(note("next jump: ", make("code", { textContent: mnemonic(next) }), " at ", linkTo(next), " → ", ...goal(targetOf(next))));
	const loop = $(".loop", cursor.group.el);
	if (loop) {
		const text = loop.textContent.replace(/^↻ (loop \d+) begins/, "$1, where it begins");
		const l = +cursor.group.el.dataset.l;
		const ends = (code.data.ends?.[l - 1] ?? []).map((i) => code.rows[i]);
		const closes = ends.length ? [`; loop ${l} closes at`, ...links(ends, 3)] : [];
		jumps.push(note(text.startsWith("in ") ? text : `in ${text}`, ...closes));
		const row = $$(".loops .lp", code.article).find((r) => r.cells[1].textContent === `loop ${l}`);
		const limit = row && $("br + span", row.nextElementSibling); // the line after what the loop is
		if (limit) jumps.push(note(limit.textContent));
	}
	const from = code.jumps.get(cursor.id) || [];
	if (from.length) jumps.push(note("reached by jumps from", ...links(from, 6)));
	const above = count(cursor) && code.rows[cursor.at - 1];
	const entry = cursor.at === cursor.group.first && /Entry Point\]/.test($("summary", cursor.group.el).textContent);
	if (above)
		jumps.push(
			note(
				"samples tend to be charged to the instruction after the slow one: look at ",
				...(entry ? ["the calls of this method, because it is entered here"] : [linkTo(above), " above, too"]),
			),
		);
	code.jumpsBox.replaceChildren(...jumps);
}
// frames returns the inlining chain of a row, the innermost frame first.
function frames(row) {
	const chain = code.chains[row.dataset.f];
	const out = [];
	const n = 3 * code.data.guessed?.[row.dataset.f];
	for (let i = 0; chain && i < chain.length; i += 3)
		out.push({ method: code.data.methods[chain[i]], bci: chain[i + 1], line: chain[i + 2], guess: i < n });
	return out;
}
function drawChain() {
	const chain = frames(cursor);
	const outer = [...chain].reverse();
	const lines = outer.map((f, d) => {
		const [file, line] = data.moved?.[f.method]?.[f.line] ?? [];
		const moved = line ? ` (${baseName(file)}:${line})` : "";
		const text = `${d ? "└ " : ""}${f.guess ? "~" : ""}${f.method}${f.line > 0 ? `:${f.line}` : ""}${moved}${f.bci < 0 ? "" : ` @${f.bci}`}`;
		const el = make(calls ? "a" : "span", { className: d === outer.length - 1 ? "f now" : "f", textContent: text });
		if (calls) el.setAttribute("href", calls.link({ shape: "sandwich", method: f.method, zoom: [] }));
		el.title = [f.bci >= 0 ? `bytecode index ${f.bci}` : "", calls ? "its callers and callees" : ""].filter(Boolean).join("; ");
		el.style.setProperty("--d", Math.min(d, 12));
		return el;
	});
	if (!lines.length) lines.push(note("no debug info"));
	if (cursor.classList.contains("n")) lines.push(note("a guess: HotSpot kept none"));
	code.chainBox.replaceChildren(...lines);
	later(showLine);
}

// --- sources ---

const baseName = (file) => data.files[file].name.split("/").pop();
function drawSources() {
	if (!$("#source")) return;
	const files = new Map(); // index → hits by line
	for (const [c, rows] of code.byChain) {
		const chain = code.chains[c];
		const n = rows.reduce((sum, r) => sum + count(r), 0);
		const seen = new Set();
		for (let i = 0; i < chain.length; i += 3) {
			const [file, line] = placeOf(code.data.methods[chain[i]], chain[i + 2]);
			if (file === undefined) continue;
			if (!files.has(file)) files.set(file, { self: new Map(), all: new Map(), n: 0 });
			const hits = files.get(file);
			if (!i) {
				hits.self.set(line, (hits.self.get(line) || 0) + n);
				hits.n += n;
			}
			if (!seen.has(`${file}:${line}`)) hits.all.set(line, (hits.all.get(line) || 0) + n);
			seen.add(`${file}:${line}`);
		}
	}
	code.files = files;
	const order = [...files].sort((a, b) => b[1].n - a[1].n);
	$("#tabs").replaceChildren(
		...order.map(([file]) => {
			const tab = make("button", { type: "button", textContent: baseName(file), title: data.files[file].name });
			tab.setAttribute("role", "tab");
			tab.setAttribute("aria-controls", `s${file}`);
			tab.id = `tab${file}`;
			tab.file = file;
			return tab;
		}),
	);
	for (const [file, hits] of files) {
		for (const el of $$(".sl", $(`#s${file}`))) {
			const line = +el.dataset.l;
			const self = hits.self.get(line) || 0;
			const all = hits.all.get(line) || 0;
			const b = $("b", el);
			b.className = self ? `h${heat(self)}` : all ? "all" : "";
			b.textContent = self ? amount(self, event, code.p, code) : all ? `(${amount(all, event, code.p, code)})` : "";
			el.classList.toggle("at", hits.all.has(line));
		}
	}
	$("#source").hidden = !order.length;
	if (order.length) showFile(order[0][0]);
}
function showFile(file) {
	for (const tab of $$("#tabs button")) {
		tab.setAttribute("aria-selected", tab.file === file);
		tab.tabIndex = tab.file === file ? 0 : -1;
	}
	$$("#source > .file").forEach((el) => el.classList.toggle("now", el.id === `s${file}`));
}
function showLine() {
	mark("at-cursor", []);
	const inner = cursor && frames(cursor)[0];
	const [file, line] = inner ? placeOf(inner.method, inner.line) : [];
	if (file === undefined || !code.files?.has(file)) return;
	showFile(file);
	const box = $(`#s${file}`);
	const el = $(`.sl[data-l="${line}"]`, box);
	if (!el) return;
	mark("at-cursor", [el]);
	const y = el.offsetTop - box.offsetTop;
	if (y < box.scrollTop + ROW || y > box.scrollTop + box.clientHeight - 3 * ROW) box.scrollTop = y - box.clientHeight / 2;
}
// rowsOf returns the rows that were made from a line of a file, the hottest one first. Rows of the line itself come before
// those of methods inlined into it.
function rowsOf(file, line) {
	const found = [[], []];
	for (const [c, list] of code.byChain) {
		const chain = code.chains[c];
		for (let i = 0; i < chain.length; i += 3) {
			const at = placeOf(code.data.methods[chain[i]], chain[i + 2]);
			if (at[0] !== file || at[1] !== line) continue;
			found[i ? 1 : 0].push(...list);
			break;
		}
	}
	return found.flatMap((rows) => rows.sort((x, y) => count(y) - count(x)));
}
const relate = (elements) => mark("rel", elements);

// --- the map ---

function drawMap() {
	const it = code;
	if (!it) return;
	const h = Math.max(height(it), 1);
	const tick = Math.max(h / 250, ROW);
	const paths = {};
	const hot = hotRows(it);
	for (const r of hot) {
		const part = count(r) / count(hot[0]); // relative to the hottest row, which always stands out
		const level = 1 + (part > 0.1) + (part > 0.5);
		(paths[level] ??= []).push(`M0 ${rowY(it, r)}h${1 + 3 * level}v${tick}h-${1 + 3 * level}z`);
	}
	const drawing = svg("svg", { viewBox: `0 0 10 ${h}`, preserveAspectRatio: "none" });
	for (const level of Object.keys(paths).sort()) drawing.append(svg("path", { class: `m${level}`, d: paths[level].join("") }));
	it.view = svg("rect", { class: "view", x: 0, width: 10 });
	drawing.append(it.view);
	it.map.replaceChildren(drawing);
	drawView();
	if (cursor) drawJump();
}
function drawView() {
	code?.view?.setAttribute("y", code.box.scrollTop);
	code?.view?.setAttribute("height", code.box.clientHeight);
}

// --- what keys and buttons do ---

function step(by, extend) {
	let at = cursor.at + by;
	while (code.rows[at] && !code.rows[at].group.el.open && !extend) at += by;
	if (code.rows[at]) setCursor(code.rows[at], { extend });
}
function nextHot(by) {
	const hot = hotRows(code);
	if (!hot.length) return;
	const at = hot.indexOf(cursor);
	const to = at < 0 ? 0 : (at + by + hot.length) % hot.length;
	setCursor(hot[to], { center: true });
}
function followJump() {
	const a = $("code a", cursor) || $("a", cursor);
	if (a) return follow(a.hash, true);
	const next = code.jumpRows.find((r) => r.at > cursor.at);
	const leads = isJump(cursor) || /^(call|blr?$)/.test(mnemonic(cursor));
	$("#where").textContent =
		`${mnemonic(cursor)} ${leads ? "leads out of this page" : "is not a jump or call"}` +
		(next ? `; the next jump: ${mnemonic(next)} at ${place(next)}` : "");
}
function press(name, on) {
	$$(`[data-do="${name}"]`).forEach((b) => b.setAttribute("aria-pressed", on));
}
const actions = {
	hottest: () => (code ? setCursor(hotRows(code)[0], { center: true }) : hottestOfAll()),
	next: () => nextHot(1),
	callers: () => calls && follow(calls.link({ shape: "sandwich", method: code.method, zoom: [] }), true),
	arrows: () => press("arrows", !articles.map((a) => a.classList.toggle("noarrows")).pop()),
	side: () => {
		press("side", !articles.map((a) => a.classList.toggle("noside")).pop());
		later(drawMap);
	},
	fold: () => {
		code.folded = !code.folded;
		$$("details.cold", code.article).forEach((el) => (el.open = !code.folded));
		press("fold", code.folded);
		code.dirty = true;
		if (!cursor.group.el.open) setCursor(hotRows(code)[0] || cursor, { center: true });
		else reveal(cursor, true);
	},
	syntax: () => {
		if (!code.other) return;
		code.rows.forEach((row, i) => {
			const el = $("code", row);
			if (el.firstElementChild) return; // a jump is the same in both syntaxes
			const was = el.textContent;
			el.textContent = code.other[i].padEnd(was.length > was.trimEnd().length || was.length >= 38 ? 38 : 0);
			code.other[i] = was.trimEnd();
		});
		[code.data.syntax, code.shown] = [code.shown || (code.data.syntax === "Intel" ? "AT&T" : "Intel"), code.data.syntax];
		$('[data-do="syntax"]', code.article).textContent = `${code.data.syntax} syntax`;
	},
};
function hottestOfAll() {
	let best = null;
	let most = 0;
	for (const b of $$(`.code[data-p="${profile}"] .r b`)) {
		const n = eventOf(b) === event ? samplesOf(b) : 0;
		if (n > most) [best, most] = [b.parentNode, n];
	}
	if (!best) return;
	if (code?.article.contains(best)) setCursor(best, { center: true });
	else follow(`#${best.id}`, true);
}
function nextEvent() {
	const { events } = data.profiles[profile];
	event = (event + 1) % Math.max(events.length, 1);
	drawMap();
	drawSources();
	if (inCalls) return refresh();
	$("#where").textContent = events.length > 1 ? `heat and order are by ${events[event]}` : "there is one event";
}
function neighbour(by) {
	const list = articles.filter((a) => +a.dataset.p === profile);
	const to = list[(code ? list.indexOf(code.article) : -1) + by];
	if (to) open(to);
}
function leave() {
	$("#home").focus();
	$("#where").textContent = "Tab moves through the page again; a click or h goes back to the code";
}
const back = () => (history.state?.depth ? history.back() : follow("#overview", true));

const keys = {
	j: actions.arrows,
	s: actions.side,
	f: actions.fold,
	i: actions.syntax,
	c: actions.callers,
	Backspace: back,
	ArrowDown: (e) => step(1, e.shiftKey),
	ArrowUp: (e) => step(-1, e.shiftKey),
	PageDown: () => step(Math.floor(code.box.clientHeight / ROW) - 4),
	PageUp: () => step(4 - Math.floor(code.box.clientHeight / ROW)),
	ArrowLeft: () => {
		const { el } = cursor.group;
		el.open = false;
		code.dirty = true;
		$("summary", el).focus();
	},
	ArrowRight: () => {
		cursor.group.el.open = true;
		code.dirty = true;
		setCursor(cursor);
	},
};
const everywhere = {
	h: actions.hottest,
	H: hottestOfAll,
	t: () => nextChoice("threads"),
	T: () => nextChoice("time"),
	e: () => (code || inCalls) && nextEvent(),
	g: () => calls && follow(`#g=flame${profileLink()}`, true),
	"/": () => openFind(),
	"?": () => $("#help").showModal(),
	"]": () => neighbour(1),
	"[": () => neighbour(-1),
	o: () => {
		const options = $$("#unit option").map((el) => el.value);
		setUnit(options[(options.indexOf(unit) + 1) % options.length]);
	},
};
document.addEventListener("keydown", (e) => {
	if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select, textarea") || $("dialog[open]")) return;
	const inCode = code && code.box.contains(document.activeElement);
	const arrow = e.key.startsWith("Arrow") || e.key.startsWith("Page");
	let run = (inCalls && calls.key(e)) || everywhere[e.key];
	if (code && (inCode || !arrow)) run ??= keys[e.key];
	if (inCode && e.key === "Tab") run = () => nextHot(e.shiftKey ? -1 : 1);
	if (inCode && e.key === "Enter" && !e.target.matches("summary, a")) run = followJump;
	if (e.key === "Escape" && !inCalls) run = inCode ? leave : code ? back : null;
	if (e.target.matches("[role=tab]") && arrow) run = null;
	if (!run || (e.target.matches("summary") && e.key === "Enter")) return;
	e.preventDefault();
	run(e);
});

document.addEventListener("click", (e) => {
	const button = e.target.closest("[data-do]");
	if (button) return actions[button.dataset.do]();
	const a = e.target.closest('a[href^="#"]');
	if (a && !e.ctrlKey && !e.metaKey && !e.shiftKey && a.className !== "skip") {
		e.preventDefault();
		return follow(a.getAttribute("href"), true);
	}
	const slice = e.target.closest(".pick")?.dataset.slice;
	if (slice) return pick(+slice, e.shiftKey);
	const line = e.target.closest(".sl.at");
	if (line && code) {
		const rows = rowsOf(+line.parentNode.id.slice(1), +line.dataset.l);
		if (rows.length) setCursor(rows[0], { center: true });
		return relate(rows);
	}
	const row = e.target.closest(".r");
	if (row && code && String(getSelection()) === "") return setCursor(row, { extend: e.shiftKey });
	const tr = e.target.closest("#overview tbody tr, .side tbody tr");
	if (!tr || e.target.closest("button, details") || String(getSelection()) !== "") return;
	const first = $("a", tr);
	(first?.closest("details") ? $("summary", tr) : (first ?? $("summary", tr)))?.click();
});
document.addEventListener("mousedown", (e) => {
	if (e.shiftKey && e.target.closest(".r")) e.preventDefault(); // no text selection
});
let hovered = null;
document.addEventListener("mouseover", (e) => {
	const el = e.target.closest(".sl.at, .r");
	if (!code || el === hovered) return;
	hovered = el;
	if (el?.matches(".sl")) relate(rowsOf(+el.parentNode.id.slice(1), +el.dataset.l));
	else if (el) {
		const inner = frames(el)[0];
		const [file, line] = inner ? placeOf(inner.method, inner.line) : [];
		relate(file === undefined ? [] : $$(`#s${file} .sl[data-l="${line}"]`));
	}
});

// --- tables ---

function sortable(table) {
	const body = $("tbody", table);
	const rows = $$("tr", body);
	const more = rows.length - +table.dataset.shown;
	rows.forEach((tr, i) => (tr.at = i));
	const cut = () => $$("tr", body).forEach((tr, i) => tr.classList.toggle("over", i >= +table.dataset.shown));
	const heads = $$("th", table);
	table.sort = () => {
		const column = heads.findIndex((th) => th.ariaSort);
		if (column < 0) return;
		const down = heads[column].ariaSort === "descending";
		const values = new Map();
		for (const tr of rows) {
			const td = tr.children[column];
			values.set(tr, td.dataset.n ? samplesOf(td) : td.dataset.s ? +td.dataset.s : td.textContent);
		}
		const order = new Intl.Collator("en", { numeric: true });
		rows.sort((x, y) => {
			const [a, b] = [values.get(x), values.get(y)];
			const c = typeof a === "number" && typeof b === "number" ? a - b : order.compare(a, b);
			return (down ? -c : c) || x.at - y.at;
		});
		body.append(...rows);
		cut();
	};
	heads.forEach((th) => {
		if (!th.textContent) return;
		const button = make("button", { type: "button", textContent: th.textContent });
		th.replaceChildren(button);
		button.addEventListener("click", () => {
			const down = th.ariaSort ? th.ariaSort === "ascending" : th.classList.contains("n");
			heads.forEach((other) => (other.ariaSort = null));
			th.ariaSort = down ? "descending" : "ascending";
			table.sort();
		});
	});
	if (more <= 0) return;
	cut();
	table.classList.add("short");
	const button = make("button", { type: "button", textContent: `Show all ${rows.length}` });
	button.setAttribute("aria-expanded", "false");
	button.addEventListener("click", () => {
		const short = table.classList.toggle("short");
		button.textContent = short ? `Show all ${rows.length}` : "Show fewer";
		button.setAttribute("aria-expanded", !short);
	});
	table.after(button);
}

// --- finding a method ---

let hits = [];
let chosen = 0;
function openFind() {
	$("#find").showModal();
	$("#query").value = "";
	search();
	$("#query").focus();
}
function search() {
	const words = $("#query").value.toLowerCase().split(/\s+/);
	const most = 50;
	const compiled = data.profiles[profile].code.map((c, i) => ({
		text: `${percent(countsOfMethod(c)[event], totals[event]).padStart(7)}  ${c.method}  (${c.tier}${c.id ? `, ${c.id}` : ""})`,
		go: () => open(articles[firstOf[profile] + i]),
	}));
	const inlined = $$(`#p${profile}-frames a`).map((a) => ({
		text: `${a.closest("tr").cells[0].textContent.padStart(7)}  ${a.textContent}  (${a.hash.startsWith("#g=") ? "its callers and callees" : "its hottest instruction"})`,
		go: () => a.click(),
	}));
	hits = [...compiled, ...inlined].filter((hit) => words.every((w) => hit.text.toLowerCase().includes(w))).slice(0, most);
	chosen = 0;
	$("#hits").replaceChildren(
		...hits.map((c, i) => {
			const li = make("li", { id: `hit${i}`, textContent: c.text });
			li.setAttribute("role", "option");
			li.addEventListener("click", () => take(i));
			return li;
		}),
	);
	chooseHit();
}
function chooseHit() {
	$$("#hits li").forEach((li, i) => li.setAttribute("aria-selected", i === chosen));
	$("#query").setAttribute("aria-activedescendant", hits.length ? `hit${chosen}` : "");
	$(`#hit${chosen}`)?.scrollIntoView({ block: "nearest" });
}
function take(i) {
	$("#find").close();
	hits[i]?.go();
}
$("#query").addEventListener("input", search);
$("#query").addEventListener("keydown", (e) => {
	const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
	if (by) chosen = Math.min(Math.max(chosen + by, 0), hits.length - 1);
	if (by || e.key === "Enter" || e.key === "Escape") e.preventDefault();
	if (by) chooseHit();
	if (e.key === "Enter") take(chosen);
	if (e.key === "Escape") $("#find").close();
});

// --- copying ---

function copied() {
	const rows = selected();
	const some = rows.length > 1 ? rows : code.rows.filter((r) => r.group.el.open);
	const lines = some.map((r) => r.textContent.trimEnd());
	const margin = Math.min(...lines.map((l) => l.search(/\S/)));
	return lines.map((l) => l.slice(margin)).join("\n");
}
async function copy(text, button) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = make("textarea", { value: text });
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	const was = button.textContent;
	button.textContent = "Copied";
	setTimeout(() => (button.textContent = was), 1200);
}
const tierAndShare = () => `(${code.tier}), ${percent(code.counts[0], data.profiles[code.p].totals[0])}`;
$("#copy-text").addEventListener("click", (e) => copy(`${code.method} ${tierAndShare()}\n${copied()}\n`, e.target));
$("#copy-markdown").addEventListener("click", (e) => {
	const name = code.method.replace(/[\\`*_<>[\]|]/g, "\\$&");
	const text = copied();
	const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((m) => m[0].length + 1)));
	copy(`**${name}** ${tierAndShare()} of the samples\n\n${fence}\n${text}\n${fence}\n`, e.target);
});

// --- calls ---

const calls = $("#calls")
	? new CallsView({
			profile: () => profile,
			samples: () => ({ event, only, version }),
			percent: (n, of = totals[event]) => percent(n, of) || "0%",
			perOp: (n) => (unit === "norm" ? `${amount(n, event, profile)} ${data.profiles[profile].perOp[event].unit}` : ""),
			countOf: samples,
			number,
			quote,
			profileLink,
			follow,
			notice,
			back,
			replace: (hash) => history.replaceState(history.state, "", hash),
		})
	: null;

// --- start ---

root.classList.add("on");
$$("#overview table").forEach(sortable);
if (data.profiles.length > 1) {
	const select = make(
		"select",
		{ ariaLabel: "Profile" },
		...data.profiles.map((p, i) => make("option", { value: i, textContent: p.name })),
	);
	select.addEventListener("change", () => follow(`#p=${quote(data.profiles[select.value].name)}`, true));
	$("#switch").replaceChildren(select);
}
$("#unit").addEventListener("change", (e) => setUnit(e.target.value));
$("#threads").addEventListener("change", choose);
$("#time").addEventListener("change", choose);
$("#only button").addEventListener("click", () => {
	for (const id of ["threads", "time"]) $(`#${id}`).value = 0;
	choose();
});
// widen sets the width of the side panel, in percent of the window.
function widen(part) {
	const width = Math.min(Math.max(Math.round(part), 15), 80);
	root.style.setProperty("--side", `${width}%`);
	$$(".split").forEach((el) => (el.ariaValueNow = width));
}
$$(".split").forEach((el) => {
	el.addEventListener("pointerdown", (e) => el.setPointerCapture(e.pointerId));
	el.addEventListener("pointermove", (e) => el.hasPointerCapture(e.pointerId) && widen(100 - (100 * e.clientX) / innerWidth));
	el.addEventListener("keydown", (e) => {
		const by = { ArrowLeft: 3, ArrowRight: -3 }[e.key];
		if (by) widen(+el.ariaValueNow + by);
	});
});
$("#find-open").addEventListener("click", openFind);
$("#calls-open")?.addEventListener("click", everywhere.g);
$("#help-open").addEventListener("click", () => $("#help").showModal());
$("#tabs")?.addEventListener("click", (e) => e.target.file !== undefined && showFile(e.target.file));
$("#tabs")?.addEventListener("keydown", (e) => {
	const to = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" }[e.key];
	const tab = to && e.target[to];
	if (!tab) return;
	showFile(tab.file);
	tab.focus();
});
articles.forEach((a) => a.addEventListener("beforematch", () => code?.article !== a && showFound(a)));
overview.addEventListener("beforematch", (e) => e.target === overview && showOverview());
sections.forEach((s, i) => s.addEventListener("beforematch", () => setProfile(i)));
// showFound shows the listing in which the browser's search found something. The browser scrolls by itself.
function showFound(article) {
	push(link(info(article)));
	showCode(article, null, { still: true });
}
addEventListener("popstate", () => {
	follow(location.hash, false);
	if (!code && history.state?.y !== undefined) $("#main").scrollTop = history.state.y;
});
addEventListener("resize", () => later(drawMap));
addEventListener("beforeprint", () => $$("table.short").forEach((t) => t.classList.remove("short")));
setProfile(0);
follow(location.hash, false);
if (unit !== "percent") setUnit(unit);
