package printassembly

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// ExactMark is a line of gasm's own behind [MachCode], in copies of code that
// HotSpot did not print. Below it, each comment has the address of a byte of its
// instruction: debug info that of the last one, and relocations that of the first.
const ExactMark = "[Comments at a byte of their instructions]"

// oldExactMark is what the mark was before copies had relocations.
const oldExactMark = "[Comments at the last byte of their instructions]"

// hexRows collects the lines between [MachCode] and [/MachCode].
//
// Rows and comments stand on cells of four bytes, wherever instructions start,
// so all bytes are collected first and decoded as one run. HotSpot prints whole
// cells only: up to three bytes at the end of a stub are missing.
type hexRows struct {
	exact      bool // by [ExactMark]
	framesOnly bool // only these are asked for, see [DebugInfo]
	code       []byte
	pieces     []piece
	notes      []note
	// pending holds marks and lines with "#", which belong to the next row's address.
	pending []note
	frames  int    // of all notes
	tooMuch string // what was left out because there was too much of it
}

// A piece is the bytes of one or more rows that follow each other.
type piece struct {
	lo       uint64 // address
	from, to int    // in hexRows.code
}

// A note is something that the log says at the address of a cell.
type note struct {
	cell    uint64
	section bool
	text    string // without its leading ";" or "#"
	debug   bool   // debug info: "*iaload {…}" and the lines of frames below it
	frames  []Frame
}

// take reads one line of the dump:
//
//	0x00007fae08ed77a0: e85b be41 | 1566 6666 | …      a row
//	0x00007fae08ed7814: ;*iload_3 {reexecute=0 …}      a comment on a cell
//	                    ; - Workload::dot@4 (line 12)  more of it
//	# parm0:    rdx:rdx   = &apos;[I&apos;             on what comes next
//
// From a byte that is not hex on, the rest of its row is left out.
func (h *hexRows) take(line []byte) {
	line = bytes.TrimLeft(line, " ")
	addr, n := hexAddr(line)
	if n == 0 || n >= len(line) || line[n] != ':' {
		h.loose(line)
		return
	}
	rest := bytes.TrimLeft(line[n+1:], " ")
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == '#') {
		if h.framesOnly {
			h.place(addr, rest)
		} else {
			h.comment(addr, rest)
		}
		return
	}
	for _, p := range h.pending {
		p.cell = addr
		h.note(p)
	}
	h.pending = h.pending[:0]
	h.row(addr, rest)
}

func (h *hexRows) row(addr uint64, cells []byte) {
	from := len(h.code)
	for i := 0; i < len(cells); {
		if cells[i] == ' ' || cells[i] == '|' {
			i++
			continue
		}
		if i+1 >= len(cells) {
			break
		}
		hi, lo := hexDigit(cells[i]), hexDigit(cells[i+1])
		if hi < 0 || lo < 0 {
			break
		}
		if len(h.code) == maxCode {
			h.tooMuch = "bytes"
			break
		}
		h.code = append(h.code, byte(hi<<4|lo))
		i += 2
	}
	if n := len(h.pieces); n > 0 && h.pieces[n-1].lo+uint64(from-h.pieces[n-1].from) == addr {
		h.pieces[n-1].to = len(h.code)
	} else if from < len(h.code) {
		h.pieces = append(h.pieces, piece{addr, from, len(h.code)})
	}
}

// note adds a note, unless there are too many.
func (h *hexRows) note(n note) {
	if h.frames += len(n.frames); len(h.notes)+h.frames >= maxNotes {
		h.tooMuch = "comments"
		return
	}
	h.notes = append(h.notes, n)
}

// frame adds a frame to the last note, unless there are too many.
func (h *hexRows) frame(f Frame) {
	n := &h.notes[len(h.notes)-1]
	if h.frames++; len(n.frames) == maxFrames || len(h.notes)+h.frames >= maxNotes {
		h.tooMuch = "inlining"
		return
	}
	n.frames = append(n.frames, f)
}

// section notes a mark; it belongs to the row that comes next.
func (h *hexRows) section(name string) {
	h.wait(note{section: true, text: name})
}

// loose takes a line without an address.
func (h *hexRows) loose(line []byte) {
	if len(line) == 0 || line[0] != ';' && line[0] != '#' {
		return
	}
	if h.framesOnly && line[0] == ';' {
		if len(h.notes) > 0 {
			h.place(h.notes[len(h.notes)-1].cell, line)
		}
		return
	}
	text := cleanComment(line)
	goesOn := line[0] == ';' || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "*") ||
		strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{method}")
	switch {
	case goesOn && len(h.notes) > 0:
		h.comment(h.notes[len(h.notes)-1].cell, line)
	case line[0] == '#':
		h.wait(note{text: text})
	}
}

// wait keeps a note for the next row, unless there are too many.
func (h *hexRows) wait(n note) {
	if len(h.pending) >= maxFrames {
		h.tooMuch = "comments"
		return
	}
	h.pending = append(h.pending, n)
}

func (h *hexRows) comment(cell uint64, line []byte) {
	text := cleanComment(line)
	if frame, ok := strings.CutPrefix(text, "-"); ok {
		if f, ok := parseFrame(frame); ok {
			if last := len(h.notes) - 1; last >= 0 && h.notes[last].debug && h.notes[last].cell == cell {
				h.frame(f)
			} else {
				h.note(note{cell: cell, debug: true, frames: []Frame{f}})
			}
			return
		}
	}
	h.note(note{cell: cell, text: text, debug: strings.HasPrefix(text, "*")})
}

// cleanComment cuts the mark in front of a comment and undoes the escaping, also that of
// names in it.
// Newer JDKs lead with "#" instead of ";".
func cleanComment(line []byte) string {
	return nameText(bytes.TrimSpace(bytes.TrimLeft(line, "; #")))
}

// A codeRun is a piece of the dump without gaps.
type codeRun struct {
	lo   uint64
	code []byte
}

// runs gives the bytes in [lo, hi). In a damaged log an address may come twice; the first
// of its bytes counts.
func (h *hexRows) runs(lo, hi uint64) []codeRun {
	var runs []codeRun
	next := lo // the lowest address that the dump may go on with
	for _, p := range h.pieces {
		at, code := p.lo, h.code[p.from:p.to]
		if at < next {
			code = code[min(next-at, uint64(len(code))):]
			at = next
		}
		if at >= hi || len(code) == 0 {
			continue
		}
		code = code[:min(hi-at, uint64(len(code)))]
		if len(runs) == 0 || at > next {
			runs = append(runs, codeRun{at, slices.Clip(code)}) // what is appended to it goes elsewhere
		} else {
			last := &runs[len(runs)-1]
			last.code = append(last.code, code...)
		}
		next = at + uint64(len(code))
	}
	return runs
}

// sortNotes puts the notes into the order of their addresses, which they have but in a
// damaged log.
func (h *hexRows) sortNotes() {
	slices.SortStableFunc(h.notes, func(a, b note) int { return cmp.Compare(a.cell, b.cell) })
}

// annotate hands the notes, which ascend, to the instructions of one run.
//
// HotSpot comments a cell [X, X+4) as if it were an instruction
// (nmethod::print_code_comment_on with begin X and end X+4): debug info and oop
// maps are looked up in (X, X+4], at the address behind their instruction;
// relocations and implicit exceptions in [X, X+4), at its start.
func (h *hexRows) annotate(insts []Instruction) {
	if len(insts) == 0 {
		return
	}
	lo, hi := insts[0].Lo, insts[len(insts)-1].Hi
	first, _ := slices.BinarySearchFunc(h.notes, lo, func(n note, lo uint64) int { return cmp.Compare(n.cell, lo) })
	for k, i := first, 0; k < len(h.notes) && h.notes[k].cell < hi; k++ {
		n := &h.notes[k]
		for insts[i].Hi <= n.cell {
			i++
		}
		in := &insts[i]
		if !h.exact || n.section {
			in = &insts[instructionOf(insts, i, n)]
		}
		switch {
		case n.section:
			in.Section = n.text
		case n.debug:
			if n.text != "" {
				in.Comments = append(in.Comments, n.text)
			}
			// What compilers take for two instructions, the second of which is padding, may be decoded as one. Its
			// samples are of the first.
			if len(n.frames) > 0 && !(h.exact && in.OwnFrames) {
				in.Frames, in.OwnFrames = n.frames, true
			}
		default:
			in.Comments = append(in.Comments, n.text)
		}
	}
}

// instructionOf finds the instruction that a note belongs to; i is the one that holds
// the first byte of its cell.
func instructionOf(insts []Instruction, i int, n *note) int {
	end := n.cell + 4
	if n.debug || strings.HasPrefix(n.text, "ImmutableOopMap") || strings.HasPrefix(n.text, "OopMap") {
		// HotSpot prints the first debug info that it finds in (X, X+4], and
		// not every instruction has one: the likeliest, then the first; of
		// those that only prepare another, the last.
		best, rank := -1, -1
		for j := i; j < len(insts) && insts[j].Hi <= end; j++ {
			if insts[j].Hi <= n.cell {
				continue
			}
			if r := debugRank(&insts[j], n.text); r > rank || r == rank && r <= prepares {
				best, rank = j, r
			}
		}
		if best >= 0 {
			return best
		}
		return i
	}
	if n.section {
		return i
	}
	// A relocation is of an instruction that starts in [X, X+4): of several, the
	// first that can have one of its kind.
	first := i
	if insts[i].Lo < n.cell && i+1 < len(insts) && insts[i+1].Lo < end {
		first = i + 1
	}
	for j := first; j < len(insts) && insts[j].Lo < end; j++ {
		if canHold(&insts[j], n.text) {
			return j
		}
	}
	return first
}
