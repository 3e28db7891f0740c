package native

import (
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
)

// A Range is a function, or a gap between two functions, of a file mapped in a
// process. A function in which another one starts has several ranges.
type Range struct {
	PID    int
	Lo, Hi uint64 // [Lo, Hi), inside the mapping
	Module string // the base name of the file: "libjvm.so", "[vdso]"
	Symbol string // demangled; "": no function is known here
}

// A Resolver names addresses by mappings and by ELF files. A file is read, once,
// when the first address in it is resolved; what that takes is a few
// milliseconds per ten thousand functions. A Resolver is not safe for
// concurrent use.
type Resolver struct {
	processes map[int]*process
	images    map[fileKey]*image
	folder    string // of debug files
	notes     []string
}

// A fileKey is a file as the mappings tell it.
type fileKey struct {
	path         string
	major, minor uint32
	inode        uint64
	deleted      bool
	size         uint64 // of the vDSO, whose identity it is, 0 for files
	low          bool   // the vDSO of a process of 32 bits
}

// A process has the mappings of one process, sorted and without overlaps, and
// what was found in mappings that are gone.
type process struct {
	places []*place
	gone   []Range
}

// A place is a mapping or what later ones have left of it.
type place struct {
	Mapping
	module string
	image  *image // nil until an address is resolved

	asked  []uint64 // a bit per slot of the image
	found  []Range  // of these slots
	claims map[uint64]string
}

// NewResolver returns one without mappings.
func NewResolver() *Resolver {
	return &Resolver{processes: map[int]*process{}, images: map[fileKey]*image{}, folder: debugFolder}
}

// Add tells what processes have mapped. Later mappings replace what they
// overlap in the same process, so they come in the order of time; one that is
// there already changes nothing. A mapping that is no file's is welcome: it
// says that a file is not there any more. Empty mappings are ignored.
func (r *Resolver) Add(mappings ...Mapping) {
	for _, m := range mappings {
		if m.Lo >= m.Hi {
			continue
		}
		p := r.processes[m.PID]
		if p == nil {
			p = &process{}
			r.processes[m.PID] = p
		}
		p.add(m)
	}
}

func (p *process) add(m Mapping) {
	first, _ := slices.BinarySearchFunc(p.places, m.Lo, func(at *place, pc uint64) int {
		if at.Hi <= pc {
			return -1
		}
		return 1
	})
	if first < len(p.places) && p.places[first].Mapping == m {
		return
	}
	pieces := []*place{newPlace(m, m.Lo, m.Hi)}
	last := first
	for ; last < len(p.places) && p.places[last].Lo < m.Hi; last++ {
		old := p.places[last]
		if old.Lo < m.Lo {
			pieces = slices.Insert(pieces, 0, newPlace(old.Mapping, old.Lo, m.Lo))
		}
		if m.Hi < old.Hi {
			pieces = append(pieces, newPlace(old.Mapping, m.Hi, old.Hi))
		}
		p.gone = old.appendFound(p.gone)
	}
	p.places = slices.Replace(p.places, first, last, pieces...)
}

// newPlace makes the place of the part [lo, hi) of a mapping.
func newPlace(m Mapping, lo, hi uint64) *place {
	m.FileOffset += lo - m.Lo
	m.Lo, m.Hi = lo, hi
	return &place{Mapping: m, module: m.module()}
}

// find returns the place that holds pc, nil when there is none.
func (p *process) find(pc uint64) *place {
	lo, hi := 0, len(p.places)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch at := p.places[mid]; {
		case at.Hi <= pc:
			lo = mid + 1
		case pc < at.Lo:
			hi = mid
		default:
			return at
		}
	}
	return nil
}

// Resolve names a PC of a process. claim is the symbol that the sampler gave,
// "" when it gave none. It returns false when no file is mapped there: JIT code,
// a stack.
//
// A claim is used only where the file has no symbols but the dynamic ones and
// none of them holds the PC: then it is believed unless it is one of them,
// which would be the nearest one. Such a range has one byte, and a gap's range
// in such a file is no answer for PCs with another claim.
func (r *Resolver) Resolve(pid int, pc uint64, claim string) (Range, bool) {
	p := r.processes[pid]
	if p == nil {
		return Range{}, false
	}
	at := p.find(pc)
	if at == nil || !at.file() {
		return Range{}, false
	}
	img := at.image
	if img == nil {
		img = r.image(at)
		at.image = img
	}
	addr, ok := img.addr(pc - at.Lo + at.FileOffset)
	if !ok {
		return at.byte(pc, ""), true
	}
	slot, lo, hi := img.find(addr)
	if slot%2 == 0 && claim != "" && img.believes(claim, addr) {
		return at.byte(pc, claim), true
	}
	found := Range{
		PID:    pid,
		Lo:     pc - min(addr-lo, pc-at.Lo),
		Hi:     pc + min(hi-addr, at.Hi-pc),
		Module: at.module,
		Symbol: img.name(slot),
	}
	at.note(slot, found)
	return found, true
}

// byte is the range of pc alone.
func (at *place) byte(pc uint64, symbol string) Range {
	known, ok := at.claims[pc]
	if !ok || known != symbol {
		if at.claims == nil {
			at.claims = map[uint64]string{}
		}
		known = strings.Clone(symbol) // not a line of the sampler's
		at.claims[pc] = known
	}
	return Range{PID: at.PID, Lo: pc, Hi: pc + 1, Module: at.module, Symbol: known}
}

// note keeps what was found in a slot, once.
func (at *place) note(slot int, found Range) {
	if at.asked == nil {
		at.asked = make([]uint64, len(at.image.pieces)*2/bits.UintSize+1)
	}
	word, bit := slot/bits.UintSize, uint64(1)<<(slot%bits.UintSize)
	if at.asked[word]&bit == 0 {
		at.asked[word] |= bit
		at.found = append(at.found, found)
	}
}

// appendFound appends what was resolved here; claims last, as they lie in gaps.
func (at *place) appendFound(to []Range) []Range {
	to = append(to, at.found...)
	for pc, symbol := range at.claims {
		to = append(to, Range{PID: at.PID, Lo: pc, Hi: pc + 1, Module: at.module, Symbol: symbol})
	}
	return to
}

// image returns the file's image, which other mappings may share.
func (r *Resolver) image(at *place) *image {
	key := fileKey{path: at.Path, major: at.DevMajor, minor: at.DevMinor, inode: at.Inode, deleted: at.Deleted}
	if at.Path == VDSO {
		key.size, key.low = at.Hi-at.Lo, at.Hi>>32 == 0
	}
	img := r.images[key]
	if img == nil {
		var failure string
		if img, failure = r.load(&at.Mapping); img == nil {
			img = nameless()
			r.note(fmt.Sprintf("%s %s: its functions have no names", at.module, failure))
		}
		r.images[key] = img
	}
	return img
}

// load reads the mapping's file. Without an image the text says what is wrong
// with the file.
func (r *Resolver) load(m *Mapping) (*image, string) {
	if m.Path == VDSO {
		data, err := readVDSO(m)
		if err == nil {
			var img *image
			if img, err = readImage(data); err == nil {
				return img, ""
			}
		}
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	if m.Deleted {
		return nil, "was deleted or replaced while it was in use"
	}
	f, size, err := openFile(m.Path)
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	defer f.Close()
	if !isFileOf(f, m) {
		return nil, "was replaced while the command ran"
	}
	o, err := newObject(f, size)
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	debug := debugFinder{folder: r.folder, note: r.note}
	img, err := newImage(o, func() []symbol { return debug.symbols(filepath.Clean(m.Path), o) })
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	return img, ""
}

func (r *Resolver) note(text string) {
	if !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// Notes says what could not be read, a sentence for each file, in the order in
// which they were met. The slice is the caller's.
func (r *Resolver) Notes() []string { return slices.Clone(r.notes) }

// Table returns what Resolve has found so far, to be kept with a capture. Where
// a mapping was replaced by another one that was asked for too, the later one
// is kept: a table has no time.
func (r *Resolver) Table() *Table {
	var all []Range
	for _, p := range r.processes {
		all = append(all, p.gone...)
		for _, at := range p.places {
			all = at.appendFound(all)
		}
	}
	return newTable(all)
}
