// Package page writes a report as one HTML file: a page that a browser opens from disk, without a network, a server or
// a library.
//
// [Write] takes profiles with listings ([profile.Options.Listings]), and their JSON report, whose numbers the overview
// shows. Everything is in the HTML: without JavaScript, the page shows the overview and, below it, all code. The script
// (page.js) shows one of them at a time, and adds keys, links, sorting, and the panel about the instruction at the
// cursor. A Content-Security-Policy forbids everything else: nothing can be fetched, and only the page's own script
// runs.
//
// Names of classes, methods, files and threads are data. They are escaped as in all text of gasm (package layout) and
// then for HTML: by html/template or, in rows of code, which are written without a template, by appendText. The script
// only sets text, never HTML.
//
// # What is where
//
// Tests and other programs may rely on these ids, classes and attributes:
//
//	html.on                        the script runs; html.in-code: it shows code, not the overview; html.filtered: not
//	                               all samples count
//	#top #home #switch #unit       the bar at the top: the link to the overview, the switch between profiles (a select,
//	                               if there are several), the unit of counts
//	#threads #time #only           which samples count: of which threads, of which slice of time; a text that says so
//	#notice                        what is wrong with a link
//	#overview                      the overview: .facts, .notes, #profiles (a table, if there are several), and a
//	                               section.profile (#p0, #p1 …) for each
//	.stack .legend .timeline       where the time went; samples over time, a figure.tl for each JVM, with a .pick for
//	                               each slice of time, [data-slice]
//	.hottest                       the hottest instruction, what it was made from, and its samples
//	section.t                      a table (.whole: its counts are not known by part): #p0-hot, #p0-methods, #p0-frames,
//	                               #p0-lines, #p0-regions, #p0-native, #p0-threads, #p0-compilations, #p0-jvms, #p0-forks,
//	                               #p0-sources, #p0-account
//	[data-n] [data-e]              a number of samples of an event (0 if not given), as the JSON has it, written in the
//	                               unit
//	[data-u]                       it is always written in that unit
//	[data-v]                       the same by part: "0.12 3" are 12 of part 0 and 1 of part 3. The parts are in #data
//	.unlisted                      which code is left out, and how to get it
//	article.code                   a listing: #c0, #c1 …, by heat, of the profile [data-p]; [data-hot] is the id of its
//	                               hottest row
//	.bar button[data-do]           hottest, next, arrows, fold, syntax, side
//	.rows .lines .k                the box that scrolls, what is in it, and its chunks, which the browser lays out when
//	                               they come into view
//	details.g                      a basic block with samples, or a run of blocks without (.cold); .in .l1 … .l4: in a
//	                               loop of that depth, [data-l] is its number. Its summary has the sum, B1, B2 …, and
//	                               .loop
//	div.r                          an instruction: #c0-1a0 is 0x1a0 bytes after the start of listing 0. [data-f] is its
//	                               inlining chain. .n: it has no debug info of its own. .s: it begins a block without
//	                               samples that shares its heading with the block before. b: counts; i: arrows, heavy if
//	                               they close a loop; code: the instruction; em: chips of inlined methods; u: a new
//	                               line; q: HotSpot's comments
//	.cur .sel .to .rel .hl         the cursor, the selection, the target of the jump at the cursor, everything related
//	                               to what the mouse is over, the arrow at the cursor
//	.map                           the map at the right of the code
//	.split                         the border of the side panel, which can be moved
//	.side .at .chain .jumps        the side panel: the chain and the jumps at the cursor, tables of inlined methods and loops
//	#source #tabs .file .sl        sources: a tab and a div#s0 for each file, with a .sl for each line, [data-l];
//	                               .at-cursor is the line of the instruction at the cursor, .at: code was made from it
//	#status #where #signs          the lines at the bottom: the sum of the selection; what the signs of the code mean
//	#copy-text #copy-markdown #find #query #hits #help
//	#data, script.d                JSON for the script: profiles and files; for each listing, its methods, its chains
//	                               (method, bytecode index and line, from the innermost frame on), its other syntax,
//	                               and for each loop, the number of the loop around it and the rows that it closes with
//
// A link that survives another run names the method and, as far as needed, the tier, the offset, the profile, and which
// of several listings it is (n):
//
//	#m=java.util.HashMap::getNode&t=c2, level 4&n=2&o=0x3c&p=org.acme.Bench.get
package page
