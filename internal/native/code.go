package native

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/dwarflines"
	"github.com/gasm-profiler/gasm/internal/nativecode"
)

// leastSamples is the number of samples that a function must have for its code to be read. Reports do not show
// functions with fewer, unless they are asked to.
const leastSamples = 2

// A sampledFunction is a function that has samples, or a part of a function.
type sampledFunction struct {
	span
	name    string
	samples int
	in      *sampledImage
	code    []byte
	rows    []nativecode.Row
}

// Bounds finds the start and the end of functions, usually by their call frame information. A *cfi.Table is a Bounds.
type Bounds interface {
	// Function returns the range of the function that contains an address. ok is false if that is not known.
	Function(addr uint64) (lo, hi uint64, ok bool)
}

// Code reads the code of the functions that have the most samples (see [Resolver.Sampled]), and their lines where there
// is debug information. It opens each file again, and only reads it if it is the same file as before. Where no symbol
// covers the code, the file's call frame information says where a function begins and ends. The function bounds returns
// that information for a file.
//
// The result has room for the hottest functions only. Code adds notes about files that could not be read.
func (r *Resolver) Code(bounds func(*elf.File) (Bounds, error)) *nativecode.Table {
	var all []*sampledFunction
	images := r.sampledImages()
	for _, s := range images {
		all = append(all, r.functions(s, bounds)...)
	}
	slices.SortStableFunc(all, func(a, b *sampledFunction) int { return cmp.Compare(b.samples, a.samples) })
	all = slices.DeleteFunc(all, func(f *sampledFunction) bool { return f.samples < leastSamples })
	room := nativecode.MaxCode
	all = slices.DeleteFunc(all, func(f *sampledFunction) bool {
		size := f.hi - f.lo
		if size > nativecode.MaxSize || size > uint64(room) {
			return true
		}
		room -= int(size)
		return false
	})
	all = all[:min(len(all), nativecode.MaxFunctions)]
	for _, s := range images {
		r.readCode(s, slices.DeleteFunc(slices.Clone(all), func(f *sampledFunction) bool { return f.in != s }))
	}
	table := &nativecode.Table{}
	for _, f := range all {
		if len(f.code) > 0 {
			table.Add(nativecode.Function{Module: f.in.parts[0].module, Symbol: f.name, Arch: f.in.arch, Lo: f.lo, Code: f.code,
				Rows:    f.rows,
				Targets: r.targets(f), Places: f.places()})
		}
	}
	table.Index()
	return table
}

// places returns where processes had the function's first byte.
func (f *sampledFunction) places() []nativecode.Place {
	var all []nativecode.Place
	seen := map[nativecode.Place]bool{}
	for _, at := range f.in.parts {
		offset, ok := f.in.segments.offset(f.lo)
		if !ok {
			continue
		}
		// The result of the subtraction may be negative (and wraps around), because the function may begin before the
		// mapping.
		p := nativecode.Place{PID: at.PID, Lo: at.Lo + (offset - at.FileOffset)}
		if !seen[p] {
			seen[p] = true
			all = append(all, p)
		}
	}
	return all
}

// targets returns the names of the functions that the code of a function calls or jumps to.
func (r *Resolver) targets(f *sampledFunction) map[uint64]string {
	insts, err := disasm.Decode(f.in.arch, disasm.ATT, f.code, f.lo)
	if err != nil {
		return nil
	}
	targets := map[uint64]string{}
	for i := range insts {
		to := insts[i].Target
		if to == 0 || insts[i].Kind == disasm.Plain || to >= f.lo && to < f.hi || len(targets) == nativecode.MaxTargets {
			continue
		}
		slot, lo, _ := f.in.find(to)
		name, offset := r.name(f.in.image, slot), to > lo
		if stub := f.in.stubs[to]; stub != "" {
			name, offset = stub, false
		}
		if name == "" {
			continue
		}
		if offset {
			name = fmt.Sprintf("%s+%#x", name, to-lo)
		}
		targets[to] = name
	}
	return targets
}

// offset converts an address to an offset in the file. It returns false if no segment contains the address.
func (all Segments) offset(addr uint64) (uint64, bool) {
	for i := range all {
		if s := &all[i]; addr-s.addr < s.size && addr >= s.addr {
			return s.offset + (addr - s.addr), true
		}
	}
	return 0, false
}

// functions returns the functions of an image that have samples. Sampled addresses in gaps between functions are
// grouped into functions by means of the file's call frame information.
func (r *Resolver) functions(s *sampledImage, bounds func(*elf.File) (Bounds, error)) []*sampledFunction {
	var all []*sampledFunction
	var gaps []sampledKey
	for key, n := range s.samples {
		if key.slot%2 == 0 {
			gaps = append(gaps, key)
			continue
		}
		p := s.pieces[key.slot/2]
		all = append(all, &sampledFunction{span: span{lo: p.lo, hi: p.hi}, name: r.name(s.image, key.slot), samples: n,
			in: s})
	}
	all = append(all, r.inGaps(s, gaps, bounds)...)
	slices.SortFunc(all, func(a, b *sampledFunction) int { return cmp.Compare(a.lo, b.lo) })
	return all
}

// inGaps returns the functions at addresses in gaps, which have no names.
func (r *Resolver) inGaps(s *sampledImage, gaps []sampledKey,
	bounds func(*elf.File) (Bounds, error)) []*sampledFunction {
	if len(gaps) == 0 || s.failed() {
		return nil
	}
	spans, err := again(r, s, func(o object, _ debugFinder) ([]span, error) {
		table, err := bounds(o.File)
		if err != nil {
			return nil, err
		}
		all := make([]span, len(gaps)) // an empty span where no function is known
		for i, key := range gaps {
			if lo, hi, ok := table.Function(key.addr); ok {
				all[i] = span{lo: lo, hi: hi}
			}
		}
		return all, nil
	})
	if err != nil {
		return nil // the functions stay unknown
	}
	found := map[uint64]*sampledFunction{} // by start address
	for i, key := range gaps {
		_, lo, hi := s.find(key.addr)
		lo, hi = max(lo, spans[i].lo), min(hi, spans[i].hi)
		if lo >= hi {
			continue
		}
		if found[lo] == nil {
			found[lo] = &sampledFunction{span: span{lo: lo, hi: hi}, in: s}
		}
		found[lo].samples += s.samples[key]
	}
	return slices.Collect(maps.Values(found))
}

// failed reports whether the image's file could not be read.
func (s *sampledImage) failed() bool { return s.version == (fileVersion{}) && s.parts[0].Path != VDSO }

// A content is what was read from an image's file.
type content struct {
	arch disasm.Arch
	code [][]byte          // the code of each function; nil if it could not be read
	plt  map[uint64]string // see object.stubs
}

// readCode reads the code of functions of one image, and their lines. The lines are read separately, so that there is
// code even if reading the debug information takes too long: libjvm.so may have 300 MB of it.
func (r *Resolver) readCode(s *sampledImage, functions []*sampledFunction) {
	if len(functions) == 0 || s.failed() {
		return
	}
	slices.SortFunc(functions, func(a, b *sampledFunction) int { return cmp.Compare(a.lo, b.lo) })
	ranges := make([]dwarflines.Range, len(functions))
	for i, f := range functions {
		ranges[i] = dwarflines.Range{Lo: f.lo, Hi: f.hi}
	}
	c, err := again(r, s, func(o object, _ debugFinder) (content, error) {
		c := content{arch: ArchOf(o.File), plt: o.stubs()}
		for _, f := range ranges {
			c.code = append(c.code, o.code(f.Lo, f.Hi))
		}
		return c, nil
	})
	if err != nil {
		r.note(fmt.Sprintf("the code of functions in %s is not shown: %v", s.parts[0].module, err))
		return
	}
	s.arch, s.stubs = c.arch, c.plt
	path := filepath.Clean(s.parts[0].Path)
	rows, err := again(r, s, func(o object, debug debugFinder) ([][]nativecode.Row, error) {
		return debug.lines(path, o, ranges), nil
	})
	if err != nil {
		r.note(linesUnread(path, err))
	}
	for i, f := range functions {
		if f.code = c.code[i]; rows != nil {
			f.rows = rows[i]
		}
	}
}

// again opens the file of an image once more, calls the function use with it, and returns the result. It returns an
// error if the file can't be opened, or if it has changed. The call runs in another goroutine, and may still run when
// again returns. So the function use must not write to the caller's memory.
func again[T any](r *Resolver, s *sampledImage, use func(object, debugFinder) (T, error)) (T, error) {
	type result struct {
		value T
		notes []string
	}
	m, noted, version, folder := s.parts[0].Mapping, s.parts[0].owner, s.version, r.folder
	got, err := read(r.ctx, r.limits, func(l *reading) (got result, err error) {
		debug := debugFinder{folder: folder, note: func(text string) { got.notes = append(got.notes, text) }}
		var in io.ReaderAt
		var size int64
		if m.Path == VDSO {
			data, err := ReadVDSO(&m)
			if err != nil {
				return got, err
			}
			in, size = bytes.NewReader(data), int64(len(data))
		} else {
			f, owner, err := openMapped(&m, noted)
			if err != nil {
				return got, err
			}
			defer f.Close()
			if versionOf(f) != version {
				return got, errChanged
			}
			debug.beside = owner.here && leadsTo(filepath.Clean(m.Path), f)
			in, size = f, version.size
		}
		o, err := newObject(l, in, size)
		if err != nil {
			return got, err
		}
		got.value, err = use(o, debug)
		return got, err
	})
	for _, note := range got.notes {
		r.note(note)
	}
	return got.value, err
}

var errChanged = errors.New("the file was changed while the command ran")

// A fileVersion has the size of a file and the time of its last change. If the file is written to, its fileVersion
// differs.
type fileVersion struct {
	size    int64
	changed time.Time
}

// versionOf returns the version of an open file, or the zero value if it is unknown.
func versionOf(f *os.File) fileVersion {
	info, err := f.Stat()
	if err != nil {
		return fileVersion{}
	}
	return fileVersion{info.Size(), info.ModTime()}
}

// code reads the code at [lo, hi). It returns nil unless all of this range is executable and in the file.
func (o object) code(lo, hi uint64) []byte {
	for _, p := range o.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || lo < p.Vaddr || hi-p.Vaddr > p.Filesz || hi <= lo {
			continue
		}
		if o.load.take(int64(hi-lo)) != nil {
			return nil
		}
		code := make([]byte, hi-lo)
		if n, _ := p.ReadAt(code, int64(lo-p.Vaddr)); n == len(code) {
			return code
		}
	}
	return nil
}

// ArchOf returns the instruction set of an ELF file. It may be one that package disasm does not know.
func ArchOf(f *elf.File) disasm.Arch {
	switch f.Machine {
	case elf.EM_X86_64:
		return disasm.AMD64
	case elf.EM_AARCH64:
		return disasm.ARM64
	case elf.EM_PPC64:
		return disasm.PPC64LE
	case elf.EM_RISCV:
		return disasm.RISCV64
	case elf.EM_S390:
		return disasm.S390X
	case elf.EM_LOONGARCH:
		return disasm.Loong64
	}
	return disasm.Arch(strings.ToLower(f.Machine.String()))
}
