// Package page writes a report as one HTML file: a page that a browser opens from disk, without a network, a server or
// a library.
//
// [Write] takes profiles with listings ([choice.Options.Listings]) and their JSON report. The overview shows the
// numbers of the JSON report. Everything is in the HTML: without JavaScript, the page shows the overview and, below it,
// all code. With JavaScript, the page shows the overview, code, or calls. The script (page.js) also adds keys, links,
// sorting, and the panel about the instruction at the cursor. A Content-Security-Policy prevents the page from fetching
// anything, and from running any other script.
//
// Names of classes, methods, files and threads are data. They are escaped as in all other text that gasm writes (see
// package layout), and then escaped again for HTML. html/template does the second step in most of the page. Rows of
// code are written without a template, so show.Append does it for them. The script only sets text, never HTML.
//
// # What is where
//
// Tests and other programs may rely on these ids, classes and attributes:
//
//	html.on                        the script runs; html.in-code: the page shows code, not the overview; html.filtered:
//	                               not all samples count
//	#top #home #switch #unit       the bar at the top: the link to the overview, the switch between profiles (a select,
//	                               if there are several), the unit of counts
//	#threads #time #only           the choice of the threads and of the slice of time whose samples count; a text that
//	                               names the choice
//	#notice                        a message about a link that can't be followed
//	#overview                      the overview: .facts, .notes, #profiles (a table, if there are several), and a
//	                               section.profile (#p0, #p1 …) for each
//	.stack .legend .timeline       where the time went; samples over time, a figure.tl for each JVM, with a .pick for
//	                               each slice of time, [data-slice]
//	.hottest                       the hottest instruction, its source, and its samples
//	section.t                      a table (.whole: its counts are not known by part): #p0-hot, #p0-loops, #p0-methods,
//	                               #p0-frames, #p0-lines, #p0-regions, #p0-native, #p0-threads, #p0-events, #p0-locks, #p0-parks,
//	                               #p0-allocations, #p0-compilations, #p0-jvms, #p0-forks, #p0-sources, #p0-account,
//	                               #p0-not-inlined, #p0-interpreted, #p0-libjvm, #p0-jit, #p0-longest, #p0-jit-methods, #p0-again,
//	                               #p0-deopts
//	#p0-waits #p0-pools #p0-lock-owners #p0-deadlocks #p0-virtual
//	                               tables of how threads spent wall-clock time
//	#p0-lanes                      time lanes of threads: .lane-filter .lane-idle [data-lanes] choose what is shown; .lane-box
//	                               has the drawing, and options for screen readers: the threads around the cursor;
//	                               .lane-where is about the thread under the mouse or at the cursor, .lane-stacks has the
//	                               stacks at the chosen moment, .lane-data is JSON: see lanesData
//	.warm                          when the JVMs were warm, and in a time line the line at that moment
//	details.callers                the callers of a place in the tables #p0-locks, #p0-parks and #p0-allocations
//	[data-n] [data-e]              [data-n] is a number of samples, as in the JSON, which is shown in the chosen unit.
//	                               [data-e] is the number of the event; without it, the event is number 0
//	[data-u]                       the unit in which the number is always shown, whatever unit is chosen
//	[data-v]                       the same samples by part: "0.12 3" are 12 samples of part 0 and 1 of part 3. The
//	                               parts are in #data
//	.unlisted                      which code is left out, and how to get it
//	article.code                   a listing: #c0, #c1 …, the hottest first. [data-p] is its profile, and [data-hot] the
//	                               id of its hottest row
//	.bar button[data-do]           hottest, next, arrows, fold, syntax, side
//	.rows .lines .k                the box that scrolls, what is in it, and its chunks, which the browser lays out when
//	                               they come into view
//	details.g                      a basic block with samples, or a run of blocks without samples (.cold). .in .l1 … .l4:
//	                               in a loop of that depth, whose number is [data-l]. The summary of the block has the
//	                               sum of the samples, B1, B2 …, and .loop
//	div.r                          an instruction: #c0-1a0 is 0x1a0 bytes after the start of listing 0. [data-f] is its
//	                               inlining chain. .n: it has no debug info of its own. .s: it begins a block without
//	                               samples that shares its heading with the block before. b: counts; i: arrows, heavy if
//	                               they close a loop; code: the instruction; em: chips of inlined methods; u: a new
//	                               line; q: HotSpot's comments; q.jit: what its profile says
//	.cur .sel .to .rel .hl         the cursor, the selection, the target of the jump at the cursor, everything related
//	                               to the element under the mouse, the arrow at the cursor
//	.map                           the map at the right of the code
//	.split                         the border of the side panel, which can be moved
//	.side .at .chain .jumps        the side panel: the chain and the jumps at the cursor, tables of inlined methods and loops;
//	                               in .loops, a tr.lp for each loop, and after it a row that says what the loop is;
//	                               details.model: what llvm-mca or OSACA says of it
//	#source #tabs .file .sl        sources: a tab and a div#s0 for each file, with a .sl for each line, [data-l];
//	                               .at-cursor is the line of the instruction at the cursor, .at is a line that code was
//	                               made from
//	#calls                         the view of calls; html.in-calls: the page shows it. [data-calls] are its buttons: flame,
//	                               icicle, sandwich, back, reset, code. #calls-query #calls-share: the search, and what it
//	                               has found. #calls-where: a line about the frame at the cursor or under the mouse
//	#graph                         the flame graph: a canvas, and a tree for screen readers ([role=treeitem]) with the frame
//	                               at the cursor, its callers, its neighbours and its children
//	[data-kind]                    a kind of frames in the legend; with [data-state], a state of threads whose time counts or not
//	#p0-calls #p0-wall-calls       JSON: a profile's trees of calls, one of samples and one of wall-clock time, see htmlpage.Calls
//	#status #where #signs          the lines at the bottom: the sum of the selection; the meaning of the signs in the code
//	#copy-text #copy-markdown #find #query #hits #help
//	#data, script.d                JSON for the script: profiles and files; for each listing, its methods, its chains
//	                               (method, bytecode index and line, from the innermost frame on), its other syntax,
//	                               and for each loop, the number of the loop around it and the rows that it closes with
//
// Ids may change when the program is profiled again. A link that should also work for another run has the method's name
// instead of an id. If necessary, it also names the tier (t), the offset (o), the profile (p), and which of several
// listings is meant (n):
//
//	#m=java.util.HashMap::getNode&t=c2, level 4&n=2&o=0x3c&p=org.acme.Bench.get
//
// The link to a flame graph has its form (g: flame, icicle or sandwich), the method of a sandwich (m), the frame that
// is zoomed and as many of its callers as are needed to find it (z), whether that frame is among the callers of a
// sandwich (w), and the searched text (s):
//
//	#g=flame&z=java.util.HashMap::get&z=org.acme.Users::find&s=hash
//
// # Calls
//
// If the profile has call stacks, the page has a tree of calls, and the script draws it. The scripts for that have
// files of their own, and only pages with calls include them: calltree.js (sums, callers and callees) and flame.js
// (drawing, the cursor) in package htmlpage, which know nothing about the page, and calls.js (links, search, texts,
// keys). The tree is bounded: it has the calls with the most samples, and each node has the samples of those that are
// left out, so all sums are right. A second tree has the wall-clock time of threads, if that was recorded. Its links
// have x=wall.
//
// # Threads over time
//
// If the capture says how threads spent wall-clock time, lanes.js draws a lane for each thread, in the style of
// lanes.css. Only pages with such lanes have these files. The script works by itself. Its data is bounded: short spans
// are joined if there are too many.
package page
