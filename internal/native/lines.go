package native

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gasm-profiler/gasm/internal/dwarflines"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// lines returns the rows of the given functions of o, which must be sorted. It returns nil if there is no debug
// information. It looks in the file at path itself, and then in a debug file. When gasm runs as root, it reads no debug
// information in files that another user may have written, because an attacker could make that take very long.
func (d debugFinder) lines(path string, o object, functions []dwarflines.Range) (rows [][]nativecode.Row) {
	use := func(o object) (found bool, err error) {
		data, info, err := o.dwarf()
		if data == nil {
			return false, err
		}
		rows, err = dwarflines.Of(data, info, functions, Demangle, o.load.over)
		return true, err
	}
	found, err := false, error(nil)
	switch trusted := os.Geteuid() != 0 || d.beside && isTrusted(filepath.Dir(path)); {
	case path == VDSO:
	case trusted:
		found, err = use(o)
	case o.hasDWARF():
		err = errors.New("another user may have written them, and gasm runs as root")
	}
	if !found && err == nil {
		err = d.eachDebugFile(path, o, use)
	}
	if err != nil {
		d.note(linesUnread(path, err))
	}
	return rows
}

// linesUnread returns a note that says why the lines of the file at a path are missing.
func linesUnread(path string, err error) string {
	return fmt.Sprintf("the lines of source of %s could not be read (%v)", filepath.Base(path), err)
}

// eachDebugFile calls use(debug) for each debug file of o, until use returns true. If it never does, eachDebugFile
// returns the last error.
func (d debugFinder) eachDebugFile(path string, o object, use func(object) (bool, error)) error {
	var all []candidate
	var last error
	if at := d.buildIDPath(o); at != "" {
		all = append(all, candidate{at, regular.Open})
	}
	named, sum, err := d.linked(path, o)
	last = err
	for i, c := range append(all, named...) {
		check := &sum
		if i < len(all) {
			check = nil
		}
		debug, f, err := openDebug(c.path, c.open, o, check)
		if err != nil {
			last = err
		}
		if f == nil {
			continue
		}
		found, err := use(debug)
		f.Close()
		if found {
			return err
		}
		if err != nil {
			last = fmt.Errorf("%s: %w", c.path, err)
		}
	}
	return last
}

// dwarfSections are the sections that lines need, without the prefix ".debug_". The first five are parameters of
// dwarf.New, and the others are added to its result.
var dwarfSections = []string{"abbrev", "info", "line", "ranges", "str", "addr", "line_str", "str_offsets", "rnglists"}

// longestDWARF limits the size of all sections with debug information together, in bytes, without compression. The
// sections of Debian's libjvm.so of JDK 17 have 313 MB.
const longestDWARF = 400 << 20

var errLargeDWARF = errors.New("its debug information is too large")

// hasDWARF reports whether o has debug information.
func (o object) hasDWARF() bool {
	s := o.Section(".debug_info")
	return s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0
}

// dwarf returns the debug information of o and its section .debug_info, or nil if there is none.
func (o object) dwarf() (_ *dwarf.Data, info []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // debug/dwarf makes no promises about damaged data
			err = fmt.Errorf("its debug information is damaged: %v", r)
		}
	}()
	if !o.hasDWARF() {
		return nil, nil, nil
	}
	sections := map[string][]byte{}
	left := uint64(longestDWARF)
	for _, name := range dwarfSections {
		s := o.Section(".debug_" + name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			continue
		}
		if s.Size > left || s.FileSize > uint64(o.size) { // s.Size is the size without compression
			return nil, nil, errLargeDWARF
		}
		left -= s.Size
		if err := o.load.take(int64(s.Size)); err != nil {
			return nil, nil, err
		}
		// s.Data reads a compressed section in pieces, and copies what it has read again and again.
		data := make([]byte, s.Size)
		if _, err := io.ReadFull(s.Open(), data); err != nil {
			return nil, nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		sections[name] = data
	}
	data, err := dwarf.New(sections["abbrev"], nil, nil, sections["info"], sections["line"], nil, sections["ranges"],
		sections["str"])
	for _, name := range dwarfSections[5:] {
		if err == nil && sections[name] != nil {
			err = data.AddSection(".debug_"+name, sections[name])
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return data, sections["info"], nil
}
