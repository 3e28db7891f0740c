/* global CallTree, FlameGraph */
/* exported CallsView */

// A CallsView shows the calls of a profile as a flame graph, as an icicle graph, or as a sandwich of one method's callers
// and callees. What it shows is in its link:
//
//   #g=flame&z=HashMap::get&z=Users::find&s=find a flame graph, zoomed to get as called by find; "find" is the searched
//   text #g=sandwich&m=HashMap::get&w=callers&z=… zoomed in the part with the callers; with &x=wall it is the time of threads
//   by the wall clock, in ns, in place of samples
//
// The page knows the samples that count, units, profiles and code: see the end of page.js.
class CallsView {
	constructor(page) {
		this.page = this.pageOfSamples = page;
		const $ = (this.$ = (id) => document.getElementById(id));
		this.el = $("calls");
		this.trees = new Map(); // id of the data → its tree
		this.graph = new FlameGraph($("graph"), this);
		this.words = [];
		this.kinds = new Map([...this.el.querySelectorAll("[data-kind]")].map((el) => [el.dataset.kind, el])); // the legend
		$("calls-query").addEventListener("input", () => this.search($("calls-query").value));
		$("calls-query").addEventListener("keydown", (e) => {
			if (e.key !== "Enter" && e.key !== "Escape") return;
			e.preventDefault();
			if (e.key === "Escape") this.search("");
			this.graph.box.focus();
			if (e.key === "Enter") this.next();
		});
		this.states = [...this.el.querySelectorAll("[data-state]")]; // the states of threads whose time counts
		this.version = 0; // changes whenever they do
		for (const el of this.states)
			el.addEventListener("change", () => {
				this.version++;
				this.refresh();
			});
		this.pageOfTime = {
			...page,
			samples: () => ({ event: 0, only: this.only(), version: `wall ${this.version}` }),
			percent: (n, of = this.tree.total[0]) => page.percent(n, of),
			perOp: () => "",
			countOf: (n) => `${(n / 1e9).toFixed(2)} s`,
			number: (n) => `${(n / 1e9).toFixed(2)} s`,
		};
		this.el.addEventListener("click", (e) => {
			const action = e.target.closest("[data-calls]")?.dataset.calls;
			if (action) this.actions[action]();
		});
	}

	actions = {
		flame: () => this.go({ shape: "flame", zoom: [] }),
		icicle: () => this.go({ shape: "icicle", zoom: [] }),
		sandwich: () => this.sandwich(),
		wall: () => this.go({ wall: !this.wall, zoom: [] }),
		back: () => this.page.back(),
		reset: () => this.go({ zoom: [], query: "" }),
		code: () => this.open(this.graph.cursor),
	};

	get tree() {
		const id = `p${this.page.profile()}${this.wall ? "-wall" : ""}-calls`;
		if (!this.trees.has(id)) {
			const text = this.$(id)?.textContent;
			if (!text) return null;
			const data = JSON.parse(text);
			this.trees.set(id, CallTree.unpack(data, CallTree.table(data)));
		}
		return this.trees.get(id);
	}
	// only returns, by the number of a state, whether the time of threads in it counts.
	only() {
		const only = [];
		for (const el of this.states) only[el.dataset.state] = el.querySelector("input").checked;
		return only;
	}

	// --- links ---

	link({ shape, method, zoom, callers, query, wall } = this) {
		const quote = this.page.quote;
		return (
			`#g=${shape}` +
			(shape === "sandwich" ? `&m=${quote(method)}` : "") +
			(zoom.length && callers ? "&w=callers" : "") +
			zoom.map((name) => `&z=${quote(name)}`).join("") +
			(query ? `&s=${quote(query)}` : "") +
			(wall ? "&x=wall" : "") +
			this.page.profileLink()
		);
	}
	go(change) {
		const { shape, method, zoom, callers, query, wall } = this;
		this.page.follow(this.link({ shape, method, zoom, callers, query, wall, ...change }), true);
	}
	// show shows what a link asks for.
	show(q) {
		const shape = q.get("g");
		this.shape = ["flame", "icicle", "sandwich"].includes(shape) ? shape : "flame";
		this.method = q.get("m") ?? "";
		this.zoom = q.getAll("z");
		this.callers = q.get("w") === "callers";
		this.wall = q.get("x") === "wall";
		this.page = this.wall ? this.pageOfTime : this.pageOfSamples;
		this.$("calls-query").value = this.query = q.get("s") ?? "";
		this.refresh(true);
		this.graph.box.focus({ preventScroll: true });
	}

	// refresh draws everything anew, for example because other samples count now. With moved, the cursor goes to the frame
	// that the link names.
	refresh(moved) {
		const { tree, method } = this;
		this.el.classList.toggle("none", !tree);
		for (const el of this.states) el.hidden = !this.wall;
		if (!tree) return this.page.notice(`This profile has no call stacks${this.wall ? " of waiting threads" : ""}.`);
		const { event, only, version } = this.page.samples();
		const state = `${event} ${version}`;
		if (tree.state !== state) tree.select(event, only);
		tree.state = state;
		let trees = [{ tree, up: this.shape === "flame", zoom: 0 }];
		if (this.shape === "sandwich") {
			const node = this.find(tree, [method]);
			const around = node > 0 && tree.around(tree.code(node));
			if (around) trees = [true, false].map((up) => ({ tree: around[+!up], up, zoom: 0 }));
			else this.page.notice(`${method} is not in the calls, or has too few samples.`);
		}
		const zoomed = trees[this.callers || trees.length < 2 ? 0 : 1];
		zoomed.zoom = Math.max(this.find(zoomed.tree, this.zoom), 0);
		this.markWords();
		const { cursor } = this.graph;
		const kept = !moved && trees.some((one) => one.tree === cursor?.tree) && tree.total[cursor.node] > 0;
		this.graph.show(trees, kept ? cursor : { tree: zoomed.tree, node: zoomed.zoom });
		this.legend();
		for (const button of this.el.querySelectorAll("[data-calls]")) {
			if (button.ariaPressed !== null)
				button.ariaPressed = button.dataset.calls === "wall" ? !!this.wall : button.dataset.calls === this.shape;
		}
	}

	// find returns the hottest node whose name is the first one, and whose caller's name is the second one, and so on.
	find(tree, names) {
		let best = -1;
		const fits = (node) => {
			let at = node;
			for (const name of names) {
				if (at <= 0 || tree.name(at) !== name) return false;
				at = tree.parent[at];
			}
			return true;
		};
		if (names.length) for (let i = 1; i < tree.size; i++) if (!(tree.total[i] <= (tree.total[best] ?? -1)) && fits(i)) best = i;
		return best;
	}
	// names returns the names of a node and of its callers, as many as find needs.
	names({ tree, node }) {
		const names = [];
		for (let at = node; at > 0; at = tree.parent[at]) {
			names.push(tree.name(at));
			if (names.length < 3 || names.length % 8 === 0) if (this.find(tree, names) === node) break;
		}
		return names;
	}

	// --- what the graph asks for ---

	kind(tree, node) {
		return tree.frame[node] < 0 ? "rest" : tree.table.kinds[tree.table.kind[tree.frame[node]]];
	}
	style(tree, node) {
		const kind = this.kind(tree, node);
		const found = this.matches?.[tree.code(node)];
		const gap = ["cut", "frozen", "unwalked", "rest"].includes(kind);
		return {
			fill: found ? "--f-match" : `--f-${gap ? "gap" : kind}`,
			hatch: gap,
			edge: tree.frame[node] >= 0 && tree.table.flags[tree.frame[node]] & 2,
			dim: this.words.length && !found,
		};
	}
	about(tree, node) {
		const { page } = this;
		const flags = tree.table.flags[tree.frame[node]] ?? 0;
		const kind = this.kind(tree, node);
		const parts = [];
		if (kind === "rest") parts.push(tree.labels(node)[0], this.kinds.get(kind).title);
		else {
			const { table } = tree;
			const module = table.modules[tree.code(node)];
			parts.push((flags & 1 ? "~" : "") + tree.labels(node)[0]);
			if (kind !== "root") parts.push(module || this.kinds.get(kind).title + (flags & 2 ? ", inlined" : ""));
			const several = ["compiled", "inlined", "interpreted"].filter((_, i) => flags & (4 << i));
			if (several.length > 1) parts.push(`partly ${several.join(", ")}`);
		}
		const text = (n) =>
			n ? [page.percent(n), page.perOp(n), page.countOf(n)].filter(Boolean).join(", ") : this.wall ? "no time" : "no samples";
		const zoom = this.graph.trees.find((one) => one.tree === tree)?.zoom;
		const total = tree.total[node];
		parts.push(`total ${text(total)}`);
		if (this.graph.trees.at(-1).tree === tree) parts.push(`self ${text(tree.self[node])}`);
		if (zoom && tree.depth[node] > tree.depth[zoom]) parts.push(`${page.percent(total, tree.total[zoom])} of the zoomed frame`);
		return parts.join(" · ");
	}
	chosen(at) {
		this.$("calls-where").textContent = this.about(at.tree, at.node);
		const button = this.el.querySelector("[data-calls=code]");
		button.disabled = !this.place(this.graph.cursor);
		button.title = button.disabled ? this.noCode(this.graph.cursor) : "The code of the method at the call (Enter)";
	}
	// noCode says why there is no code of a frame.
	noCode({ tree, node }) {
		const kind = this.kind(tree, node);
		if (["native", "kernel", "vm"].includes(kind)) return "The page has no code of libraries and of the kernel";
		if (["c1", "c2", "compiled"].includes(kind))
			return "The page has no code of this method: it has too few samples, or was inlined everywhere";
		return "This frame has no code";
	}
	place({ tree, node }) {
		const { place, places } = tree.table;
		return tree.frame[node] < 0 ? "" : (places[place[tree.frame[node]] - 1] ?? "");
	}
	open(at) {
		const id = this.place(at);
		if (id) return this.page.follow(`#${id}`, true);
		this.$("calls-where").textContent = `${this.noCode(at)} · ${this.about(at.tree, at.node)}`;
	}
	// sandwich goes to the callers and callees of the method at the cursor or, if that is at the root, of the hottest one.
	sandwich({ tree, node } = this.graph.cursor) {
		let method = node && tree.name(node);
		if (!method) {
			const { self } = this.tree;
			method = this.tree.name(self.indexOf(self.reduce((a, b, i) => (this.tree.frame[i] < 0 ? a : Math.max(a, b)), 0)));
		}
		this.go({ shape: "sandwich", method, zoom: [] });
	}

	// --- search ---

	search(query) {
		this.$("calls-query").value = this.query = query;
		this.page.replace(this.link());
		this.markWords();
		this.graph.paintLater();
	}
	markWords() {
		this.words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
		this.matches = null;
		const { tree } = this;
		let text = "";
		if (this.words.length) {
			const { names, modules } = tree.table;
			this.matches = names.map((name, i) => this.words.every((word) => `${name} ${modules[i]}`.toLowerCase().includes(word)));
			let frames = 0;
			for (let i = 1; i < tree.size; i++) frames += tree.total[i] > 0 && this.matches[tree.code(i)] ? 1 : 0;
			const n = tree.under((node) => node && this.matches[tree.code(node)]);
			text = frames
				? `${this.page.percent(n)} of the ${this.wall ? "time" : "samples"} (${this.page.number(n)}) in ${this.pageOfSamples.number(frames)} frames`
				: "nothing found";
		}
		this.$("calls-share").textContent = text;
	}

	// next moves the cursor to the widest frame that was found or, if it is at such a frame, to the next one in that order.
	next() {
		const { graph } = this;
		const found = [...graph.rows.values()].flat().filter((at) => at.tree && at.node && this.matches?.[at.tree.code(at.node)]);
		found.sort((a, b) => b.w - a.w);
		const to = found[(found.findIndex((at) => graph.is(at)) + 1) % found.length];
		if (to) graph.select(to);
	}

	// legend shows which kinds of frames there are.
	legend() {
		const { tree } = this;
		const kinds = new Set();
		for (let i = 1; i < tree.size; i++) {
			if (!tree.total[i]) continue;
			kinds.add(this.kind(tree, i));
			if (tree.table.flags[tree.frame[i]] & 2) kinds.add("inlined");
		}
		for (const [kind, el] of this.kinds) el.hidden = el.dataset.state ? !this.wall : !kinds.has(kind);
	}

	// --- keys ---

	// key returns what a key does, or null.
	key(e) {
		const { graph } = this;
		const inGraph = e.target === graph.box;
		const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
		if (inGraph && arrows[e.key]) return () => graph.move(...arrows[e.key]);
		if (inGraph && e.key === "n" && this.words.length) return () => this.next();
		if (inGraph && e.key === "Enter") return () => this.open(graph.cursor);
		if (inGraph && (e.key === " " || e.key === "z")) return () => this.zoomTo(graph.cursor);
		const keys = {
			"/": () => this.$("calls-query").focus(),
			c: () => this.sandwich(),
			i: () => this.go({ shape: this.shape === "flame" ? "icicle" : "flame" }),
			Backspace: this.page.back,
			Escape: () => {
				if (this.query) this.search("");
				else if (this.zoom.length) this.go({ zoom: [] });
				else if (this.shape === "sandwich") this.go({ shape: "flame" });
				else this.page.follow("#overview", true);
			},
		};
		return keys[e.key] ?? null;
	}
	zoomTo(at) {
		if (at.tree.frame[at.node] >= 0) this.go({ zoom: this.names(at), callers: at.tree !== this.graph.trees.at(-1).tree });
	}
}
