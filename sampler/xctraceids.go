package sampler

// xctrace writes a value once, with a number, and refers to it by that number afterwards:
//
//	<thread id="37" fmt="Main Thread  0x12aa (java, pid: 581)"><tid id="38" fmt="0x12aa">4778</tid>…</thread>
//	<thread ref="37"/>
//
// A value may be referred to anywhere in the rest of the file, so all values must be kept, in as few bytes as possible.
// An export of 100 MB has about two million values. Values beyond the limits below are not kept, and a SyntaxError says
// so. Names beyond the limits become empty names.
const (
	maxXCValues = 8 << 20  // this many values take 200 MB, and only an export of 400 MB or more has them
	maxXCNames  = 1 << 19  // names of functions, files and threads
	maxXCText   = 64 << 20 // bytes of all names together
	// maxXCGap limits how far an id may exceed the number of ids seen so far. A larger id can only come from damage.
	maxXCGap = 1 << 16
)

// An xcKind says what an element of the file is, by the name of its tag.
type xcKind uint8

const (
	xcOther xcKind = iota
	xcRow
	xcSchema
	xcTime
	xcThread
	xcProcess
	xcTID
	xcPID
	xcState
	xcBacktrace // also tagged-backtrace, which newer versions put around it
	xcFrame
	xcBinary
	xcMachTime
	xcTimebase
	xcTimebaseField
)

var xcKinds = map[string]xcKind{
	"row": xcRow, "schema": xcSchema, "sample-time": xcTime, "thread": xcThread, "process": xcProcess, "tid": xcTID,
	"pid":          xcPID,
	"thread-state": xcState, "backtrace": xcBacktrace, "tagged-backtrace": xcBacktrace, "frame": xcFrame,
	"binary":             xcBinary,
	"mach-absolute-time": xcMachTime, "mach-timebase-info": xcTimebase, "mach-timebase-info-field": xcTimebaseField,
}

// An xcValue is the part of an element that is kept. What the fields mean depends on the kind of element.
type xcValue struct {
	number uint64 // a time in ns, the id of a thread or a process, a frame's address, a timebase's numerator
	name   uint32 // the name of a thread, a function or a file, as an index into xcNames; 0 for none
	more   uint32 // a thread's process, a frame's file, a timebase's denominator
	kind   xcKind
	flags  xcFlags
}

type xcFlags uint8

const (
	xcKnown   xcFlags = 1 << iota // the field named number is set
	xcMore                        // the field named more is set
	xcInlined                     // for a frame: the function was inlined into the function of the next frame
	xcRunning                     // for a thread's state
)

// xcPage is the number of values in a page. Values are allocated in pages, so none have to be copied when more are
// added.
const xcPage = 4096

// xcValues has the values of a file, by their ids.
type xcValues struct {
	pages    [][]xcValue
	numbered uint64 // how many elements had a number so far
}

// keep keeps a value. It returns false if that would exceed the limits.
func (v *xcValues) keep(id uint64, value xcValue) bool {
	if id >= maxXCValues || id > v.numbered+maxXCGap {
		return false
	}
	page := int(id / xcPage)
	for len(v.pages) <= page {
		v.pages = append(v.pages, nil)
	}
	if v.pages[page] == nil {
		v.pages[page] = make([]xcValue, xcPage)
	}
	v.pages[page][id%xcPage] = value
	return true
}

// find returns the value with an id. It returns false if there is no such value, or if the value is of another kind.
func (v *xcValues) find(id uint64, kind xcKind) (xcValue, bool) {
	if page := id / xcPage; page < uint64(len(v.pages)) && v.pages[page] != nil {
		value := v.pages[page][id%xcPage]
		return value, value.kind == kind
	}
	return xcValue{}, false
}

// xcNames has the names in a file, each of them once.
type xcNames struct {
	known map[string]uint32
	all   []string
	bytes int
}

func newXCNames() xcNames { return xcNames{known: map[string]uint32{"": 0}, all: []string{""}} }

// add returns the index of a name. If keeping the name would exceed the limits, it returns 0, the index for no name.
func (n *xcNames) add(name []byte) uint32 {
	if i, ok := n.known[string(name)]; ok {
		return i
	}
	if len(n.all) == maxXCNames || n.bytes+len(name) > maxXCText {
		return 0
	}
	i := uint32(len(n.all))
	kept := string(name)
	n.known[kept], n.bytes = i, n.bytes+len(kept)
	n.all = append(n.all, kept)
	return i
}
