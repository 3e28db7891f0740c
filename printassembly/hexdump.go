package printassembly

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// ExactMark is a line that gasm writes after [MachCode] in code that it has copied itself. Below this line, each
// comment has the address of a byte of its instruction: debug info has the address of the instruction's last byte, and
// a relocation has the address of its first byte.
const ExactMark = "[Comments at a byte of their instructions]"

// oldExactMark is the mark that older versions of gasm wrote in place of ExactMark. Code that they copied had no
// relocations, so all comments below this mark are at the last byte of their instructions.
const oldExactMark = "[Comments at the last byte of their instructions]"

// hexRows collects the lines between [MachCode] and [/MachCode].
//
// Rows and comments have the addresses of cells of four bytes, and instructions may begin anywhere in a cell. So all
// bytes are collected first and then decoded as one run. HotSpot prints whole cells only, so up to three bytes at the
// end of a stub are missing.
type hexRows struct {
	exact      bool // the lines are below an [ExactMark]
	framesOnly bool // the caller wants frames only, see [DebugInfo]
	code       []byte
	pieces     []piece
	notes      []note
	// pending holds marks such as [Entry Point] and lines with "#". They belong to the address of the next row.
	pending []note
	frames  int    // number of frames in all notes
	tooMuch string // what there was too much of, such as "comments"; "" if no limit was exceeded
}

// A piece is the bytes of consecutive rows.
type piece struct {
	lo       uint64 // address
	from, to int    // range in hexRows.code
}

// A note is a comment or a mark at the address of a cell, which is a group of four bytes.
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
//	                    ; - Workload::dot@4 (line 12)  more of the comment
//	# parm0:    rdx:rdx   = &apos;[I&apos;             a comment on the next row
//
// If a row has a byte that is not hexadecimal, the rest of the row is ignored.
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

// note adds a note to h.notes, unless there are too many already.
func (h *hexRows) note(n note) {
	if h.frames += len(n.frames); len(h.notes)+h.frames >= maxNotes {
		h.tooMuch = "comments"
		return
	}
	h.notes = append(h.notes, n)
}

// frame adds a frame to the last note, unless there are too many already.
func (h *hexRows) frame(f Frame) {
	n := &h.notes[len(h.notes)-1]
	if h.frames++; len(n.frames) == maxFrames || len(h.notes)+h.frames >= maxNotes {
		h.tooMuch = "inlining"
		return
	}
	n.frames = append(n.frames, f)
}

// section records a mark such as [Entry Point], which belongs to the address of the next row.
func (h *hexRows) section(name string) {
	h.wait(note{section: true, text: name})
}

// loose handles a line without an address.
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

// wait keeps a note for the next row, unless there are too many already.
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

// cleanComment removes the mark at the start of a comment: ";", or "#" in newer JDKs. It undoes the XML escaping and
// HotSpot's escaping of names.
func cleanComment(line []byte) string {
	return nameText(bytes.TrimSpace(bytes.TrimLeft(line, "; #")))
}

// A codeRun is a part of the dump without gaps.
type codeRun struct {
	lo   uint64
	code []byte
}

// runs returns the bytes in [lo, hi), as runs without gaps. If an address occurs twice, as in a damaged log, its first
// byte in the log is used.
func (h *hexRows) runs(lo, hi uint64) []codeRun {
	var runs []codeRun
	next := lo // the lowest address at which the dump may continue
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
			runs = append(runs, codeRun{at, slices.Clip(code)}) // clipped, so that append below copies the bytes
		} else {
			last := &runs[len(runs)-1]
			last.code = append(last.code, code...)
		}
		next = at + uint64(len(code))
	}
	return runs
}

// sortNotes sorts the notes by address. They are sorted already unless the log is damaged.
func (h *hexRows) sortNotes() {
	slices.SortStableFunc(h.notes, func(a, b note) int { return cmp.Compare(a.cell, b.cell) })
}

// annotate adds notes to the instructions of one run, which is code without gaps. The notes are sorted by address.
//
// HotSpot prints the comments of a cell [X, X+4) as if the cell were one instruction (it calls
// nmethod::print_code_comment_on with begin X and end X+4). It looks up debug info and oop maps in (X, X+4], because
// they have the address after their instruction. It looks up relocations and implicit exceptions in [X, X+4), because
// they have the address of the instruction's start.
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
			// What was decoded as one instruction may be an instruction with padding after it. All samples are then in
			// the instruction itself, whose frames come first.
			if len(n.frames) > 0 && !(h.exact && in.OwnFrames) {
				in.Frames, in.OwnFrames = n.frames, true
			}
		default:
			in.Comments = append(in.Comments, n.text)
		}
	}
}

// instructionOf returns the index of the instruction that a note belongs to. i is the index of the instruction that
// contains the first byte of the note's cell.
func instructionOf(insts []Instruction, i int, n *note) int {
	end := n.cell + 4
	if n.debug || strings.HasPrefix(n.text, "ImmutableOopMap") || strings.HasPrefix(n.text, "OopMap") {
		// In the cell [X, X+4), HotSpot prints the first debug info that it finds in (X, X+4]. Not every instruction
		// has debug info, so take the likeliest instruction. Among equally likely ones, take the first, or the last if
		// they only prepare another instruction.
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
	// A relocation belongs to an instruction that starts in the cell. Take the first one that can have a relocation of
	// this kind.
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
