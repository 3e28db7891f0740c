package usdt

import (
	"runtime"
	"slices"

	"github.com/gasm-profiler/gasm/event/usdt"
)

// A layout is the form of the record that the BPF program writes when a thread reaches a probe. Probes whose arguments
// have the same operands share a layout. The fields are, by offset:
//
//	 0  the time
//	 8  the thread (the lower half) and the process, in the JVM's namespace
//	16  the place: the index of the recorded probe, and the number of the layout
//	24  the arguments that are not constant, 8 bytes each
//	 …  if caller is set: the address to which the library's code returns, or 0 if it was not found;
//	    then, if that address is in a stub that keeps the frame pointer, the address to which the stub
//	    returns (otherwise 0 or meaningless)
//	 …  if words is set: the words on the caller's stack
//	 …  if there is a brief text: its first bytes
type layout struct {
	args   []Operand // the arguments that the record contains
	caller bool
	// words is true for allocations in JDK 11 and 17. In these JDKs, code of C2 calls a stub for
	// each allocation if the probe is switched on. The stub's frame is not in the chain of frame
	// pointers. So its return address has to be found among the first words of the caller's stack.
	words bool
	// brief is the index in args of the address of a text that must be read at the moment when the probe is reached.
	// It is -1 if the probe has no such text.
	brief int
}

const (
	headSize  = 24
	briefSize = 64
	words     = 12 // number of words copied from the stack: twice the size of OptoRuntime's largest stub frame
)

// callerAt returns the offset in a record of the address to which the library's code returns.
func (l *layout) callerAt() int { return headSize + 8*len(l.args) }

// briefAt returns the offset of the brief text.
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

// size returns the size of a whole record.
func (l *layout) size() int {
	if l.brief >= 0 {
		return l.briefAt() + briefSize
	}
	return l.briefAt()
}

// isRead reports whether an argument is in the record. A constant is not, because its value is known from the note. An
// argument of an unknown form can't be read.
func (o *Operand) isRead() bool { return o.Form == RegisterForm || o.Form == MemoryForm }

// A place is a Probe that is recorded, with the layout of its records.
type place struct {
	Probe
	name       string // the probe's full name
	layout     int
	parameters []usdt.Parameter
}

// layOut returns a place for each probe, in the order of their offsets, and the layouts that the
// places share.
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

// parametersOf returns the parameters of a probe. If the probe is not known, or does not have the
// expected number of arguments, its parameters have no names. They are then shown as numbers, or as
// addresses if it is a JNI probe.
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

// hasSize reports whether the size of an allocation can be trusted; see the package comment of
// event/usdt.
func (p *Probe) hasSize() bool { return len(p.Args) == 4 && p.Args[3].Size == 8 }

// isFrequent reports whether a program may reach the probe about a million times a second.
func (p *Probe) isFrequent() bool {
	return p.Provider == usdt.JNIProvider || p.Name == objectAlloc || p.Flag() == methodFlag
}

// cookie returns the number that the kernel passes to the BPF program at each firing. The upper
// half is the number of the layout, and the lower half the index of the place.
func (p *place) cookie(index int) uint64 { return uint64(p.layout)<<32 | uint64(index) }

// framePointer is the offset in struct pt_regs of the register that chains libjvm's frames (rbp on
// x86-64, x29 on aarch64). It points to two words on the stack: the saved frame pointer of the
// caller, and the return address.
var framePointer = map[string]int16{"amd64": 32, "arm64": 8 * 29}[runtime.GOARCH]

// mostFrames is the maximum number of the library's frames that are followed. When the interpreter
// allocates, there are seven frames.
const mostFrames = 10

// deepest is the maximum distance in bytes between the last frame of libjvm and the frame of its
// caller. Compiled code uses the frame pointer as a general register. So if the distance is larger,
// the register does not point to a frame.
const deepest = 1 << 20
