/* global CallTree, FlameGraph */
/* exported DiffCalls */

// A DiffCalls shows the calls of both sides as one flame graph. The width of a frame is its share of B's samples, or of A's
// if the user chooses that. Its colour is the change of the share: red if it grew, blue if it shrank, grey if the change is
// within the noise.
class DiffCalls {
	constructor(el) {
		el.hidden = false;
		const data = JSON.parse(el.querySelector("script").textContent);
		this.noise = data;
		this.tree = CallTree.unpack(data, CallTree.table(data));
		this.totals = [0, 1].map((side) => this.tree.select(side, null).total);
		this.selves = [0, 1].map((side) => this.tree.select(side, null).self.slice());
		this.where = el.querySelector(".where");
		this.buttons = [...el.querySelectorAll("button")];
		this.graph = new FlameGraph(el.querySelector(".graph"), this);
		this.zoom = 0;
		this.buttons.forEach((button, side) => button.addEventListener("click", () => this.show(side, this.zoom)));
		this.graph.box.addEventListener("keydown", (e) => this.key(e));
		this.show(1, 0);
	}

	show(side, zoom) {
		this.side = side;
		this.zoom = zoom;
		this.tree.select(side, null);
		this.buttons.forEach((button, i) => (button.ariaPressed = i === side));
		this.graph.show([{ tree: this.tree, up: true, zoom }], { tree: this.tree, node: zoom });
	}
	key(e) {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		const { graph } = this;
		const keys = {
			ArrowLeft: () => graph.move(-1, 0),
			ArrowRight: () => graph.move(1, 0),
			ArrowUp: () => graph.move(0, -1),
			ArrowDown: () => graph.move(0, 1),
			Enter: () => this.zoomTo(graph.cursor),
			z: () => this.zoomTo(graph.cursor),
			Backspace: () => this.show(this.side, Math.max(this.tree.parent[this.zoom], 0)),
			Escape: () => this.show(this.side, 0),
		};
		if (!keys[e.key]) return;
		e.preventDefault();
		e.stopPropagation();
		keys[e.key]();
	}

	share(side, node) {
		return this.totals[side][node] / this.totals[side][0] || 0;
	}
	// level returns how much the share of a node changed, from -4 to 4; 0 if the change is within the noise.
	level(node) {
		const [a, b] = this.totals.map((total) => total[0]);
		const p = (this.totals[0][node] + this.totals[1][node]) / (a + b);
		const change = this.share(1, node) - this.share(0, node);
		const size = Math.abs(change);
		const noise = Math.max(this.noise.minChange, this.noise.factor * Math.sqrt(p * (1 - p) * (1 / a + 1 / b)));
		if (!(size >= noise)) return 0;
		return Math.sign(change) * (1 + [0.02, 0.05, 0.15].filter((from) => size >= from).length);
	}

	// --- what the graph asks for ---

	style(tree, node) {
		const level = this.level(node);
		const kind = tree.table.kinds[tree.table.kind[tree.frame[node]]];
		const fill = level ? `--d-${level > 0 ? "more" : "less"}${Math.abs(level)}` : "--f-root";
		return { fill, hatch: tree.frame[node] < 0 || ["cut", "frozen", "unwalked"].includes(kind) };
	}
	about(tree, node) {
		const percent = (n, of) => `${((100 * n) / of || 0).toFixed(2)}%`;
		const change = 100 * (this.share(1, node) - this.share(0, node));
		const both = (list) => [0, 1].map((side) => percent(list[side][node], this.totals[side][0])).join(" → ");
		const text = [
			tree.labels(node)[0] + (tree.table.modules[tree.code(node)] ? ` [${tree.table.modules[tree.code(node)]}]` : ""),
			`total ${both(this.totals)}: ${change > 0 ? "+" : ""}${change.toFixed(2)}${this.level(node) ? "" : ", within the noise"}`,
			`self ${both(this.selves)}`,
		];
		return text.join(" · ");
	}
	chosen(at) {
		this.where.textContent = this.about(at.tree, at.node);
	}
	zoomTo(at) {
		if (at.tree.frame[at.node] >= 0) this.show(this.side, at.node);
	}
	open() {
		this.show(this.side, 0);
	}
}
