package usdt

import (
	"runtime"
	"slices"

	"github.com/gasm-profiler/gasm/event/usdt"
)

// A layout is how the program in the kernel writes down that a probe was reached. All probes
// with their arguments in the same places have one.
//
//	 0  the time
//	 8  the thread (the lower half) and the process, in the JVM's namespace
//	16  the place: which of the recorded probes it is, and the number of the layout
//	24  the arguments that are not constant, 8 bytes each
//	 …  with a caller: the address that the library's code returns to, and the one that a stub
//	    there returns to, or 0
//	 …  with words: what is on the stack of the caller
//	 …  with a brief text: its first bytes
type layout struct {
	args   []Operand // those that are read
	caller bool
	// words is for JDK 11 and 17, where C2's code calls a stub for each allocation that has
	// probes. Its frame is not chained, and its return address is in the first words of it.
	words bool
	// brief is the one of args that is the address of a text which must be read at once; -1
	// for none.
	brief int
}

const (
	headSize  = 24
	briefSize = 64
	words     = 12 // of the stack: OptoRuntime's stubs have frames of up to 6
)

// callerAt is where the caller is in a record.
func (l *layout) callerAt() int { return headSize + 8*len(l.args) }

// briefAt is where the brief text is.
func (l *layout) briefAt() int {
	at := l.callerAt()
	if l.caller {
		at += 16
	}
	if l.words {
		at += 8 * words
	}
	return at
}

// size is that of a whole record.
func (l *layout) size() int {
	if l.brief >= 0 {
		return l.briefAt() + briefSize
	}
	return l.briefAt()
}

// isRead tells whether an argument is in the record: constants are in the note.
func (o *Operand) isRead() bool { return o.Form == RegisterForm || o.Form == MemoryForm }

// A place is a probe that is recorded.
type place struct {
	Probe
	name       string // its full name
	layout     int
	parameters []usdt.Parameter
}

// layOut says how each of the probes is written down.
func layOut(probes []Probe) (places []place, layouts []layout) {
	for _, p := range byOffset(probes) {
		at := place{Probe: p, name: p.FullName(), parameters: parametersOf(&p)}
		l := layoutOf(&at)
		at.layout = slices.IndexFunc(layouts, func(have layout) bool {
			return have.caller == l.caller && have.words == l.words && have.brief == l.brief && slices.Equal(have.args, l.args)
		})
		if at.layout < 0 {
			at.layout = len(layouts)
			layouts = append(layouts, l)
		}
		places = append(places, at)
	}
	return places, layouts
}

// parametersOf says what a probe's arguments are. Of a probe that is not known, or has not as
// many arguments as it is known to have, they are numbers without a name.
func parametersOf(p *Probe) []usdt.Parameter {
	parameters := usdt.Parameters(p.FullName())
	width := 0
	for _, par := range parameters {
		width += par.Kind.Width()
	}
	if parameters != nil && width == len(p.Args) {
		return parameters
	}
	kind := usdt.Number
	if p.Provider == usdt.JNIProvider {
		kind = usdt.Address
	}
	plain := make([]usdt.Parameter, len(p.Args))
	for i := range plain {
		plain[i].Kind = kind
	}
	return plain
}

func layoutOf(p *place) layout {
	l := layout{caller: p.Name == objectAlloc, words: p.Name == objectAlloc && !p.hasSize(), brief: -1}
	arg := 0
	for _, par := range p.parameters {
		for i := range par.Kind.Width() {
			if o := p.Args[arg+i]; o.isRead() {
				if par.Kind == usdt.Brief && i == 0 {
					l.brief = len(l.args)
				}
				l.args = append(l.args, o)
			}
		}
		arg += par.Kind.Width()
	}
	return l
}

// hasSize tells whether the size of an allocation is to be trusted: see doc.go.
func (p *Probe) hasSize() bool { return len(p.Args) == 4 && p.Args[3].Size == 8 }

// isFrequent tells the probes that a program may reach a million times a second.
func (p *Probe) isFrequent() bool {
	return p.Provider == usdt.JNIProvider || p.Name == objectAlloc || p.Flag() == methodFlag
}

// cookie is what the kernel hands to the program with each event.
func (p *place) cookie(index int) uint64 { return uint64(p.layout)<<32 | uint64(index) }

// framePointer is the register that libjvm's frames are chained by: rbp, x29. At its address are the caller's one,
// and the address to return to.
var framePointer = map[string]int16{"amd64": 32, "arm64": 8 * 29}[runtime.GOARCH]

// mostFrames is how many frames of the library are gone through: an allocation by the
// interpreter has seven.
const mostFrames = 10

// deepest is how far the caller's frame may be above that of libjvm, in bytes. What is further off
// is no frame: compiled code uses the frame pointer for anything.
const deepest = 1 << 20
