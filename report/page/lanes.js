// This script draws what threads did over time: a lane for each thread, whose spans have the colours of states. It works
// by itself, in each section.lanes of the page. Only the lanes in view are drawn, so the number of threads does not
// matter. Screen readers get a list with the threads around the cursor.
{
	const ROW = 15; // height of a lane in pixels
	const TOP = 16; // height of the axis
	const make = (tag, properties, ...children) => {
		const el = Object.assign(document.createElement(tag), properties);
		el.append(...children);
		return el;
	};
	const count = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

	class Lanes {
		constructor(section) {
			this.$ = (name) => section.querySelector(name);
			this.data = JSON.parse(this.$(".lane-data").textContent);
			this.lanes = this.data.lanes.map((lane) => this.unpack(lane));
			this.box = this.$(".lane-box");
			this.canvas = this.box.appendChild(make("canvas", { className: "frames", ariaHidden: true }));
			this.room = this.box.appendChild(make("div", { ariaHidden: true })); // is as high as all lanes
			this.items = this.box.appendChild(make("div", { className: "items" })); // for screen readers
			this.items.setAttribute("role", "presentation");
			this.colours = new Map();
			this.view = [0, this.data.to];
			this.at = null; // the chosen moment, in µs
			this.cursor = 0; // the index of the chosen lane in rows
			this.hovered = null;
			this.choose();
			this.listen(section);
		}

		// unpack turns the numbers of a lane into arrays with an element for each span.
		unpack({ n, p, i, s }) {
			const spans = s.length / 5;
			const lane = {
				name: this.data.names[n],
				pool: this.data.names[p],
				idle: !!i,
				from: new Float64Array(spans),
				to: new Float64Array(spans),
			};
			for (const field of ["state", "stack", "about"]) lane[field] = new Int32Array(spans);
			for (let k = 0, at = 0; k < spans; k++) {
				lane.from[k] = at += s[5 * k];
				lane.to[k] = at += s[5 * k + 1];
				[lane.state[k], lane.stack[k], lane.about[k]] = s.slice(5 * k + 2, 5 * k + 5);
			}
			return lane;
		}

		listen(section) {
			const { box } = this;
			this.$(".lane-filter").addEventListener("input", () => this.choose());
			this.$(".lane-idle")?.addEventListener("change", () => this.choose());
			section.addEventListener("click", (e) => {
				const how = e.target.closest("[data-lanes]")?.dataset.lanes;
				if (how) this.zoom(how);
			});
			box.addEventListener("scroll", () => this.paintLater(), { passive: true });
			box.addEventListener("pointerdown", (e) => {
				if (e.button || e.offsetX >= box.clientWidth) return; // not on the scroll bar
				this.dragged = { from: this.point(e), to: this.point(e) };
				box.setPointerCapture(e.pointerId);
			});
			box.addEventListener("pointermove", (e) => this.moved(e));
			box.addEventListener("pointerup", () => this.dropped());
			box.addEventListener("pointercancel", () => (this.dragged = null));
			box.addEventListener("pointerleave", () => this.hover(null));
			box.addEventListener("wheel", (e) => {
				if (!e.ctrlKey) return;
				e.preventDefault();
				this.zoom(e.deltaY < 0 ? "in" : "out", this.point(e).at);
			});
			box.addEventListener("keydown", (e) => {
				if (e.ctrlKey || e.metaKey || e.altKey || !this.key(e.key)) return;
				e.preventDefault();
				e.stopPropagation(); // the page has keys of its own
			});
			new ResizeObserver(() => this.paint()).observe(box);
			matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
				this.colours.clear();
				this.paint();
			});
		}

		// choose decides which lanes are shown.
		choose() {
			const words = this.$(".lane-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
			const idle = !this.$(".lane-idle") || this.$(".lane-idle").checked;
			const kept = this.rows?.[this.cursor];
			this.rows = this.lanes.filter((lane) => (idle || !lane.idle) && words.every((word) => lane.name.toLowerCase().includes(word)));
			this.cursor = Math.max(this.rows.indexOf(kept), 0);
			this.room.style.height = `${TOP + this.rows.length * ROW}px`;
			this.announce();
			this.paint();
			if (this.at !== null) this.list();
		}

		// --- what a lane has at a time ---

		// find returns the index of the span at a time, or -1 if there is none.
		find(lane, at) {
			let [lo, hi] = [0, lane.to.length];
			while (lo < hi) {
				const mid = (lo + hi) >> 1;
				if (lane.to[mid] > at) hi = mid;
				else lo = mid + 1;
			}
			return lo < lane.to.length && lane.from[lo] <= at ? lo : -1;
		}
		state(number) {
			return this.data.states[number][0];
		}
		// stack returns the texts of a stack's frames, the innermost first.
		stack(number) {
			const frames = [];
			const { nodes, names } = this.data;
			for (let i = number; i; i = nodes[2 * i - 2]) frames.push(names[nodes[2 * i - 1]]);
			return frames;
		}
		// place returns the innermost frame that is not one of the JDK.
		place(number) {
			const frames = this.stack(number);
			return frames.find((f) => f.includes("::") && !/^(java|javax|jdk|sun|com\.sun)\./.test(f)) ?? frames[0] ?? "";
		}
		time(at) {
			const digits = this.view[1] - this.view[0] < 1e5 ? 4 : 2;
			return `${(at / 1e6).toFixed(digits)} s`;
		}
		// tell returns what a lane has at a time, as text.
		tell(lane, at) {
			const k = this.find(lane, at);
			if (k < 0) return `${lane.name}: not there, or not in a window`;
			const about = lane.about[k] ? this.data.names[lane.about[k] - 1] : "";
			const length = `${((lane.to[k] - lane.from[k]) / 1e3).toFixed(2)} ms from ${this.time(lane.from[k])}`;
			return [`${lane.name}: ${this.state(lane.state[k])}`, this.place(lane.stack[k]), about, length].filter(Boolean).join(" · ");
		}

		// --- drawing ---

		get left() {
			return Math.min(Math.round(this.box.clientWidth * 0.22), 260); // where the lanes begin
		}
		x(at) {
			const [from, to] = this.view;
			return this.left + ((at - from) / (to - from)) * (this.box.clientWidth - this.left);
		}
		colour(name) {
			if (!this.colours.has(name)) {
				this.room.style.color = `var(${name})`;
				this.colours.set(name, getComputedStyle(this.room).color);
			}
			return this.colours.get(name);
		}
		paintLater() {
			this.pending ??= requestAnimationFrame(() => this.paint());
		}
		paint() {
			this.pending = null;
			const { canvas, box } = this;
			const [width, height] = [box.clientWidth, box.clientHeight];
			if (!width) return;
			const ratio = devicePixelRatio || 1;
			canvas.width = width * ratio;
			canvas.height = height * ratio;
			canvas.style.cssText = `width:${width}px;height:${height}px`;
			const g = (this.g = canvas.getContext("2d"));
			g.scale(ratio, ratio);
			g.font = getComputedStyle(canvas).font;
			g.textBaseline = "middle";
			const first = Math.floor(box.scrollTop / ROW);
			for (let row = first; row < this.rows.length && row * ROW < box.scrollTop + height; row++)
				this.lane(row, TOP + row * ROW - box.scrollTop);
			this.axis();
			const mark = (at) => {
				g.fillStyle = this.colour("--f-cursor");
				g.fillRect(Math.round(this.x(at)), 0, 1, height);
			};
			if (this.at !== null && this.at >= this.view[0] && this.at < this.view[1]) mark(this.at);
			if (this.dragged) {
				const [a, b] = [this.dragged.from.x, this.dragged.to.x].sort((p, q) => p - q);
				g.globalAlpha = 0.2;
				g.fillStyle = this.colour("--f-cursor");
				g.fillRect(a, 0, b - a, height);
				g.globalAlpha = 1;
			}
		}
		// lane draws a lane. Spans that begin within the pixel at which the last one ended are not drawn.
		lane(row, y) {
			const { g, left } = this;
			const lane = this.rows[row];
			const [from, to] = this.view;
			let [k, hi] = [0, lane.to.length];
			while (k < hi) {
				const mid = (k + hi) >> 1;
				if (lane.to[mid] > from) hi = mid;
				else k = mid + 1;
			}
			for (let drawn = left; k < lane.to.length && lane.from[k] < to; k++) {
				const end = Math.min(Math.ceil(this.x(lane.to[k])), this.box.clientWidth);
				if (end <= drawn) continue;
				const start = Math.max(this.x(lane.from[k]), drawn);
				g.fillStyle = this.colour(`--f-${this.data.states[lane.state[k]][1]}`);
				g.fillRect(start, y + 1, end - start, ROW - 2);
				drawn = end;
			}
			g.fillStyle = this.colour("--f-text");
			const name = lane.name;
			const room = Math.floor((left - 8) / (this.letter ??= g.measureText("x").width));
			g.fillText(name.length > room ? `${name.slice(0, Math.max(room - 8, 1))}…${name.slice(-6)}` : name, 4, y + ROW / 2);
			if (row === this.cursor) {
				g.strokeStyle = this.colour("--f-cursor");
				g.strokeRect(0.5, y + 0.5, this.box.clientWidth - 1, ROW - 1);
			}
			if (row && this.rows[row - 1].pool !== lane.pool) {
				g.fillStyle = this.colour("--f-line");
				g.fillRect(0, y, this.box.clientWidth, 0.5);
			}
		}
		axis() {
			const { g, left } = this;
			const [from, to] = this.view;
			g.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
			g.fillRect(0, 0, this.box.clientWidth, TOP - 1);
			g.fillStyle = this.colour("--f-text");
			let step = 1;
			for (let i = 0; (step / (to - from)) * (this.box.clientWidth - left) < 90; i++) step *= [2, 2.5, 2][i % 3];
			for (let at = Math.ceil(from / step) * step; at < to; at += step) {
				g.fillRect(this.x(at), TOP - 5, 1, 4);
				g.fillText(`${+(at / 1e6).toFixed(6)} s`, this.x(at) + 3, TOP / 2);
			}
		}

		// --- zooming ---

		// zoom changes the time in view: in, out, or all of it.
		zoom(how, around = this.at ?? (this.view[0] + this.view[1]) / 2) {
			const [from, to] = this.view;
			const by = { in: 0.5, out: 2, all: Infinity }[how];
			if (by === Infinity) return this.show(0, this.data.to);
			this.show(around - (around - from) * by, around + (to - around) * by);
		}
		show(from, to) {
			const least = Math.min(100, this.data.to); // µs
			const length = Math.min(Math.max(to - from, least), this.data.to);
			const start = Math.min(Math.max(from, 0), this.data.to - length);
			this.view = [start, start + length];
			this.paintLater();
		}

		// --- the mouse ---

		point(e) {
			const box = this.box.getBoundingClientRect();
			const [x, y] = [e.clientX - box.left - this.box.clientLeft, e.clientY - box.top - this.box.clientTop];
			const [from, to] = this.view;
			const at = from + ((x - this.left) / (this.box.clientWidth - this.left)) * (to - from);
			const row = Math.floor((y - TOP + this.box.scrollTop) / ROW);
			return { x, row: y < TOP ? -1 : row, at: Math.min(Math.max(at, from), to - 1e-3), inLanes: x >= this.left };
		}
		moved(e) {
			const at = this.point(e);
			if (this.dragged) {
				this.dragged.to = at;
				this.paintLater();
			}
			this.hover(this.rows[at.row] && at.inLanes ? at : null);
		}
		hover(at) {
			if (at) this.$(".lane-where").textContent = this.tell(this.rows[at.row], at.at);
			else if (this.hovered) this.where();
			this.hovered = at;
		}
		// dropped ends a drag, which zooms, or a click, which chooses a thread and a moment.
		dropped() {
			const { from, to } = this.dragged ?? {};
			this.dragged = null;
			if (!from) return;
			if (Math.abs(from.x - to.x) > 4) return this.show(Math.min(from.at, to.at), Math.max(from.at, to.at));
			this.select(this.rows[from.row] ? from.row : this.cursor, from.inLanes ? from.at : this.at);
		}

		// --- the cursor ---

		select(row, at) {
			if (!this.rows.length) return;
			this.cursor = Math.min(Math.max(row, 0), this.rows.length - 1);
			const moved = at !== this.at;
			this.at = at;
			const y = this.cursor * ROW;
			const { box } = this;
			if (y < box.scrollTop) box.scrollTop = y;
			else if (y + TOP + 2 * ROW > box.scrollTop + box.clientHeight) box.scrollTop = y + TOP + 2 * ROW - box.clientHeight;
			if (at !== null && (at < this.view[0] || at >= this.view[1])) {
				const half = (this.view[1] - this.view[0]) / 2;
				this.show(at - half, at + half);
			}
			this.announce();
			this.where();
			if (moved) this.list();
			this.paintLater();
		}
		where() {
			const lane = this.rows[this.cursor];
			this.$(".lane-where").textContent = lane && this.at !== null ? `${this.time(this.at)} · ${this.tell(lane, this.at)}` : "";
		}
		// step moves to the beginning of the next span of the thread, or of the one before.
		step(by) {
			const lane = this.rows[this.cursor];
			if (this.at === null) return this.select(this.cursor, this.view[0]);
			const next = by > 0 ? lane.from.find((from) => from > this.at) : lane.from.findLast((from) => from < this.at);
			if (next !== undefined) this.select(this.cursor, next);
		}
		// key does what a key says, and returns whether it is one that is known.
		key(key) {
			const page = Math.max(Math.floor(this.box.clientHeight / ROW) - 3, 1);
			const rows = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
			const steps = { ArrowLeft: -1, ArrowRight: 1 };
			const zooms = { "+": "in", "=": "in", "-": "out", Escape: "all" };
			if (rows[key]) this.select(this.cursor + rows[key], this.at);
			else if (steps[key]) this.step(steps[key]);
			else if (zooms[key]) this.zoom(zooms[key]);
			else if (key === "Enter") this.$(".lane-stacks summary")?.focus();
			else return false;
			return true;
		}
		// announce makes the list for screen readers: the threads around the cursor.
		announce() {
			const around = 5;
			const first = Math.max(this.cursor - around, 0);
			this.items.replaceChildren(
				...this.rows.slice(first, this.cursor + around + 1).map((lane, i) => {
					const el = make("div", { id: `${this.box.parentNode.id}-${first + i}` });
					el.textContent = this.at === null ? lane.name : this.tell(lane, this.at);
					el.setAttribute("role", "option");
					el.ariaPosInSet = first + i + 1;
					el.ariaSetSize = this.rows.length;
					el.ariaSelected = first + i === this.cursor;
					return el;
				}),
			);
			if (this.rows.length) this.box.setAttribute("aria-activedescendant", `${this.box.parentNode.id}-${this.cursor}`);
			else this.box.removeAttribute("aria-activedescendant");
		}

		// --- stacks ---

		// list shows the stacks of all shown threads at the chosen moment. Threads at the same stack are shown together.
		list() {
			const most = 200;
			const groups = new Map();
			let threads = 0;
			for (const lane of this.rows) {
				const k = this.find(lane, this.at);
				if (k < 0) continue;
				threads++;
				const key = `${lane.state[k]} ${lane.stack[k]} ${lane.about[k]}`;
				if (!groups.has(key)) groups.set(key, { state: lane.state[k], stack: lane.stack[k], about: lane.about[k], names: [] });
				groups.get(key).names.push(lane.name);
			}
			const sorted = [...groups.values()].sort((a, b) => b.names.length - a.names.length);
			const head = make("h3", { textContent: `${count(threads, "thread")} at ${this.time(this.at)}` });
			const left = sorted.length > most ? [make("p", { className: "note", textContent: `${sorted.length - most} more stacks` })] : [];
			this.$(".lane-stacks").replaceChildren(head, ...sorted.slice(0, most).map((group, i) => this.group(group, !i)), ...left);
		}
		group({ state, stack, about, names }, open) {
			const [word, kind] = this.data.states[state];
			const key = make("span", { className: "key fk", textContent: word });
			key.style.setProperty("--f", `var(--f-${kind})`);
			const texts = [this.place(stack), about ? this.data.names[about - 1] : ""].filter(Boolean);
			const few = names.slice(0, 20).join(", ") + (names.length > 20 ? ` and ${names.length - 20} more` : "");
			const frames = this.stack(stack).map((f) => make("li", { textContent: f }));
			if (!frames.length) frames.push(make("li", { textContent: "(the stack is not known)" }));
			const summary = make("summary", {}, make("b", { textContent: names.length }), key, ` ${texts.join(" · ")}`);
			return make("details", { open }, summary, make("ol", {}, make("li", { className: "note", textContent: few }), ...frames));
		}
	}
	for (const section of document.querySelectorAll(".lanes")) new Lanes(section);
}
