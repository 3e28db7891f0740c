package dwarflines

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/nativecode"
)

// A Range is the range of addresses [Lo, Hi) of a function.
type Range struct{ Lo, Hi uint64 }

const (
	// mostRows limits how many rows and inlined ranges of a function are kept. A function with more gets no lines.
	mostRows = 1 << 16
	// mostLines limits the lines and inlined ranges of all functions together, before equal neighbours are joined.
	// Functions beyond that limit get no lines.
	mostLines = 16 * nativecode.MaxRows
	// mostFrames is the maximum number of frames in the rows of all functions together. Functions beyond it get no
	// lines. The limit is necessary because a few lines inside a few nested functions can make very many frames.
	mostFrames = 4 * nativecode.MaxFrames
	// longestName is the maximum length, in bytes, of a function's name and of the path of a unit's folder. mostNamed
	// is the maximum length of all names and paths together. Beyond these limits, functions have no name and lines have
	// no file.
	longestName, mostNamed = 1 << 14, 64 << 20
	// mostDepth limits how deep entries are nested in one another.
	mostDepth = 200
)

// Of returns the rows of each of the functions, which must be sorted and must not overlap. The rows of a function are
// nil if its lines are not known. info is the section .debug_info from which d was made. The parameter name is a
// function that demangles a name. If stop returns an error, or if the data is damaged, Of returns the rows that it has
// so far, and the error.
func Of(d *dwarf.Data, info []byte, functions []Range, name func(mangled string) string,
	stop func() error) (rows [][]nativecode.Row, err error) {
	f := &finder{data: d, ends: unitEnds(info, d.Reader().ByteOrder()), wanted: make([]function, len(functions)),
		demangle: name, stop: stop, names: map[dwarf.Offset]string{}}
	for i, r := range functions {
		f.wanted[i].Range = r
	}
	defer func() {
		if r := recover(); r != nil { // debug/dwarf makes no promises about damaged data
			rows, err = nil, fmt.Errorf("the DWARF data is damaged: %v", r)
		}
	}()
	err = f.units()
	rows = make([][]nativecode.Row, len(functions))
	left := mostFrames
	for i := range f.wanted {
		if stopped := stop(); stopped != nil {
			return rows, cmp.Or(err, stopped)
		}
		rows[i] = f.wanted[i].rows(&left)
	}
	return rows, err
}

// A function is a wanted function, with the lines and inlined functions found in it.
type function struct {
	Range
	lines   []line
	inlined []inlined
	tooMuch bool
}

// A line is a row of a line program.
type line struct {
	Range
	file string
	line int
}

// The type inlined is a range of code in a wanted function. The code belongs to a function that was inlined there, or
// to the wanted function itself.
type inlined struct {
	Range
	depth    int // 0 for the function itself
	name     string
	callFile string // the file that has the call; callLine is the line there
	callLine int
}

// A finder reads debug information.
type finder struct {
	data     *dwarf.Data
	ends     []dwarf.Offset // the ends of the units, ascending
	wanted   []function
	demangle func(string) string
	stop     func() error
	names    map[dwarf.Offset]string
	files    []*dwarf.LineFile          // the files of the current unit
	dir      string                     // the folder in which the current unit was compiled; "" if unknown or too long
	paths    map[*dwarf.LineFile]string // the paths of these files; see path
	lined    int                        // lines and inlined ranges of all functions
	named    int                        // bytes of all functions' names and of all paths that f has put together
}

// within returns the wanted functions that overlap a range.
func (f *finder) within(lo, hi uint64) []function {
	first, _ := slices.BinarySearchFunc(f.wanted, lo, func(w function, lo uint64) int {
		if w.Hi <= lo {
			return -1
		}
		return 1
	})
	last := first
	for last < len(f.wanted) && f.wanted[last].Lo < hi {
		last++
	}
	return f.wanted[first:last]
}

// overlap reports whether an entry has code of a wanted function. It also returns the ranges of all code that the entry
// describes.
func (f *finder) overlap(e *dwarf.Entry) (ranges [][2]uint64, wanted bool) {
	ranges, err := f.data.Ranges(e)
	if err != nil {
		return nil, false
	}
	for _, r := range ranges {
		if r[0] < r[1] && len(f.within(r[0], r[1])) > 0 {
			return ranges, true
		}
	}
	return ranges, false
}

// units reads all units that have code of wanted functions.
func (f *finder) units() error {
	r := f.data.Reader()
	for {
		if err := f.stop(); err != nil {
			return err
		}
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}
		if e.Tag == 0 {
			continue
		}
		if _, wanted := f.overlap(e); wanted && e.Tag == dwarf.TagCompileUnit {
			if err := f.unit(r, e); err != nil {
				return err
			}
		}
		f.skipUnit(r, e)
	}
}

// skipUnit moves r to the last byte of the unit that contains e. That byte is 0 and ends the list of the unit's
// children. From there, r reads the next unit.
func (f *finder) skipUnit(r *dwarf.Reader, e *dwarf.Entry) {
	i, _ := slices.BinarySearch(f.ends, e.Offset+1)
	if i < len(f.ends) && f.ends[i]-1 > e.Offset && e.Children {
		r.Seek(f.ends[i] - 1)
	}
}

// unitEnds returns the ends of the units in a section .debug_info.
func unitEnds(info []byte, order binary.ByteOrder) (ends []dwarf.Offset) {
	const long = 0xffffffff // the size is in the next eight bytes
	for at := uint64(0); at+4 <= uint64(len(info)); {
		size := uint64(order.Uint32(info[at:]))
		if at += 4; size == long && at+8 <= uint64(len(info)) {
			size = order.Uint64(info[at:])
			at += 8
		}
		if size == 0 || size > uint64(len(info))-at {
			break
		}
		at += size
		ends = append(ends, dwarf.Offset(at))
	}
	return ends
}

// skip moves r past the children of an entry. Unlike SkipChildren of debug/dwarf it does not recurse, so entries that
// are nested too deep can't overflow the stack.
func (f *finder) skip(r *dwarf.Reader, e *dwarf.Entry) error {
	if !e.Children {
		return nil
	}
	if at, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && at > e.Offset {
		r.Seek(at)
		return nil
	}
	for depth := 1; depth > 0; {
		if err := f.stop(); err != nil {
			return err
		}
		in, err := r.Next()
		switch {
		case err != nil || in == nil:
			return err
		case in.Tag == 0:
			depth--
		case in.Children:
			depth++
		}
	}
	return nil
}

// unit reads a unit: its lines, and its functions.
func (f *finder) unit(r *dwarf.Reader, e *dwarf.Entry) error {
	f.files, f.paths = nil, map[*dwarf.LineFile]string{}
	if f.dir, _ = e.Val(dwarf.AttrCompDir).(string); len(f.dir) > longestName {
		f.dir = ""
	}
	lines, err := f.data.LineReader(e)
	if err != nil {
		return err
	}
	if lines != nil {
		if err := f.lines(lines); err != nil {
			return err
		}
		f.files = lines.Files()
	}
	if !e.Children {
		return nil
	}
	return f.entries(r, -1, 0)
}

// lines reads the line program of a unit.
func (f *finder) lines(r *dwarf.LineReader) error {
	var last, next dwarf.LineEntry
	open := false // true if last is the start of a row
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := f.stop(); err != nil {
				return err
			}
		}
		if err := r.Next(&next); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if open && last.Address < next.Address {
			f.line(&last, next.Address)
		}
		last, open = next, !next.EndSequence
	}
}

// line adds the row that begins at e and ends at hi to each wanted function that it overlaps.
func (f *finder) line(e *dwarf.LineEntry, hi uint64) {
	found := f.within(e.Address, hi)
	for i := range found {
		w := &found[i]
		l := line{Range{max(e.Address, w.Lo), min(hi, w.Hi)}, "", e.Line}
		if e.Line < 0 || e.Line > math.MaxInt32 {
			l.line = 0
		}
		if e.File != nil {
			l.file = f.path(e.File)
		}
		if len(w.lines) == mostRows || f.lined == mostLines {
			w.tooMuch = true
			continue
		}
		f.lined++
		w.lines = append(w.lines, l)
	}
}

// path returns the path of a source file of the current unit. debug/dwarf leaves names of DWARF 5 relative to the
// unit's folder, but not those of older versions. All lines of a file share one copy of its path, because otherwise a
// long path would take memory for each line.
func (f *finder) path(file *dwarf.LineFile) string {
	rest, inDir := strings.CutPrefix(file.Name, f.dir)
	if f.dir == "" || strings.HasPrefix(file.Name, "/") || inDir && strings.HasPrefix(rest, "/") {
		return file.Name
	}
	path, known := f.paths[file]
	if !known && f.named < mostNamed {
		path = f.dir + "/" + file.Name
		f.named += len(path)
		f.paths[file] = path
	}
	return path
}

// entries reads the children of an entry: functions, and the functions that are inlined into them. depth is the number
// of functions around them, or -1 outside of all functions. nested is the number of entries around them.
func (f *finder) entries(r *dwarf.Reader, depth, nested int) error {
	if nested > mostDepth {
		return errors.New("its entries are nested too deep")
	}
	for {
		if err := f.stop(); err != nil {
			return err
		}
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return err
		}
		below := depth
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			ranges, wanted := f.overlap(e)
			if !wanted || e.Tag == dwarf.TagInlinedSubroutine && depth < 0 {
				if err := f.skip(r, e); err != nil {
					return err
				}
				continue
			}
			if below++; e.Tag == dwarf.TagSubprogram {
				below = 0
			}
			f.function(e, ranges, below)
		case dwarf.TagNamespace, dwarf.TagModule:
		case dwarf.TagLexDwarfBlock:
			if depth < 0 {
				if err := f.skip(r, e); err != nil {
					return err
				}
				continue
			}
		default:
			if err := f.skip(r, e); err != nil {
				return err
			}
			continue
		}
		if e.Children {
			if err := f.entries(r, below, nested+1); err != nil {
				return err
			}
		}
	}
}

// function adds a function, or an inlined function, to each wanted function that its ranges of code overlap.
func (f *finder) function(e *dwarf.Entry, ranges [][2]uint64, depth int) {
	in := inlined{depth: depth}
	if f.named < mostNamed {
		in.name = f.nameOf(e, 0)
		f.named += len(in.name)
	}
	if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(f.files)) && f.files[n] != nil {
		in.callFile = f.path(f.files[n])
	}
	if n, ok := e.Val(dwarf.AttrCallLine).(int64); ok && n > 0 && n < 1<<31 {
		in.callLine = int(n)
	}
	for _, r := range ranges {
		found := f.within(r[0], r[1])
		for i := range found {
			w := &found[i]
			if len(w.inlined) == mostRows || f.lined == mostLines {
				w.tooMuch = true
				continue
			}
			f.lined++
			in.Range = Range{max(r[0], w.Lo), min(r[1], w.Hi)}
			if in.Lo < in.Hi {
				w.inlined = append(w.inlined, in)
			}
		}
	}
}

// nameOf returns the name of the function that an entry describes. An entry that refers to another one takes its name
// from there.
func (f *finder) nameOf(e *dwarf.Entry, followed int) string {
	const (
		mipsLinkageName = dwarf.Attr(0x2007) // older than DW_AT_linkage_name
		mostFollowed    = 8
	)
	for _, attr := range []dwarf.Attr{dwarf.AttrLinkageName, mipsLinkageName} {
		if name, ok := e.Val(attr).(string); ok && name != "" && len(name) <= longestName {
			return f.demangle(name)
		}
	}
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		at, ok := e.Val(attr).(dwarf.Offset)
		if !ok || followed == mostFollowed {
			continue
		}
		name, known := f.names[at]
		if !known {
			r := f.data.Reader()
			r.Seek(at)
			if other, err := r.Next(); err == nil && other != nil && other.Tag != 0 {
				name = f.nameOf(other, followed+1)
			}
			f.names[at] = name
		}
		if name != "" {
			return name
		}
	}
	if name, ok := e.Val(dwarf.AttrName).(string); ok && len(name) <= longestName {
		return name
	}
	return ""
}
