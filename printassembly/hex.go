package printassembly

import (
	"bytes"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
)

// hexRows collects the lines between [MachCode] and [/MachCode].
//
// Rows and comments stand on cells of four bytes, wherever instructions start,
// so all bytes are collected first and decoded as one run.
type hexRows struct {
	bytes []byte
	at    []uint64 // address of each byte
	notes []note
	// pending holds what waits for the next row's address: "#" lines.
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
// A bad byte costs the rest of its row.
func (h *hexRows) take(line []byte) error {
	line = bytes.TrimLeft(line, " ")
	addr, n := hexAddr(line)
	if n == 0 || n >= len(line) || line[n] != ':' {
		h.loose(line)
		return nil
	}
	rest := bytes.TrimLeft(line[n+1:], " ")
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == '#') {
		h.comment(addr, rest)
		return nil
	}
	for _, p := range h.pending {
		p.cell = addr
		h.notes = append(h.notes, p)
	}
	h.pending = h.pending[:0]
	h.row(addr, rest)
	return nil
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
		h.bytes = append(h.bytes, byte(hi<<4|lo))
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
	switch {
	case len(line) == 0:
	case line[0] == '#':
		h.pending = append(h.pending, note{text: cleanComment(line)})
	case line[0] == ';' && len(h.notes) > 0:
		h.comment(h.notes[len(h.notes)-1].cell, line)
	}
}

func (h *hexRows) comment(cell uint64, line []byte) {
	text := cleanComment(line)
	if frame, ok := strings.CutPrefix(text, "- "); ok {
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

// cleanComment cuts the mark in front of a comment and undoes the escaping.
// Newer JDKs lead with "#" instead of ";".
func cleanComment(line []byte) string {
	return unescape(bytes.TrimSpace(bytes.TrimLeft(line, "; #")))
}

// A codeRun is a piece of the dump without gaps.
type codeRun struct {
	lo   uint64
	code []byte
}

func (h *hexRows) runs() []codeRun {
	var runs []codeRun
	for from, i := 0, 1; i <= len(h.bytes); i++ {
		if i == len(h.bytes) || h.at[i] != h.at[i-1]+1 {
			if n := len(runs); n == 0 || h.at[from] > runs[n-1].lo { // addresses ascend
				runs = append(runs, codeRun{h.at[from], h.bytes[from:i]})
			}
			from = i
		}
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
			i = 0 // comments ascend, but for what damage did
		}
		for insts[i].Hi <= n.cell {
			i++
		}
		in := &insts[place(insts, i, n)]
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

// place finds the instruction that a note belongs to; i is the one that holds
// the first byte of its cell.
func place(insts []Instruction, i int, n *note) int {
	end := n.cell + 4
	if n.debug || strings.HasPrefix(n.text, "ImmutableOopMap") || strings.HasPrefix(n.text, "OopMap") {
		// Of several that end in (X, X+4] a call has the debug info.
		best := -1
		for j := i; j < len(insts) && insts[j].Hi <= end; j++ {
			if insts[j].Hi > n.cell && (best < 0 || insts[best].Kind != disasm.Call) {
				best = j
			}
		}
		if best >= 0 {
			return best
		}
		return i
	}
	if !n.section && insts[i].Lo < n.cell && i+1 < len(insts) && insts[i+1].Lo < end {
		return i + 1 // the first that starts in [X, X+4)
	}
	return i
}
