package printassembly

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/disasm"
)

// A DebugInfo finds the inlining chain of each instruction of a blob without decoding the instructions. It is available
// for code that gasm itself has copied, below an [ExactMark]. In such code, debug info has the address of the last byte
// of its instruction. So the frames of an instruction are the first ones at or after the instruction's address.
//
// A program with a lot of compiled code has samples in thousands of methods, and nearly all of these are never shown.
// Decoding them would take most of the time of a report.
type DebugInfo struct {
	log    *Log
	syntax disasm.Syntax
	at     []note // those notes that have frames, sorted by address
	runs   []codeRun
}

// DebugInfo reads a blob's debug info. It returns nil without an error in two cases: the log does not have the blob's
// code, or the caller must use [Log.Code] instead, because HotSpot has printed the code or the code exceeds a limit.
func (l *Log) DebugInfo(b *Blob, syntax disasm.Syntax) (*DebugInfo, error) {
	t, err := l.text(b, true)
	if err != nil {
		return nil, err
	}
	return t.DebugInfo(syntax), nil
}

// DebugInfo returns the debug info, see [Log.DebugInfo]. It must not be called after Code.
func (t *CodeText) DebugInfo(syntax disasm.Syntax) *DebugInfo {
	rows := &t.reader.rows
	if !rows.exact || rows.tooMuch != "" || len(rows.code) == 0 {
		return nil
	}
	at := slices.DeleteFunc(slices.Clone(rows.notes), func(n note) bool { return len(n.frames) == 0 })
	return &DebugInfo{log: t.reader.log, syntax: syntax, at: at, runs: rows.runs(t.reader.blob.Lo, t.reader.blob.Hi)}
}

// Frames returns the inlining chain of the instruction at pc, innermost frame first, or nil if there is none. The
// slice is shared and stays valid; it must not be changed.
func (d *DebugInfo) Frames(pc uint64) []Frame {
	if d.bytes(pc) == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(d.at, pc, func(n note, pc uint64) int { return cmp.Compare(n.cell, pc) })
	if i == len(d.at) {
		return nil
	}
	return d.at[i].frames
}

// End returns the address after the instruction that starts at pc. It returns false if the log does not have the
// code at pc.
func (d *DebugInfo) End(pc uint64) (hi uint64, ok bool) {
	code := d.bytes(pc)
	if code == nil {
		return 0, false
	}
	code = code[:min(longest, len(code))]
	insts, err := disasm.Decode(d.log.arch, d.syntax, code, pc)
	if err != nil {
		insts = undecoded(code, pc)
	}
	return pc + uint64(insts[0].Len), true
}

// bytes returns the code from pc up to the next gap in the code, or nil if there is none at pc.
func (d *DebugInfo) bytes(pc uint64) []byte {
	i := sort.Search(len(d.runs), func(i int) bool { return d.runs[i].lo > pc }) - 1
	if i < 0 || pc-d.runs[i].lo >= uint64(len(d.runs[i].code)) {
		return nil
	}
	return d.runs[i].code[pc-d.runs[i].lo:]
}

// place handles a comment line when only frames are wanted. If the comment is not a frame, only its position is
// recorded, and its text is skipped.
func (h *hexRows) place(cell uint64, line []byte) {
	text := bytes.TrimLeft(line, "; #")
	if len(text) > 0 && text[0] == '-' {
		h.comment(cell, line)
		return
	}
	h.note(note{cell: cell, debug: len(text) > 0 && text[0] == '*'})
}
