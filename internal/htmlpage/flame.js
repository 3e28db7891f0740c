/* exported FlameGraph */

// A FlameGraph draws one or two trees of calls in a box: one upwards from its root, as a flame, and one downwards. The host
// knows what the frames mean:
//
//   style(tree, node)  { fill, hatch, edge, dim }: a colour of the style sheet, and how to draw the frame
//   about(tree, node)  the whole text about a frame, for screen readers
//   chosen(at)         is called when another frame is under the mouse or, if none is, at the cursor
//   zoomTo(at)         what a click does
//   open(at)           what a second click does
//
// A place in the graph is { tree, node }. Frames that are too narrow to be seen share a gap, so the time that drawing takes
// depends on the size of the box alone. The canvas is only as large as the box. Screen readers get a tree of the cursor's
// frame, its callers, its neighbours and its children.
class FlameGraph {
	static ROW = 18; // height of a row in pixels
	static LEAST = 0.5; // width of the narrowest frame that is drawn

	constructor(box, host) {
		this.box = box;
		this.host = host;
		const make = (tag, name) => box.appendChild(Object.assign(document.createElement(tag), { className: name }));
		this.canvas = make("canvas", "frames");
		this.room = make("div", "room"); // is as high as the whole graph
		this.items = make("div", "items"); // for screen readers
		for (const el of [this.canvas, this.room]) el.ariaHidden = true;
		this.items.setAttribute("role", "presentation");
		this.colours = new Map();
		this.trees = [];
		this.cursor = this.hovered = null;
		box.addEventListener("scroll", () => this.paintLater(), { passive: true });
		box.addEventListener("mousemove", (e) => this.hover(this.hit(e)));
		box.addEventListener("mouseleave", () => this.hover(null));
		box.addEventListener("click", (e) => this.click(this.hit(e)));
		new ResizeObserver(() => this.trees.length && !this.printing && this.layout()).observe(box);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour(""));
		addEventListener("beforeprint", () => this.print(true));
		addEventListener("afterprint", () => this.print(false));
	}

	// show draws trees: [{ tree, up, zoom }]. If there are two, their roots share a row, and the first one grows upwards. The
	// root is that of the last one.
	show(trees, cursor) {
		this.trees = trees;
		this.hovered = null;
		this.cursor = cursor;
		this.layout();
		this.reveal();
		this.announce();
	}

	// layout computes which frames are wide enough, and where they are.
	layout() {
		const width = (this.width = this.box.clientWidth);
		this.rows = new Map(); // row → its frames, from left to right; rows above the root are negative
		let [top, bottom] = [0, 0];
		for (const { tree, up, zoom } of this.trees) {
			const put = (depth, frame) => {
				const y = up ? -depth : depth;
				[top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
				if (!this.rows.has(y)) this.rows.set(y, []);
				if (depth || tree === this.trees.at(-1).tree) this.rows.get(y).push(frame); // the last tree draws the root
			};
			for (const node of tree.path(zoom).slice(0, -1)) put(tree.depth[node], { tree, node, x: 0, w: width });
			const todo = [[zoom, 0, width]];
			while (todo.length) {
				const [node, x, w] = todo.pop();
				put(tree.depth[node], { tree, node, x, w });
				const scale = w / tree.total[node];
				let at = x;
				let narrow = tree.total[node] - tree.self[node]; // samples of children that are not drawn
				const add = (child) => {
					todo.push([child, at, tree.total[child] * scale]);
					at += tree.total[child] * scale;
					narrow -= tree.total[child];
				};
				const wide = (child) => tree.total[child] * scale >= FlameGraph.LEAST;
				const children = tree.children(node);
				const last = children.length && tree.frame[children.at(-1)] < 0 ? children.at(-1) : 0;
				for (const child of children) {
					if (!wide(child)) break;
					add(child);
				}
				if (narrow && last && wide(last)) add(last);
				if (narrow * scale >= FlameGraph.LEAST) put(tree.depth[node] + 1, { x: at, w: narrow * scale });
			}
		}
		for (const list of this.rows.values()) list.sort((a, b) => a.x - b.x);
		if (this.trees.length < 2 && this.trees[0].up) top = Math.min(top, bottom + 1 - Math.floor(this.box.clientHeight / FlameGraph.ROW)); // at the bottom of the box
		this.top = top;
		this.room.style.height = `${(bottom - top + 1) * FlameGraph.ROW}px`;
		this.paint();
	}

	paintLater() {
		this.pending ??= requestAnimationFrame(() => this.paint());
	}

	paint() {
		this.pending = null;
		const { canvas, box, width } = this;
		const height = box.clientHeight;
		const ratio = devicePixelRatio || 1;
		canvas.width = Math.max(width * ratio, 1);
		canvas.height = Math.max(height * ratio, 1);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
		const g = (this.g = canvas.getContext("2d"));
		g.scale(ratio, ratio);
		g.font = getComputedStyle(canvas).font;
		this.letter = g.measureText("x").width;
		const { ROW } = FlameGraph;
		const from = box.scrollTop;
		for (let row = Math.floor(from / ROW); row * ROW < from + height; row++) {
			for (const at of this.rows.get(row + this.top) ?? []) this.frame(at, row * ROW - from);
		}
	}

	frame(at, y) {
		const { g } = this;
		const { fill, hatch, edge, dim } = at.tree ? this.host.style(at.tree, at.node) : { fill: "--f-gap", hatch: true };
		const [x, h] = [at.x, FlameGraph.ROW - 1];
		const w = Math.max(at.w - (at.w > 3 ? 1 : 0), FlameGraph.LEAST);
		g.globalAlpha = dim ? 0.35 : 1;
		g.fillStyle = this.colour(fill);
		g.fillRect(x, y, w, h);
		g.save();
		g.beginPath();
		g.rect(x, y, w, h);
		g.clip();
		if (hatch && w > 3) {
			g.strokeStyle = this.colour("--f-line");
			g.beginPath();
			for (let i = x - h; i < x + w; i += 6) {
				g.moveTo(i, y + h);
				g.lineTo(i + h, y);
			}
			g.stroke();
		}
		if (edge && w > 6) {
			g.fillStyle = this.colour("--f-line");
			for (let i = y; i < y + h; i += 4) g.fillRect(x, i, 2, 2);
		}
		const room = Math.floor((w - 7) / this.letter);
		if (room > 1 && at.tree) {
			g.globalAlpha = 1;
			g.fillStyle = this.colour("--f-text");
			const texts = at.tree.labels(at.node);
			let text = texts.find((one) => one.length <= room) ?? texts.at(-1);
			if (text.length > room) text = room > 3 ? `${text.slice(0, room - 1)}…` : "";
			g.textBaseline = "middle";
			g.fillText(text, x + 4, y + h / 2 + 0.5);
		}
		g.restore();
		g.globalAlpha = 1;
		const is = (other) => other && at.tree === other.tree && at.node === other.node;
		if (is(this.cursor) || is(this.hovered)) {
			g.strokeStyle = this.colour("--f-cursor");
			g.lineWidth = is(this.cursor) ? 2 : 1;
			g.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), h - 2);
			g.lineWidth = 1;
		}
	}

	// colour returns the value of a colour of the style sheet. The canvas does not know variables.
	colour(name) {
		if (!this.colours.has(name)) {
			this.room.style.color = `var(${name})`;
			this.colours.set(name, getComputedStyle(this.room).color);
		}
		return this.colours.get(name);
	}
	recolour(scheme) {
		this.box.style.colorScheme = scheme;
		this.colours.clear();
		if (this.trees.length) this.paint();
	}
	// print prepares the picture for printing. Only what is in view is printed.
	print(begins) {
		this.recolour(begins ? "light" : "");
		this.printing = begins;
	}

	// --- mouse ---

	hit(e) {
		const box = this.box.getBoundingClientRect();
		const [x, y] = [e.clientX - box.left, e.clientY - box.top + this.box.scrollTop];
		const row = this.rows?.get(Math.floor(y / FlameGraph.ROW) + this.top) ?? [];
		return row.findLast((at) => at.tree && at.x <= x && x < at.x + Math.max(at.w, 1)) ?? null;
	}
	hover(at) {
		if (at === this.hovered) return;
		this.hovered = at;
		this.box.style.cursor = at ? "pointer" : "";
		this.host.chosen(at ?? this.cursor);
		this.paintLater();
	}
	click(at) {
		if (!at) return;
		const again = this.trees.some(({ tree, zoom }) => tree === at.tree && zoom === at.node) && this.is(at);
		this.select(at);
		if (again) this.host.open(at);
		else this.host.zoomTo(at);
	}

	// --- the cursor ---

	is(at) {
		return this.cursor?.tree === at.tree && this.cursor.node === at.node;
	}
	select(at) {
		this.cursor = { tree: at.tree, node: at.node };
		this.reveal();
		this.announce();
		this.paintLater();
	}
	place() {
		const { tree, node } = this.cursor;
		const { up } = this.trees.find((one) => one.tree === tree);
		const y = up ? -tree.depth[node] : tree.depth[node];
		const row = (this.rows.get(y) ?? []).filter((r) => r.tree);
		return { row, at: row.findIndex((r) => this.is(r)), y, up };
	}
	reveal() {
		const y = (this.place().y - this.top) * FlameGraph.ROW;
		const { box } = this;
		const least = Math.min(3 * FlameGraph.ROW, box.clientHeight / 3);
		if (y < box.scrollTop + least) box.scrollTop = y - least;
		else if (y + FlameGraph.ROW + least > box.scrollTop + box.clientHeight) box.scrollTop = y + FlameGraph.ROW + least - box.clientHeight;
	}
	// move moves the cursor: dx to a neighbour in the row, dy to the row above (-1) or below (1).
	move(dx, dy) {
		const { row, at, y, up } = this.place();
		if (dx) return row[at + dx] && this.select(row[at + dx]);
		const { tree, node } = this.cursor;
		if (this.trees.length > 1 && !node) return this.into(this.trees.find((one) => one.up === dy < 0).tree, 0, y + dy);
		if (up === dy < 0) return this.into(tree, node, y + dy);
		if (node) this.select({ tree: tree.parent[node] ? tree : this.trees.at(-1).tree, node: tree.parent[node] });
	}
	into(tree, node, y) {
		const child = (this.rows.get(y) ?? []).find((r) => r.tree === tree && tree.parent[r.node] === node);
		if (child) this.select(child);
	}

	// announce makes the tree for screen readers.
	announce() {
		const { tree, node } = this.cursor;
		const most = 20;
		const items = [];
		const add = (one, list) => {
			const el = Object.assign(document.createElement("div"), {
				id: `${this.box.id}-${items.length}`,
				textContent: this.host.about(tree, one),
			});
			el.setAttribute("role", "treeitem");
			el.ariaLevel = tree.depth[one] + 1;
			el.ariaPosInSet = list.indexOf(one) + 1;
			el.ariaSetSize = list.length;
			if (tree.children(one).length) el.ariaExpanded = one !== node && !path.includes(one) ? "false" : "true";
			el.ariaSelected = one === node;
			if (one === node) this.box.setAttribute("aria-activedescendant", el.id);
			items.push(el);
		};
		const path = tree.path(node);
		const siblings = (one) => (one ? tree.children(tree.parent[one]) : [0]);
		for (const one of path.slice(0, -1)) add(one, siblings(one));
		const list = siblings(node);
		const from = Math.max(list.indexOf(node) - most / 2, 0);
		for (const one of list.slice(from, from + most)) {
			add(one, list);
			if (one === node) for (const child of tree.children(node).slice(0, most)) add(child, tree.children(node));
		}
		this.items.replaceChildren(...items);
		this.host.chosen(this.cursor);
	}
}
