package usdt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/javaname"
)

// A firing is one moment at which a thread reached a probe.
type firing struct {
	mono int64
	tid  int
	name string
	args []argument
}

// An opened is the key of the map Reader.open. It identifies something that has begun, such as a park, by the thread
// and the full name of the probe that reported the beginning: "hotspot:thread__park__begin". If the text does not name
// the thread, tid is 0.
type opened struct {
	tid  int
	what string
}

// A begun is something that has begun, but whose end has not been read yet.
type begun struct {
	firing
	what string
}

// endings are pairs of suffixes of probes' names. One marks the start of something, such as a park, and the other one
// its end.
var endings = []struct{ begin, end string }{
	{"__begin", "__end"},
	{"__entry", "__return"},
	{"__contended__enter", "__contended__entered"},
	{"monitor__wait", "monitor__waited"},
}

// halves reports whether a probe is the start or the end of something, such as a park. It also returns a name for that
// thing (what), and the name of the probe at its other end (other).
//
// For two groups of probes, halves returns false although their names look like pairs. The initialization of a class
// has one start but several ends, and each end is an event of its own. The probes of memory pools report the
// beginnings of all pools before the end of the first one.
func halves(name string) (what, other string, begins, ends bool) {
	if strings.HasPrefix(name, Provider+":class__initialization__") || strings.HasPrefix(name, Provider+":mem__pool__") {
		return "", "", false, false
	}
	for _, e := range endings {
		if base, ok := strings.CutSuffix(name, e.end); ok {
			return base + e.begin, base + e.begin, false, true
		}
		if base, ok := strings.CutSuffix(name, e.begin); ok {
			return name, base + e.end, true, false
		}
	}
	return "", "", false, false
}

// halves is like the function halves, but takes into account which probes were recorded. If the
// other half of a probe was not recorded, the probe does not count as a start or an end.
func (r *Reader) halves(name string) (what string, begins, ends bool) {
	what, other, begins, ends := halves(name)
	if r.recorded != nil && !r.recorded[other] {
		return "", false, false
	}
	return what, begins, ends
}

// reached handles a firing. It keeps a start until its end is read, and makes one event of both. It makes an event of
// each firing that is neither a start nor an end. msg says what is wrong with the line, or is "".
func (r *Reader) reached(f firing) (msg string) {
	what, begins, ends := r.halves(f.name)
	key := opened{f.tid, what}
	switch {
	case begins && r.n >= mostOpen:
		return "too many starts without an end: more than a JVM's threads can be in"
	case begins:
		r.open[key] = append(r.open[key], begun{f, what})
		r.n++
	case ends:
		stack := r.open[key]
		if len(stack) == 0 {
			return "" // it began before the recording, so its start is unknown
		}
		b := stack[len(stack)-1]
		if r.n--; len(stack) == 1 {
			delete(r.open, key)
		} else {
			r.open[key] = stack[:len(stack)-1]
		}
		r.record = r.event(&b.firing, &f, what)
	default:
		r.record = r.moment(&f)
	}
	return ""
}

// moment returns the event of a firing that is not paired with another one. For example, the start of a park whose end
// was not recorded becomes a plain firing of its probe, and not a park without a duration.
func (r *Reader) moment(f *firing) *event.Event {
	e := r.event(f, nil, f.name)
	if _, _, begins, ends := halves(f.name); (begins || ends) && e.Kind != event.JNI {
		Plain(e)
	}
	return e
}

// unended moves the starts that are left in r.open to r.rest, sorted by their times. They have no end, because the
// recording stopped too early.
func (r *Reader) unended() {
	r.ended = true
	for _, stack := range r.open {
		r.rest = append(r.rest, stack...)
	}
	slices.SortFunc(r.rest, func(a, b begun) int {
		return cmp.Or(cmp.Compare(a.mono, b.mono), cmp.Compare(a.tid, b.tid), cmp.Compare(a.name, b.name))
	})
}

func (r *Reader) nextUnended() bool {
	if len(r.rest) == 0 || r.in.Err() != nil {
		return false
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	r.record = r.event(&b.firing, nil, b.what)
	return true
}

// event returns the event that begins with the firing from and ends with the firing to. If the end is not in the text,
// or the probe is not one of a pair, to is nil, and the event has no duration. The parameter what is the name that the
// method halves returned, or the name of the probe.
func (r *Reader) event(from, to *firing, what string) *event.Event {
	e := &event.Event{PID: r.pid, TID: from.tid, MonoNanos: from.mono}
	args := from.args
	if to != nil {
		e.Nanos = max(to.mono-from.mono, 0)
	}
	base := from.name
	if _, begins, _ := r.halves(base); begins {
		what = strings.TrimSuffix(what, "__begin")
	}
	e.Kind, e.Name = kindOf(what), what
	var used int // the event's name was made from this number of arguments, beginning with the first
	switch e.Kind {
	case event.GC:
		e.Name = collection(what, args)
	case event.Safepoint:
		e.Name = event.UnknownSafepoint // the VM operation has probes of its own
	case event.VMOperation:
		e.Name, used = textOf(args, 0, what), 1
	case event.Compilation:
		e.Name, used = methodName(args, what), 0
	case event.Lock:
		e.Name = textOf(args, 2, what)
		if len(args) > 2 {
			e.Name = className(&args[2])
		}
	case event.Park, event.Sleep:
		if e.Name = strings.TrimPrefix(what, "hotspot:thread__"); len(args) > 2 && args[2].isText {
			e.Name = className(&args[2]) // the park is an Object.wait
		}
	case event.ClassLoad:
		if len(args) > 0 {
			e.Name = className(&args[0])
		}
		used = 1
	case event.Thread:
		e.Name, used = textOf(args, 0, what), 1
	case event.JNI:
		e.Name = strings.TrimSuffix(strings.TrimPrefix(what, JNIProvider+":"), "__entry")
	}
	e.Args = r.arguments(base, args, used)
	if to != nil {
		e.Args = append(e.Args, r.results(to)...)
	}
	e.Args = append(e.Args, event.Arg{Name: probeArgument, Value: base})
	return e
}

// probeArgument is the name of an event's argument. Its value is the name of the probe that
// reported the event. If a start and an end were joined, it is the probe of the start.
const probeArgument = "probe"

// Plain turns an event into a plain firing of its probe: the event gets the kind event.Probe and the probe's name.
// Callers use it if a JVM's events of the original kind also come from another source. Otherwise these events would be
// counted twice.
func Plain(e *event.Event) {
	for _, a := range e.Args {
		if a.Name == probeArgument {
			e.Kind, e.Name = event.Probe, a.Value
		}
	}
}

// The pauses of the collector CMS have probes of their own. JDK 13 was the last release with CMS.
const cmsMark, cmsRemark = PrivateProvider + ":cms__initmark", PrivateProvider + ":cms__remark"

// kindOf returns the kind of the events that a probe reports. The parameter what is the name of the probe, without
// __begin if the probe is paired with an __end.
func kindOf(what string) event.Kind {
	if strings.HasPrefix(what, JNIProvider+":") {
		return event.JNI
	}
	switch strings.TrimPrefix(what, Provider+":") {
	case "gc", cmsMark, cmsRemark:
		return event.GC
	case PrivateProvider + ":safepoint":
		return event.Safepoint
	case "vmops":
		return event.VMOperation
	case "method__compile":
		return event.Compilation
	case "monitor__contended__enter":
		return event.Lock
	case "thread__park", "monitor__wait":
		return event.Park
	case "thread__sleep":
		return event.Sleep
	case "class__loaded", "class__unloaded":
		return event.ClassLoad
	case "thread__start", "thread__stop":
		return event.Thread
	}
	return event.Probe
}

// collection returns the name of a collector's pause.
func collection(what string, args []argument) string {
	switch {
	case what == cmsMark:
		return "CMS initial mark"
	case what == cmsRemark:
		return "CMS remark"
	case len(args) > 0 && args[0].number != 0:
		return "full collection"
	}
	return "collection"
}

func textOf(args []argument, i int, otherwise string) string {
	if i < len(args) && args[i].isText {
		return args[i].text
	}
	return otherwise
}

// className returns a class's name as Java writes it.
func className(a *argument) string {
	if !a.isText {
		return "(a class whose name could not be read)"
	}
	return javaClass(a.text)
}

// methodName returns the name of the method that was compiled, such as "org.acme.Svc::tiny". args are the compiler's
// name, and the method's class, name and signature. If the class or the name could not be read, methodName returns the
// parameter otherwise.
func methodName(args []argument, otherwise string) string {
	if len(args) < 4 || !args[1].isText || !args[2].isText {
		return otherwise
	}
	return className(&args[1]) + "::" + javaname.Decode(args[2].text)
}

// arguments returns the arguments of a probe with their names. The parameter used is how many of the first arguments it
// leaves out, because the event's name was made from them.
func (r *Reader) arguments(probe string, args []argument, used int) (named []event.Arg) {
	parameters := known[probe]
	if len(parameters) != len(args) {
		parameters = nil
	}
	for i := used; i < len(args); i++ {
		name := "arg" + strconv.Itoa(i)
		shown := args[i].shown(Number)
		if parameters != nil {
			name, shown = parameters[i].Name, args[i].shown(parameters[i].Kind)
		} else if strings.HasPrefix(probe, JNIProvider) {
			shown = args[i].shown(Address)
		}
		named = append(named, event.Arg{Name: name, Value: shown})
	}
	return named
}

// results returns those arguments of an event's end that its start does not have, such as whether a compilation
// succeeded.
func (r *Reader) results(end *firing) []event.Arg {
	switch end.name {
	case Provider + ":method__compile__end", Provider + ":thread__sleep__end":
		all := r.arguments(end.name, end.args, 0)
		return all[max(len(all)-1, 0):]
	}
	if strings.HasPrefix(end.name, JNIProvider) && len(end.args) == 1 {
		return []event.Arg{{Name: "result", Value: end.args[0].shown(Address)}}
	}
	return nil
}

func (a *argument) shown(kind ParameterKind) string {
	switch {
	case a.unknown:
		return "?"
	case a.isText:
		return a.text
	case kind == Boolean:
		return strconv.FormatBool(a.number != 0)
	case kind == Address:
		return fmt.Sprintf("%#x", uint64(a.number))
	}
	return strconv.FormatInt(a.number, 10)
}
