/* exported CallTree */

// A CallTree is a tree of calls with the samples of each. Node 0 is the root, and a parent comes before its children.
// A node has a frame: a number in a table that several trees share, or REST for children that are left out.
class CallTree {
	static REST = -1;

	// A table has frames and their codes, as the page's data has them: see Calls in calls.go.
	static table(data) {
		const field = (list, width, at) => Int32Array.from({ length: list.length / width }, (_, i) => list[i * width + at]);
		const [code, kind, flags, line, place] = [0, 1, 2, 3, 4].map((at) => field(data.frames, 5, at));
		const name = (i) => data.names[i] ?? "";
		const names = data.codes.filter((_, i) => i % 2 === 0).map(name);
		const modules = data.codes.filter((_, i) => i % 2).map((i) => name(i - 1));
		return { code, kind, flags, line, place, names, modules, places: data.places, kinds: data.kinds };
	}

	// unpack returns the tree of the page's data, without samples.
	static unpack(data, table) {
		const tree = new CallTree(table);
		const path = [];
		for (let i = 0; i < data.nodes.length; i += 2) {
			path.length = Math.max(path.length - data.nodes[i + 1], 0);
			path.push(tree.add(path.at(-1) ?? -1, data.nodes[i]));
		}
		for (let i = 0, node = 0; i < data.others.length; i += 2) {
			node += data.others[i];
			const rest = tree.add(node, CallTree.REST);
			tree.rest.set(rest, data.others[i + 1]);
			tree.restOf.set(node, rest);
		}
		tree.data = data;
		return tree;
	}

	constructor(table) {
		this.table = table;
		this.parent = [];
		this.frame = [];
		this.self = [];
		this.depth = [];
		this.mixed = new Set(); // nodes with frames at several lines
		this.rest = new Map(); // node of the frame REST → how many children it stands for; 0 if that is not known
		this.restOf = new Map(); // its parent → such a node
	}

	get size() {
		return this.parent.length;
	}

	add(parent, frame) {
		this.depth.push(parent < 0 ? 0 : this.depth[parent] + 1);
		this.self.push(0);
		this.frame.push(frame);
		return this.parent.push(parent) - 1;
	}

	code(node) {
		return this.frame[node] < 0 ? -1 : this.table.code[this.frame[node]];
	}

	name(node) {
		return this.table.names[this.code(node)] ?? "";
	}

	// labels returns the name of a node in several lengths, the longest one first.
	labels(node) {
		if (this.frame[node] < 0) return [this.rest.get(node) ? `(${this.rest.get(node)} smaller ones)` : "(deeper ones)"];
		const name = this.name(node);
		const line = (!this.mixed.has(node) && this.table.line[this.frame[node]]) || 0;
		const tail = line ? `:${line}` : "";
		const [owner, method] = name.split("::");
		if (method === undefined) return [name + tail];
		const brief = owner.replace(/[/+].*/, "").replace(/.*\./, "");
		return [name + tail, `${brief}::${method}${tail}`, `${brief}::${method}`, method];
	}

	// select sets the samples to those of an event in the parts for which only is true, or in all if it is null.
	select(event, only) {
		this.self.fill(0);
		const add = (list = [], to) => {
			for (let i = 0, node = 0; i < list.length;) {
				node += list[i++];
				for (let parts = list[i++]; parts; parts--, i += 2) if (!only || only[list[i]]) this.self[to(node)] += list[i + 1];
			}
		};
		add(this.data.self[event], (node) => node);
		add(this.data.rest[event], (node) => this.restOf.get(node));
		return this.sum();
	}

	// sum computes the totals, and sorts the children of each node by their totals.
	sum() {
		const n = this.size;
		this.total = Float64Array.from(this.self);
		for (let i = n - 1; i > 0; i--) this.total[this.parent[i]] += this.total[i];
		if (this.first?.length !== n + 1) {
			this.first = new Int32Array(n + 1); // where a node's children begin in kids
			for (let i = 1; i < n; i++) this.first[this.parent[i] + 1]++;
			for (let i = 0; i < n; i++) this.first[i + 1] += this.first[i];
			const next = this.first.slice();
			this.kids = new Int32Array(Math.max(n - 1, 0));
			for (let i = 1; i < n; i++) this.kids[next[this.parent[i]]++] = i;
		}
		const order = (a, b) => (this.frame[a] < 0) - (this.frame[b] < 0) || this.total[b] - this.total[a] || a - b;
		for (let i = 0; i < n; i++) if (this.first[i + 1] - this.first[i] > 1) this.children(i).sort(order);
		return this;
	}

	// children returns a node's children, those with the most samples first, and those that are left out last.
	children(node) {
		return this.kids.subarray(this.first[node], this.first[node + 1]);
	}

	// path returns the nodes from the root to a node.
	path(node) {
		const path = [];
		for (let i = node; i >= 0; i = this.parent[i]) path.unshift(i);
		return path;
	}

	// under sums up the samples with at least one node for which ok is true, each sample once. It calls see for all such
	// nodes that are not below others.
	under(ok, see = () => {}) {
		const inside = new Uint8Array(this.size);
		let sum = 0;
		for (let i = 0; i < this.size; i++) {
			inside[i] = i && inside[this.parent[i]];
			if (inside[i] || !ok(i)) continue;
			inside[i] = 1;
			sum += this.total[i];
			see(i);
		}
		return sum;
	}

	// around returns two trees whose roots are a given code: the tree of its callers, and that of what it calls. Each
	// of them has every sample below the code once, wherever in this tree the code is. If the code calls itself, its
	// outermost frame counts. around returns null if there are no samples.
	around(code) {
		const grow = () => {
			const tree = new CallTree(this.table);
			const index = new Map();
			const most = [];
			tree.step = (parent, node) => {
				const key = (parent + 1) * 4194304 + this.code(node) + 1;
				let at = index.get(key);
				if (at === undefined) index.set(key, (at = tree.add(parent, this.frame[node])));
				const { line } = this.table;
				if (this.rest.has(node)) tree.rest.set(at, (tree.rest.get(at) || 0) + this.rest.get(node));
				if (this.frame[node] >= 0 && (this.mixed.has(node) || line[this.frame[node]] !== line[tree.frame[at]])) tree.mixed.add(at);
				if (!(this.total[node] <= most[at])) [most[at], tree.frame[at]] = [this.total[node], this.frame[node]];
				return at;
			};
			return tree;
		};
		const [callers, callees] = [grow(), grow()];
		const to = new Int32Array(this.size).fill(-1); // in callees
		this.under(
			(node) => this.code(node) === code && this.total[node] > 0,
			(node) => {
				to[node] = callees.step(-1, node);
				let at = callers.step(-1, node);
				for (let up = this.parent[node]; up > 0; up = this.parent[up]) at = callers.step(at, up);
				callers.self[at] += this.total[node];
			},
		);
		for (let i = 0; i < this.size; i++) {
			const up = i ? to[this.parent[i]] : -1;
			if (to[i] < 0 && up >= 0 && this.total[i] > 0) to[i] = callees.step(up, i);
			if (to[i] >= 0) callees.self[to[i]] += this.self[i];
		}
		return callers.size ? [callers.sum(), callees.sum()] : null;
	}
}
