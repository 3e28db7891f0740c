package sampler

// xctrace writes a value once, with a number, and means it again by that number:
//
//	<thread id="37" fmt="Main Thread  0x12aa (java, pid: 581)"><tid id="38" fmt="0x12aa">4778</tid>…</thread>
//	<thread ref="37"/>
//
// Any of them may be meant again until the file's end, so all must be kept: as few bytes of each as there can be, and no more
// than the limits below. An export of 100 MB has some two million.
const (
	maxXCValues = 8 << 20  // 200 MB; it is an export of 400 MB or more
	maxXCNames  = 1 << 19  // names of functions, files and threads
	maxXCText   = 64 << 20 // bytes of all of them together
	// maxXCGap is by how much a number may be higher than the count of elements that were numbered before it.
	maxXCGap = 1 << 16
)

// An xcKind is what an element tells.
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
	xcBacktrace // and what a newer xctrace has around it, tagged-backtrace
	xcFrame
	xcBinary
	xcMachTime
	xcTimebase
	xcTimebaseField
)

var xcKinds = map[string]xcKind{
	"row": xcRow, "schema": xcSchema, "sample-time": xcTime, "thread": xcThread, "process": xcProcess, "tid": xcTID, "pid": xcPID,
	"thread-state": xcState, "backtrace": xcBacktrace, "tagged-backtrace": xcBacktrace, "frame": xcFrame, "binary": xcBinary,
	"mach-absolute-time": xcMachTime, "mach-timebase-info": xcTimebase, "mach-timebase-info-field": xcTimebaseField,
}

// An xcValue is what is kept of an element.
type xcValue struct {
	number uint64 // a time in ns, the id of a thread or a process, a frame's address, a timebase's numerator
	name   uint32 // of a thread, a function or a file, in xcNames; 0 for none
	more   uint32 // a thread's process, a frame's file, a timebase's denominator
	kind   xcKind
	flags  xcFlags
}

type xcFlags uint8

const (
	xcKnown   xcFlags = 1 << iota // number is known
	xcMore                        // more is known
	xcInlined                     // of a frame: the function was inlined into that of the next frame
	xcRunning                     // of a thread's state
	xcX86                         // of a file: its instructions are x86-64's
)

// xcPage is how many values are stored together, so that they are not copied when there are more.
const xcPage = 4096

// xcValues are the values of a file by their numbers.
type xcValues struct {
	pages    [][]xcValue
	numbered uint64 // elements that had a number so far
}

// keep keeps a value. It returns false where the limits do not let it.
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

// find gives the value of a number, if it is of a kind.
func (v *xcValues) find(id uint64, kind xcKind) (xcValue, bool) {
	if page := id / xcPage; page < uint64(len(v.pages)) && v.pages[page] != nil {
		value := v.pages[page][id%xcPage]
		return value, value.kind == kind
	}
	return xcValue{}, false
}

// xcNames are the names in a file, each once.
type xcNames struct {
	known map[string]uint32
	all   []string
	bytes int
}

func newXCNames() xcNames { return xcNames{known: map[string]uint32{"": 0}, all: []string{""}} }

// add gives the index of a name; 0, which stands for none, where the limits do not let it be kept.
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
