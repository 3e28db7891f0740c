package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Range is a range of a process's memory. It is either a function of a mapped file, or a gap between two functions. A
// function has several Ranges if other functions start inside it.
type Range struct {
	PID    int
	Lo, Hi uint64 // [Lo, Hi), inside one mapping
	Module string // the base name of the file: "libjvm.so", "[vdso]"
	Symbol string // the function's name, demangled; "" for a gap
}

// A Resolver finds the names of addresses. It knows the mappings of processes, and finds the names in the symbol tables
// of the mapped files. It reads each file once, when the first address in it is resolved. That takes a few milliseconds
// for ten thousand functions. A Resolver is not safe for concurrent use.
type Resolver struct {
	// If Parameters is true, names of C++ functions include the parameters, as in HotSpot's output: "os::breakpoint()".
	// It must be set before the first Resolve.
	Parameters bool

	processes map[int]*process   // by pid
	versions  int                // how many versions of mappings there were; see Version
	owners    map[int]notedOwner // by pid
	images    map[fileKey]*image
	failures  map[failureKey]*image // images without names, of files that could not be read
	folder    string                // debugFolder, except in tests
	limits    *limits
	notes     []string
	more      int  // number of notes beyond maxNotes
	full      bool // true if an image or a name did not fit into memory
	sampled   int  // number of functions and addresses whose samples are counted; see Sampled

	ctx    context.Context // the context of all reading; giveUp cancels it
	giveUp context.CancelCauseFunc
}

// A fileKey identifies a file. It has what a mapping says about the file.
type fileKey struct {
	path         string
	major, minor uint32 // the numbers of the device
	inode        uint64
	deleted      bool
	// size and low are for the vDSO only. For files they are 0 and false.
	size uint64
	low  bool // true if the vDSO lies in the lowest 4 GB, as in 32-bit processes
}

func keyOf(m *Mapping) fileKey {
	key := fileKey{path: m.Path, major: m.DevMajor, minor: m.DevMinor, inode: m.Inode, deleted: m.Deleted}
	if m.Path == VDSO {
		key.size, key.low = m.Hi-m.Lo, m.Hi>>32 == 0
	}
	return key
}

// A failureKey is a file and a user who could not read it. Another user may be able to read it.
type failureKey struct {
	file  fileKey
	known bool
	uid   int
}

// A process has the mappings of one process.
type process struct {
	parts []*part // sorted, without overlaps
	gone  []Range // Ranges that were resolved in mappings that have been replaced or dropped
	past  []*part // the parts of such mappings that have samples
	// version is the version of the mappings; see Resolver.Version.
	version int
}

// A part is a mapping or, if later mappings have replaced some of it, a piece that is left.
type part struct {
	Mapping
	module string
	image  *image // nil until an address is resolved

	asked    map[int]struct{}  // the image's slots (functions and gaps, see image.find) that were resolved
	found    []Range           // the ranges of these slots
	oneBytes map[uint64]string // the names of Ranges of one byte, by PC; see Resolve

	samples map[sampledKey]int // see Sampled; nil without samples
	owner   owner              // the owner of the process at the time of the first sample
}

// NewResolver returns a Resolver without mappings.
func NewResolver() *Resolver {
	r := &Resolver{processes: map[int]*process{}, owners: map[int]notedOwner{}, images: map[fileKey]*image{},
		failures: map[failureKey]*image{},
		folder:   debugFolder, limits: allLimits}
	r.ctx, r.giveUp = context.WithCancelCause(context.Background())
	return r
}

// errGivenUp is the error for a file that was not read because of GiveUp.
var errGivenUp = errors.New("gasm was stopped")

// GiveUp stops the reading of files. A call of Resolve that is reading a file returns at once, and later calls read no
// more files. The functions of all these files get no names. Unlike all other methods, GiveUp may be called from any
// goroutine.
func (r *Resolver) GiveUp() { r.giveUp(errGivenUp) }

// Add adds mappings of processes. They must be added in the order in which they were made, because a mapping replaces
// the parts of earlier mappings that it overlaps. Mappings without a file should be added too, because they may replace
// the mapping of a file. Adding a mapping a second time does nothing. Empty mappings are ignored.
func (r *Resolver) Add(mappings ...Mapping) {
	for _, m := range mappings {
		if m.Lo >= m.Hi {
			continue
		}
		if m.file() && m.Path != VDSO {
			r.Note(m.PID)
		}
		p := r.processes[m.PID]
		if p == nil {
			p = &process{}
			r.processes[m.PID] = p
		}
		if p.add(m) {
			r.changed(p)
		}
	}
}

// add adds a mapping. It returns false if the mapping is there already.
func (p *process) add(m Mapping) bool {
	first, _ := slices.BinarySearchFunc(p.parts, m.Lo, func(old *part, pc uint64) int {
		if old.Hi <= pc {
			return -1
		}
		return 1
	})
	if first < len(p.parts) && p.parts[first].Mapping == m {
		return false
	}
	replacement := []*part{newPart(m, m.Lo, m.Hi)}
	last := first
	for ; last < len(p.parts) && p.parts[last].Lo < m.Hi; last++ {
		old := p.parts[last]
		if old.Lo < m.Lo {
			replacement = slices.Insert(replacement, 0, newPart(old.Mapping, old.Lo, m.Lo))
		}
		if m.Hi < old.Hi {
			replacement = append(replacement, newPart(old.Mapping, m.Hi, old.Hi))
		}
		p.end(old)
	}
	p.parts = slices.Replace(p.parts, first, last, replacement...)
	return true
}

// end keeps what is still needed of a part that has been replaced or dropped.
func (p *process) end(old *part) {
	p.gone = old.appendFound(p.gone)
	if len(old.samples) > 0 {
		p.past = append(p.past, old)
	}
}

// newPart returns the part [lo, hi) of a mapping.
func newPart(m Mapping, lo, hi uint64) *part {
	m.FileOffset += lo - m.Lo
	m.Lo, m.Hi = lo, hi
	return &part{Mapping: m, module: m.module()}
}

// Fork is called when a process has forked. The child gets the mappings and the user of its parent. If an earlier
// process had the same id as the child, the mappings of that process are dropped.
func (r *Resolver) Fork(parent, child int) {
	r.Forget(child)
	if noted := r.owners[parent]; noted.known {
		r.owners[child] = notedOwner{owner: noted.owner}
	}
	from := r.processes[parent]
	if from == nil {
		return
	}
	p := r.processes[child]
	if p == nil {
		p = &process{}
		r.processes[child] = p
	}
	for _, old := range from.parts {
		copied := newPart(old.Mapping, old.Lo, old.Hi)
		copied.PID, copied.image = child, old.image
		p.parts = append(p.parts, copied)
	}
	r.changed(p)
}

// Forget drops the mappings of a process that has ended. Ranges that were already resolved are kept for Table.
func (r *Resolver) Forget(pid int) {
	delete(r.owners, pid)
	r.drop(pid)
}

// Exec is like Forget, but for a process that has called exec and now runs another program. The new program may run as
// another user, so the next Note looks the user up again. If the process ends before that, its user is taken to be the
// one from before the exec.
func (r *Resolver) Exec(pid int) {
	if noted, ok := r.owners[pid]; ok {
		r.owners[pid] = notedOwner{owner: noted.owner}
	}
	r.drop(pid)
}

func (r *Resolver) drop(pid int) {
	p := r.processes[pid]
	if p == nil {
		return
	}
	for _, old := range p.parts {
		p.end(old)
	}
	p.parts = nil
	r.changed(p)
	if len(p.gone) == 0 {
		delete(r.processes, pid)
	}
}

// Path returns the path of the mapping at a PC in a process. It need not be the path of a file; it may also be
// "[heap]", for example. If the mapping is unknown or has no path, Path returns "".
func (r *Resolver) Path(pid int, pc uint64) string {
	if p := r.processes[pid]; p != nil {
		if at := p.find(pc); at != nil {
			return at.Mapping.Path
		}
	}
	return ""
}

// Mapping returns the mapping at a PC in a process, for example to open its file with [OpenMapped]. If later mappings
// have replaced a part of it, Mapping returns the piece that is left around pc. ok is false if no mapping is known
// there.
func (r *Resolver) Mapping(pid int, pc uint64) (m Mapping, ok bool) {
	p := r.processes[pid]
	if p == nil {
		return Mapping{}, false
	}
	at := p.find(pc)
	if at == nil {
		return Mapping{}, false
	}
	return at.Mapping, true
}

// Opener returns a function that opens the file of a mapping, as [OpenMapped] does. It also works after the process has
// ended, if the Resolver knows as which user to open the file. Any goroutine may call the function.
func (r *Resolver) Opener(m Mapping) func() (*os.File, error) {
	noted := r.owners[m.PID].owner
	return func() (*os.File, error) {
		f, _, err := openMapped(&m, noted)
		return f, err
	}
}

// find returns the part that contains pc, or nil if no part does.
func (p *process) find(pc uint64) *part {
	lo, hi := 0, len(p.parts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch at := p.parts[mid]; {
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

// Resolve returns the Range of a PC in a process. The parameter claim is the sampler's name for the PC, or "" if the
// sampler has no name for it. Resolve returns false if no file is mapped at the PC, as for JIT code.
//
// The package comment says when a claim is believed. If the claim was believed, the Range is only the one byte at pc.
// Otherwise the caller may use the result for all PCs in the Range, with one exception. If the Range is a gap, other
// claims for PCs in it may be believed, so the result is valid only for PCs with the same claim.
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
	addr, ok := img.segments.Address(pc - at.Lo + at.FileOffset)
	if !ok {
		return at.oneByte(pc, ""), true
	}
	slot, lo, hi := img.find(addr)
	if slot%2 == 0 && claim != "" && img.believes(claim, addr) {
		return at.oneByte(pc, claim), true
	}
	found := Range{
		PID:    pid,
		Lo:     pc - min(addr-lo, pc-at.Lo),
		Hi:     pc + min(hi-addr, at.Hi-pc),
		Module: at.module,
		Symbol: r.name(img, slot),
	}
	at.keep(slot, found)
	return found, true
}

// name returns the name of a slot's function. It returns "" for a gap. It keeps the name in img.named. If that would
// take too much memory, it returns "".
func (r *Resolver) name(img *image, slot int) string {
	name, known := img.named[slot]
	if known || slot%2 == 0 {
		return name
	}
	if name = img.name(slot); !img.account.take(len(name)) {
		r.full, name = true, ""
	}
	img.named[slot] = name
	return name
}

// oneByte returns a Range of one byte with the given symbol, and keeps it for Table.
func (at *part) oneByte(pc uint64, symbol string) Range {
	known, ok := at.oneBytes[pc]
	if !ok || known != symbol {
		if at.oneBytes == nil {
			at.oneBytes = map[uint64]string{}
		}
		known = strings.Clone(symbol) // the claim may be a part of a long text of the sampler
		at.oneBytes[pc] = known
	}
	return Range{PID: at.PID, Lo: pc, Hi: pc + 1, Module: at.module, Symbol: known}
}

// keep keeps the Range that was found for a slot, unless the slot already has one.
func (at *part) keep(slot int, found Range) {
	if _, ok := at.asked[slot]; ok {
		return
	}
	if at.asked == nil {
		at.asked = map[int]struct{}{}
	}
	at.asked[slot] = struct{}{}
	at.found = append(at.found, found)
}

// appendFound appends the Ranges that were resolved in this part. The Ranges of one byte come last. They lie inside
// gaps, and if Ranges overlap, a Table uses the later one.
func (at *part) appendFound(to []Range) []Range {
	to = append(to, at.found...)
	for pc, symbol := range at.oneBytes {
		to = append(to, Range{PID: at.PID, Lo: pc, Hi: pc + 1, Module: at.module, Symbol: symbol})
	}
	return to
}

// image returns the image of the file that is mapped at a part of the address space. It reads the file, unless it has
// already done so for another part. If the file can't be read, the image has no names.
func (r *Resolver) image(at *part) *image {
	key := keyOf(&at.Mapping)
	if img := r.images[key]; img != nil {
		return img
	}
	noted := r.owners[at.PID]
	failed := failureKey{key, noted.known, noted.user.UID}
	if img := r.failures[failed]; img != nil {
		return img
	}
	img, failure := r.load(&at.Mapping)
	if img == nil {
		img = nameless()
		r.note(fmt.Sprintf("%s %s: its functions have no names", at.module, failure))
	}
	img.account = newAccount(img, r.limits)
	img.parameters = r.Parameters
	switch {
	case !img.account.take(imageMemory + len(at.Path)):
		r.full = true
	case failure != "":
		r.failures[failed] = img
	default:
		r.images[key] = img
	}
	return img
}

// imageMemory is the memory that an image takes besides its functions, in bytes.
const imageMemory = 512

// load reads the file of a mapping. If it returns nil, failure says why: "was replaced while the command ran". The
// caller puts the name of the file before that text.
func (r *Resolver) load(m *Mapping) (img *image, failure string) {
	type loaded struct {
		*image
		failure string
	}
	folder, mapping, limits, noted := r.folder, *m, r.limits, r.owners[m.PID].owner
	l, err := read(r.ctx, limits, func(o *reading) (l loaded, err error) {
		var notes []string
		l.image, l.failure = readMapped(o, &mapping, noted, debugFinder{folder: folder,
			note: func(text string) { notes = append(notes, text) }})
		if l.image == nil || l.functions.account != nil { // shared functions have an account
			return l, nil
		}
		l.notes = notes
		l.functions.account = newAccount(l.functions, limits)
		if !l.functions.account.take(l.memory()) {
			return loaded{}, errMemory
		}
		if l.key != (sharedKey{}) {
			sharedFunctions.add(l.functions)
		}
		return l, nil
	})
	if errors.Is(err, errGivenUp) {
		return nil, fmt.Sprintf("was not read (%v)", err)
	}
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	if l.image != nil {
		for _, note := range l.notes {
			r.note(note)
		}
	}
	return l.image, l.failure
}

// readMapped reads the file of a mapping for the method load. It runs in another goroutine, and may still run after
// load has returned.
func readMapped(l *reading, m *Mapping, noted owner, debug debugFinder) (img *image, failure string) {
	if m.Path == VDSO {
		data, err := ReadVDSO(m)
		if err == nil {
			img, err = readImage(l, data)
		}
		if err != nil {
			return nil, fmt.Sprintf("could not be read (%v)", err)
		}
		return img, ""
	}
	if m.Deleted {
		return nil, "was deleted or replaced while it was in use"
	}
	f, noted, err := openMapped(m, noted)
	if errors.Is(err, ErrReplaced) {
		return nil, "was replaced while the command ran"
	}
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	f, size, err := withSize(f)
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	defer f.Close()
	version := versionOf(f) // before anything is read
	debug.beside = noted.here && leadsTo(filepath.Clean(m.Path), f)
	o, err := newObject(l, f, size)
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	key := sharedKey{keyOf(m), version, debug.versions(filepath.Clean(m.Path), o), debug.folder, l.limits}
	if shared := sharedFunctions.find(key); shared != nil {
		return newImageOf(shared), ""
	}
	img, err = newImage(o, func() symbolTable { return debug.symbols(filepath.Clean(m.Path), o) })
	if err != nil {
		return nil, fmt.Sprintf("could not be read (%v)", err)
	}
	img.version = versionOf(f)
	if version == img.version && version != (fileVersion{}) { // nobody has written to the file meanwhile
		img.key = key
	}
	return img, ""
}

// readImage reads an ELF file that is in memory.
func readImage(l *reading, data []byte) (*image, error) {
	o, err := newObject(l, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return newImage(o, nil)
}

// maxNotes is the maximum number of notes about files. If there are more, one last note says how many.
const maxNotes = 32

func (r *Resolver) note(text string) {
	switch {
	case slices.Contains(r.notes, text):
	case len(r.notes) < maxNotes:
		r.notes = append(r.notes, text)
	default:
		r.more++
	}
}

// Notes returns a sentence for each file that could not be read, in the order in which the files were needed. The slice
// is a copy.
func (r *Resolver) Notes() []string {
	notes := slices.Clone(r.notes)
	if r.full {
		notes = append(notes, "some native functions have no names, because all names would take too much memory")
	}
	if r.more > 0 {
		notes = append(notes, fmt.Sprintf("%d more files could not be read: their functions have no names", r.more))
	}
	return notes
}

// Table returns the Ranges that Resolve has returned so far, in a form that can be written to a capture. A Table does
// not know about times. If a mapping replaced an earlier one and PCs were resolved in both, the Ranges of the later
// mapping win where the Ranges overlap.
func (r *Resolver) Table() *Table {
	var all []Range
	for _, p := range r.processes {
		all = append(all, p.gone...)
		for _, at := range p.parts {
			all = at.appendFound(all)
		}
	}
	return newTable(all)
}
