package printassembly

import (
	"bytes"
	"strings"
)

// ExactMark is a line of gasm's own behind [MachCode], in copies of code that
// HotSpot did not print. Below it, each comment has the address of the last byte
// of its instruction.
const ExactMark = "[Comments at the last byte of their instructions]"

// hexRows collects the lines between [MachCode] and [/MachCode].
//
// Rows and comments stand on cells of four bytes, wherever instructions start,
// so all bytes are collected first and decoded as one run. HotSpot prints whole
// cells only: up to three bytes at the end of a stub are missing.
type hexRows struct {
	exact bool // by [ExactMark]
	code  []byte
	at    []uint64 // address of each byte of code
	notes []note
	// pending holds marks and lines with "#", which belong to the next row's address.
	pending []note
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
		h.comment(addr, rest)
		return
	}
	for _, p := range h.pending {
		p.cell = addr
		h.notes = append(h.notes, p)
	}
	h.pending = h.pending[:0]
	h.row(addr, rest)
}

func (h *hexRows) row(addr uint64, cells []byte) {
	for i := 0; i < len(cells); {
		if cells[i] == ' ' || cells[i] == '|' {
			i++
			continue
		}
		if i+1 >= len(cells) {
			return
		}
		hi, lo := hexDigit(cells[i]), hexDigit(cells[i+1])
		if hi < 0 || lo < 0 {
			return
		}
		h.code = append(h.code, byte(hi<<4|lo))
		h.at = append(h.at, addr)
		addr++
		i += 2
	}
}

// section notes a mark; it belongs to the row that comes next.
func (h *hexRows) section(name string) {
	h.pending = append(h.pending, note{section: true, text: name})
}

// loose takes a line without an address.
func (h *hexRows) loose(line []byte) {
	if len(line) == 0 || line[0] != ';' && line[0] != '#' {
		return
	}
	text := cleanComment(line)
	goesOn := line[0] == ';' || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "*") ||
		strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{method}")
	switch {
	case goesOn && len(h.notes) > 0:
		h.comment(h.notes[len(h.notes)-1].cell, line)
	case line[0] == '#':
		h.pending = append(h.pending, note{text: text})
	}
}

func (h *hexRows) comment(cell uint64, line []byte) {
	text := cleanComment(line)
	if frame, ok := strings.CutPrefix(text, "-"); ok {
		if f, ok := parseFrame(frame); ok {
			if last := len(h.notes) - 1; last >= 0 && h.notes[last].debug && h.notes[last].cell == cell {
				h.notes[last].frames = append(h.notes[last].frames, f)
			} else {
				h.notes = append(h.notes, note{cell: cell, debug: true, frames: []Frame{f}})
			}
			return
		}
	}
	h.notes = append(h.notes, note{cell: cell, text: text, debug: strings.HasPrefix(text, "*")})
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
	for i, at := range h.at {
		if at < next || at >= hi {
			continue
		}
		if len(runs) == 0 || at > next {
			runs = append(runs, codeRun{lo: at})
		}
		last := &runs[len(runs)-1]
		last.code = append(last.code, h.code[i])
		next = at + 1
	}
	return runs
}

// annotate hands the notes to the instructions of one run.
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
	for k, i := 0, 0; k < len(h.notes); k++ {
		n := &h.notes[k]
		if n.cell < lo || n.cell >= hi {
			continue
		}
		if insts[i].Lo > n.cell {
			i = 0 // addresses ascend except in damaged logs
		}
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
			if len(n.frames) > 0 {
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
