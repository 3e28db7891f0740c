package nativecode

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
)

// Limits for a Table. [Table.Add] and [Read] leave out everything beyond them. For comparison, libjvm.so has 60 000
// functions with 13 MB of code, and a program that spends all of its time there uses a few hundred of them.
const (
	// MaxFunctions is the maximum number of functions.
	MaxFunctions = 2000
	// MaxCode is the maximum number of bytes of code in all functions together.
	MaxCode = 4 << 20
	// MaxSize is the maximum number of bytes of one function. The largest functions in libjvm.so have 100 KB.
	MaxSize = 512 << 10
	// MaxRows is the maximum number of [Row]s of all functions together. MaxFrames is the maximum number of all their
	// frames.
	MaxRows, MaxFrames = 1 << 18, 1 << 20
	// MaxInlined is the maximum number of frames in a [Row].
	MaxInlined = 64
	// MaxTargets is the maximum number of targets of a function, and maxAllTargets is that of all functions together.
	MaxTargets, maxAllTargets = 1 << 13, 1 << 18
	// maxPlaces is the maximum number of places of all functions together.
	maxPlaces = 1 << 18
	// maxNames is the maximum number of names of functions and files. longestName is the maximum length of a name in
	// bytes, and maxNamed is the maximum length of all names together.
	maxNames, longestName, maxNamed = 1 << 16, 1 << 14, 16 << 20
)

// A Function is a native function with its code, or a part of a function.
type Function struct {
	Module string      // the base name of the file: "libjvm.so", "[vdso]", "kernel"
	Symbol string      // the function's name, demangled; "" if no symbol covers the code
	Arch   disasm.Arch // the instruction set
	Lo     uint64      // the address of the first byte: in the file, as objdump shows it, or in memory for the kernel
	Code   []byte
	Rows   []Row // sorted, without overlaps; nil if the lines are unknown
	// Targets are the functions that the code calls or jumps to, by address.
	Targets map[uint64]string
	Places  []Place // where processes had the function; empty for the kernel, whose addresses are the same for all
}

// Hi returns the address after the last byte.
func (f *Function) Hi() uint64 { return f.Lo + uint64(len(f.Code)) }

// A Row says which line of source the code in [Lo, Hi) was made from.
type Row struct {
	Lo, Hi uint64
	Frames []Frame // innermost first; at most MaxInlined
}

// A Frame is a line of a function that was inlined, or of the function itself.
type Frame struct {
	Function string // demangled, without parameters
	File     string // the path that the compiler has recorded; "" if it is unknown
	Line     int    // 0 if it is unknown
}

// A Place says at which address a process had a function's first byte.
type Place struct {
	PID int
	Lo  uint64
}

// A Table has the code of native functions. The zero value is empty.
type Table struct {
	Functions []Function
	code      int // bytes of code in all functions
	rows      int // rows in all functions
	frames    int // frames in all rows
	targets   int // number of targets of all functions
	places    []place
	kernel    []place // the ranges of the kernel's functions, which have no Places
	bad       int     // number of skipped lines
	firstBad  error
}

// A place is the range of addresses at which a process has a function.
type place struct {
	pid      int
	lo, hi   uint64
	function int // index in Table.Functions
}

// Add adds a function. If the table has no room for it, Add returns false and does nothing. If only its rows or its
// targets do not fit, the function is added without them.
func (t *Table) Add(f Function) bool {
	if len(f.Code) == 0 || len(f.Code) > MaxSize || t.code+len(f.Code) > MaxCode || len(t.Functions) == MaxFunctions ||
		len(t.places)+len(f.Places) > maxPlaces || f.Lo+uint64(len(f.Code)) < f.Lo {
		return false
	}
	frames := 0
	for i := range f.Rows {
		frames += len(f.Rows[i].Frames)
	}
	if t.rows+len(f.Rows) > MaxRows || t.frames+frames > MaxFrames {
		f.Rows, frames = nil, 0
	}
	if t.targets+len(f.Targets) > maxAllTargets {
		f.Targets = nil
	}
	t.targets += len(f.Targets)
	t.code, t.rows, t.frames = t.code+len(f.Code), t.rows+len(f.Rows), t.frames+frames
	n := len(t.Functions)
	t.Functions = append(t.Functions, f)
	for _, p := range f.Places {
		if hi := p.Lo + uint64(len(f.Code)); hi > p.Lo {
			t.places = append(t.places, place{p.PID, p.Lo, hi, n})
		}
	}
	if len(f.Places) == 0 {
		t.kernel = append(t.kernel, place{0, f.Lo, f.Hi(), n})
	}
	return true
}

// Index prepares the table for Find, after the last Add.
func (t *Table) Index() {
	t.places, t.kernel = sorted(t.places), sorted(t.kernel)
}

// sorted returns places in the order of processes and addresses, without overlaps: a place that begins inside another
// one is left out.
func sorted(places []place) []place {
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid),
			cmp.Compare(a.lo, b.lo))
	})
	kept := places[:0]
	for _, p := range places {
		if n := len(kept); n > 0 && kept[n-1].pid == p.pid && p.lo < kept[n-1].hi {
			continue
		}
		kept = append(kept, p)
	}
	return slices.Clip(kept)
}

// Find looks up an address of a process. It returns the index in Functions of the function there, and converts the
// address to the function's own range [Lo, Hi()). ok is false if the table has no code there. A nil Table has no code.
func (t *Table) Find(pid int, pc uint64) (function int, addr uint64, ok bool) {
	if t == nil {
		return 0, 0, false
	}
	return t.find(t.places, pid, pc)
}

// FindKernel is like Find, for an address in the kernel.
func (t *Table) FindKernel(pc uint64) (function int, addr uint64, ok bool) {
	if t == nil {
		return 0, 0, false
	}
	return t.find(t.kernel, 0, pc)
}

func (t *Table) find(places []place, pid int, pc uint64) (function int, addr uint64, ok bool) {
	i, ok := slices.BinarySearchFunc(places, pc, func(p place, pc uint64) int {
		switch {
		case p.pid != pid:
			return cmp.Compare(p.pid, pid)
		case p.hi <= pc:
			return -1
		case p.lo > pc:
			return 1
		}
		return 0
	})
	if !ok {
		return 0, 0, false
	}
	p := &places[i]
	return p.function, t.Functions[p.function].Lo + (pc - p.lo), true
}

// Row returns the row of an address of a function, or nil if its line is not known.
func (f *Function) Row(addr uint64) *Row {
	i, ok := slices.BinarySearchFunc(f.Rows, addr, func(r Row, addr uint64) int {
		switch {
		case r.Hi <= addr:
			return -1
		case r.Lo > addr:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return &f.Rows[i]
}

// BadLines returns how many lines [Read] could not parse, or had no room for, and a [*lines.SyntaxError] for the first
// of them. If it could read all lines, BadLines returns 0 and nil.
func (t *Table) BadLines() (int, error) { return t.bad, t.firstBad }
