/* global DiffCalls */
"use strict";
// The page works without this script. What it adds: keys that lead from one changed block to the next, and sorting.
(() => {
	const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
	$$(".calls").forEach((el) => new DiffCalls(el));
	const blocks = $$(".block.differs > summary");
	const folded = $$(".block:not([open])"); // at first
	const open = (el) => {
		for (let d = el.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
	};

	// step leads to the changed block behind the one that has the focus, or before it.
	function step(by) {
		const at = blocks.indexOf(document.activeElement?.closest?.("summary"));
		const to = blocks[at < 0 ? (by > 0 ? 0 : blocks.length - 1) : (at + by + blocks.length) % blocks.length];
		if (!to) return;
		open(to);
		to.focus({ preventScroll: true });
		to.scrollIntoView({ block: "start" });
	}
	function fold() {
		const some = folded.some((el) => !el.open);
		folded.forEach((el) => (el.open = some));
	}
	const keys = { n: () => step(1), p: () => step(-1), f: fold };
	addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
		e.preventDefault();
		keys[e.key]();
	});
	document.getElementById("keys").textContent = "n, p: next, previous changed block · f: unfold what is folded";

	// A link to what is folded unfolds it.
	function show() {
		const el = document.getElementById(location.hash.slice(1));
		if (!el) return;
		open(el);
		el.scrollIntoView();
	}
	addEventListener("hashchange", show);
	addEventListener("beforeprint", () => $$("details").forEach((el) => (el.open = true)));
	show();

	for (const table of $$(".t table")) {
		const body = table.tBodies[0];
		const rows = [...body.rows];
		$$("th", table).forEach((th, column) => {
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = th.textContent;
			th.replaceChildren(button);
			button.addEventListener("click", () => {
				const numeric = th.classList.contains("n");
				const before = th.getAttribute("aria-sort");
				const down = before ? before === "ascending" : numeric;
				$$("th", table).forEach((other) => other.removeAttribute("aria-sort"));
				th.setAttribute("aria-sort", down ? "descending" : "ascending");
				const value = (tr) => (numeric ? parseFloat(tr.cells[column].textContent.replace(/^\.$/, "0")) : tr.cells[column].textContent);
				const order = (a, b) => (numeric ? a - b : a.localeCompare(b, "en"));
				rows.sort((x, y) => (down ? -1 : 1) * order(value(x), value(y)));
				body.append(...rows);
			});
		});
	}
})();
