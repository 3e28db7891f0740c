package page

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/arrows"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/page/chains"
	"github.com/gasm-profiler/gasm/report/page/show"
)

const (
	maxArrowColumns = 10
	// countColumns is the width, in characters, of one column of counts: "100.00%" and a blank.
	countColumns = 8
	// textColumns is the width, in characters, of an instruction's text before its comments. A longer instruction
	// pushes its comments to the right.
	textColumns = 38
	// chunkRows is the approximate number of rows in a chunk. The browser lays out a chunk when the chunk comes into
	// view.
	chunkRows = 50
	// pieceRows is the approximate number of rows in a piece. A piece is a group of chunks that the browser skips
	// together, because in large code it would take too long to look at each chunk.
	pieceRows = 1000
	// If a listing has hugeRows rows or more, each run of foldedRows or more rows without samples is folded when the
	// page is opened.
	hugeRows, foldedRows = 200, 12
)

// A rowWriter writes the rows of one listing as HTML. It does not use a template, because that takes several times as
// long for so many small pieces.
type rowWriter struct {
	number  int // the listing's number in the page
	listing *profile.Listing
	totals  []int64 // the profile's samples, by event
	blocks  []code.Block
	loops   []code.Loop
	facts   *loopFacts
	// loopsUnknown is true if the code is too large to look for its loops.
	loopsUnknown bool
	// shares[i] is true if line i begins a block that shares its heading with the block before.
	shares  []bool
	gutter  arrows.Gutter
	listed  map[string]int // the number of the hottest listing of each name in the profile
	chains  *chains.Listing
	chips   chains.Chips
	done    []byte // whole pieces
	piece   []byte // the piece that is being written: whole chunks
	out     []byte // the chunk that is being written
	rows    int    // rows in the open chunk
	inPiece int    // rows in the open piece
}

// write returns the HTML of all rows, in groups that can be folded. Each block with samples is a group, and so is each
// run of blocks without samples.
func (w *rowWriter) write() []byte {
	l := w.listing
	w.gutter = arrows.Layout(len(l.Lines), w.jumps(), maxArrowColumns, arrows.Unicode)
	w.done = make([]byte, 0, 200*len(l.Lines))
	w.shares = make([]bool, len(l.Lines))
	for first := 0; first < len(w.blocks); {
		last := first + 1
		for w.blocks[first].Cold() && last < len(w.blocks) && w.blocks[last].Cold() {
			w.shares[w.blocks[last].From] = true
			last++
		}
		w.group(first, last)
		first = last
	}
	w.endChunk()
	w.endPiece()
	return w.done
}

// jumps returns the jumps within the code. Jumps that close a loop are drawn differently. Otherwise a slow path at the
// end of the code, which also jumps back, would look like a loop.
func (w *rowWriter) jumps() []arrows.Arrow {
	lines, closing := w.listing.Lines, w.closing()
	var found []arrows.Arrow
	for i := range lines {
		if to := code.LineAt(lines, lines[i].Target); lines[i].Jumps() && to >= 0 {
			found = append(found, arrows.Arrow{From: i, To: to, Loop: closing[i]})
		}
	}
	return found
}

// closing returns the set of the lines whose jumps close a loop.
func (w *rowWriter) closing() map[int]bool {
	all := map[int]bool{}
	for i := range w.loops {
		for _, end := range w.loops[i].Ends(w.listing.Lines, w.blocks) {
			all[end] = true
		}
	}
	return all
}

// startChunk counts rows that are about to be written. If the open chunk has no room for them, startChunk ends it
// first, so that the rows begin the next chunk.
func (w *rowWriter) startChunk(rows int) {
	if w.rows > 0 && w.rows+rows > chunkRows {
		w.endChunk()
	}
	w.rows += rows
}

// endChunk ends the open chunk. The style of the chunk has the number of rows, so that the browser knows the chunk's
// height before it lays the chunk out.
func (w *rowWriter) endChunk() {
	if w.rows > 0 {
		w.piece = appendChunk(w.piece, w.rows, w.out)
		w.inPiece += w.rows
	}
	w.out, w.rows = w.out[:0], 0
	if w.inPiece >= pieceRows {
		w.endPiece()
	}
}

// endPiece ends the open piece. Code of fewer than 2*pieceRows rows is not divided into pieces.
func (w *rowWriter) endPiece() {
	if len(w.listing.Lines) < 2*pieceRows {
		w.done = append(w.done, w.piece...)
	} else if w.inPiece > 0 {
		w.done = appendChunk(w.done, w.inPiece, w.piece)
	}
	w.piece, w.inPiece = w.piece[:0], 0
}

// appendChunk appends the HTML element of a chunk or of a piece. text is the content of the element: the rows of the
// chunk, or the chunks of the piece. rows is the number of rows in it.
func appendChunk(b []byte, rows int, text []byte) []byte {
	b = strconv.AppendInt(append(b, `<div class="k" style="--r:`...), int64(rows), 10)
	return append(append(append(b, "\">\n"...), text...), "</div>\n"...)
}

// group writes the blocks [first, last).
func (w *rowWriter) group(first, last int) {
	from, to := w.blocks[first].From, w.blocks[last-1].To
	cold := w.blocks[first].Cold()
	closed := cold && len(w.listing.Lines) >= hugeRows && to-from >= foldedRows
	rows, large := to-from+1, to-from > 2*chunkRows
	if closed {
		rows = 1
	}
	if large {
		w.endChunk()
		w.endPiece()
	} else {
		w.startChunk(rows)
	}
	w.out = append(w.out, `<details class="g`...)
	if cold {
		w.out = append(w.out, " cold"...)
	}
	loop := w.commonLoop(first, last)
	if loop >= 0 {
		w.out = strconv.AppendInt(append(w.out, " in l"...), int64(min(w.loops[loop].Depth, 4)), 10)
		w.out = strconv.AppendInt(append(w.out, `" data-l="`...), int64(loop+1), 10)
	}
	w.out = append(w.out, '"')
	if !closed {
		w.out = append(w.out, " open"...)
	}
	w.out = append(w.out, ">\n<summary>"...)
	w.heading(first, last, loop)
	w.out = append(w.out, "</summary>\n"...)
	if large {
		w.largeGroup(from, to)
		return
	}
	for i := from; i < to; i++ {
		w.row(i)
	}
	w.out = append(w.out, "</details>\n"...)
}

// largeGroup writes the rows of a group that is divided into chunks, and ends the group.
func (w *rowWriter) largeGroup(from, to int) {
	w.done = append(append(w.done, "<div>\n"...), w.out...)
	w.out = w.out[:0]
	for i := from; i < to; i++ {
		w.row(i)
		if w.rows++; w.rows == chunkRows {
			w.endChunk()
		}
	}
	w.endChunk()
	w.endPiece()
	w.done = append(w.done, "</details>\n</div>\n"...)
}

// commonLoop returns the innermost loop around the blocks [first, last). It returns -1 if the blocks are in different
// loops or in none.
func (w *rowWriter) commonLoop(first, last int) int {
	loop := w.blocks[first].Loop
	for _, b := range w.blocks[first+1 : last] {
		if b.Loop != loop {
			return -1
		}
	}
	return loop
}

// heading writes the line above a group: its samples, its arrows, its blocks and its loop.
func (w *rowWriter) heading(first, last, loop int) {
	sum := make(tally.Counts, len(w.totals))
	for _, b := range w.blocks[first:last] {
		sum.Add(b.Counts)
	}
	w.counts(sum, nil) // without counts by part, because the script adds up those of the rows
	if from := w.blocks[first].From; from > 0 && w.gutter.Width > 0 {
		w.arrows(w.gutter.After[from-1])
	} else {
		w.arrows(strings.Repeat(" ", w.gutter.Width))
	}
	w.out = append(w.out, "B"...)
	w.out = strconv.AppendInt(w.out, int64(first+1), 10)
	if last > first+1 {
		w.out = strconv.AppendInt(append(w.out, "–B"...), int64(last), 10)
	}
	w.out = append(w.out, " · "...)
	w.out = append(w.out, show.Count(w.blocks[last-1].To-w.blocks[first].From, "instruction")...)
	switch {
	case loop >= 0:
		w.out = append(w.out, ` · <span class="loop">`...)
		w.out = append(w.out, w.loopName(loop, first)...)
		w.out = append(w.out, "</span>"...)
		if limit := w.facts.limit(loop); limit != "" {
			w.out = show.Append(append(w.out, " · "...), limit)
		}
	case !w.blocks[first].Cold() && !w.loopsUnknown:
		w.out = append(w.out, ` · <span class="loop none">in no loop</span>`...)
	}
	for _, b := range w.blocks[first:last] {
		if section := w.listing.Lines[b.From].Section; section != "" {
			w.out = append(show.Append(append(w.out, " ["...), section), ']')
		}
	}
}

// loopName returns a text that names the loop that a group is in, and says whether the loop begins with the group.
func (w *rowWriter) loopName(loop, first int) string {
	text := "loop " + strconv.Itoa(loop+1)
	if w.loops[loop].Head == first {
		text = "↻ " + text + " begins"
	}
	if parent := w.loops[loop].Parent; parent >= 0 {
		text += ", in loop " + strconv.Itoa(parent+1)
	}
	return text
}

// counts writes a column for each event. byPart has the same samples by part (time slice and thread group); it may be
// nil.
func (w *rowWriter) counts(c tally.Counts, byPart parts.Counts) {
	for e, n := range c {
		text := show.Percent(n, w.totals[e])
		pad := max(countColumns-len(text), 0)
		if n == 0 {
			w.out = append(w.out, strings.Repeat(" ", countColumns)...)
			continue
		}
		w.out = append(w.out, `<b class="h`...)
		w.out = strconv.AppendInt(w.out, int64(show.Heat(n, w.totals[e])), 10)
		w.out = append(w.out, `" data-n="`...)
		w.out = strconv.AppendInt(w.out, n, 10)
		if e > 0 {
			w.out = strconv.AppendInt(append(w.out, `" data-e="`...), int64(e), 10)
		}
		if byPart != nil {
			w.out = append(append(w.out, `" data-v="`...), partText(byPart, e)...)
		}
		w.out = append(w.out, `">`...)
		w.out = append(w.out, strings.Repeat(" ", pad)...)
		w.out = show.Append(w.out, text)
		w.out = append(w.out, "</b>"...)
	}
}

// arrows writes the column of the jumps.
func (w *rowWriter) arrows(text string) {
	w.out = append(w.out, ' ')
	if w.gutter.Width > 0 {
		w.out = append(append(append(w.out, "<i>"...), text...), "</i> "...)
	}
}

// row writes one instruction.
func (w *rowWriter) row(i int) {
	l := &w.listing.Lines[i]
	w.out = append(w.out, `<div class="r`...)
	if len(l.Frames) > 0 && !l.OwnFrames {
		w.out = append(w.out, " n"...) // the debug info is that of a later instruction, or a guess
	}
	if w.shares[i] {
		w.out = append(w.out, " s"...)
	}
	w.out = append(w.out, `" id="`...)
	w.out = w.appendID(w.out, l.Lo)
	if chain := w.chains.Number(l.Frames); chain >= 0 {
		w.out = strconv.AppendInt(append(w.out, `" data-f="`...), int64(chain), 10)
	}
	w.out = append(w.out, `">`...)
	var byPart parts.Counts
	if w.listing.Parts != nil {
		byPart = w.listing.Parts.Lines[i]
	}
	w.counts(l.Counts, byPart)
	if w.gutter.Width > 0 {
		w.arrows(w.gutter.At[i])
	} else {
		w.out = append(w.out, ' ')
	}
	w.out = strconv.AppendUint(w.out, l.Lo, 16)
	if w.facts.chain[i] {
		w.out = append(w.out, " "+chainMark+"<code>"...)
	} else {
		w.out = append(w.out, "  <code>"...)
	}
	linked := w.text(l)
	comments := w.comments(l)
	if len(comments) > 0 && !linked {
		w.out = append(w.out, strings.Repeat(" ", max(textColumns-layout.Width(l.Text), 0))...)
	}
	w.out = append(w.out, "</code>"...)
	if len(comments) > 0 && linked {
		w.out = append(w.out, strings.Repeat(" ", max(textColumns-layout.Width(l.Text), 0))...)
	}
	if len(comments) > 0 {
		w.out = append(append(w.out, ' '), comments...)
	}
	w.out = append(w.out, "</div>\n"...)
}

// appendID appends the id of the row at an address. For example, "c3-1a0" is 0x1a0 bytes after the start of listing
// 3.
func (w *rowWriter) appendID(b []byte, addr uint64) []byte {
	b = append(strconv.AppendInt(append(b, 'c'), int64(w.number), 10), '-')
	return strconv.AppendUint(b, addr-w.listing.Lines[0].Lo, 16)
}

// text writes the instruction. If it jumps within the listing, its target becomes a link, and the result is true.
func (w *rowWriter) text(l *code.Line) (linked bool) {
	to := code.LineAt(w.listing.Lines, l.Target)
	at := strings.LastIndex(l.Text, "0x")
	if !l.Direct() || to < 0 || at < 0 {
		w.out = show.Append(w.out, l.Text)
		return false
	}
	w.out = show.Append(w.out, l.Text[:at])
	w.out = append(w.out, `<a href="#`...)
	w.out = w.appendID(w.out, l.Target)
	w.out = append(w.out, `">`...)
	w.out = show.Append(w.out, l.Text[at:])
	w.out = append(w.out, "</a>"...)
	return true
}

var (
	// bytecodeFlags matches the flags after a bytecode. All flags are 0 if the bytecode was compiled in the usual way:
	//	;*getfield localsPos {reexecute=0 rethrow=0 return_oop=0}
	bytecodeFlags = regexp.MustCompile(`\s*\{\w+=\d(?: \w+=\d)*\}`)
	zeroFlag      = regexp.MustCompile(`\w+=0 ?`)
	// oopMap matches a comment that lists the registers and stack slots that hold references.
	oopMap = regexp.MustCompile(`^(?:Immutable)?OopMap\s*\{`)
)

// comments returns the comments after an instruction: chips of inlined methods, its bytecode, and HotSpot's
// relocations.
func (w *rowWriter) comments(l *code.Line) []byte {
	b := w.chips.Append(nil, l.Frames)
	var notes []string
	for _, c := range l.Comments {
		if strings.HasPrefix(c, "*") || strings.Contains(c, "=0") {
			c = bytecodeFlags.ReplaceAllStringFunc(c, setFlags)
		}
		c = strings.TrimSpace(c)
		switch {
		case c == "", c == "{other}", c == "{no_reloc}", strings.HasPrefix(c, "{section_word"), oopMap.MatchString(c):
		default:
			notes = append(notes, c)
		}
	}
	named := func(note string) bool { return strings.Contains(note, l.TargetName) }
	if l.TargetName != "" && !slices.ContainsFunc(notes, named) {
		b = append(w.appendTarget(b, l), ' ')
	}
	if len(notes) > 0 {
		b = append(b, "<q>"...)
		b = show.Append(b, strings.Join(notes, "  "))
		b = append(b, "</q>"...)
	}
	return appendCallNote(appendJITNote(b, l), l)
}

// setFlags returns the flags that are not 0, in braces: " {reexecute=1}". It returns "" if all flags are 0.
func setFlags(flags string) string {
	if flags = strings.TrimRight(zeroFlag.ReplaceAllString(flags, ""), " }"); strings.HasSuffix(flags, "{") {
		return ""
	}
	return flags + "}"
}

// appendTarget appends the name of the code to which a call or jump leads. The name is a link if that code is in the
// page.
func (w *rowWriter) appendTarget(b []byte, l *code.Line) []byte {
	if to, ok := w.listed[l.TargetName]; ok && l.Direct() {
		b = strconv.AppendInt(append(b, `<a href="#c`...), int64(to), 10)
		return append(show.Append(append(b, `">`...), l.TargetName), "</a>"...)
	}
	return append(show.Append(append(b, "<q>{"...), l.TargetName), "}</q>"...)
}
