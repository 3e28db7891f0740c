package usdt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

const (
	// longestDTraceText is how many bytes of a text DTrace copies at most. DTrace reserves this
	// many bytes in each record, also for short texts.
	longestDTraceText = 255
	// marksPerSecond is how often DTrace prints a mark on each processor.
	marksPerSecond = 5
	// dtraceArguments is how many arguments of a probe DTrace knows: arg0 to arg9.
	dtraceArguments = 10
)

// byName returns one probe for all places with the same name, because that is how DTrace knows
// probes. DTrace itself finds where the arguments are, so each known form becomes RegisterForm. An
// argument that has an unknown form in the note of any place stays unknown. A name that DTrace
// could not have is left out, because names become part of the D program.
func byName(probes []Probe) (named []Probe) {
	at := map[string]int{}
	for _, p := range byOffset(probes) {
		if !plainName.MatchString(p.Provider) || !plainName.MatchString(p.Name) {
			continue
		}
		i, known := at[p.FullName()]
		if !known {
			i = len(named)
			at[p.FullName()] = i
			p.Args = slices.Clone(p.Args)
			named = append(named, p)
		}
		for k := range named[i].Args {
			o := &named[i].Args[k]
			if k < len(p.Args) && p.Args[k].Form == UnknownForm || k >= dtraceArguments {
				o.Form = UnknownForm
			} else if o.Form != UnknownForm {
				o.Form = RegisterForm
			}
		}
	}
	return named
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// dtraceScript returns the script that DTrace runs. It prints a line for each firing of a probe, in
// which all numbers are hexadecimal, and a mark on each processor some times a second. A
// dtraceReader reads these lines. The marks have a second purpose: if gasm is gone, DTrace ends
// soon, because it can't write the next mark.
//
//	e 2 1 1a4f8d3c2b10 61b2 7fae0c8d3a42 4 "main"
//	m 1 1a4f8d3c2b99
//	n 20001
//
// The last line is the number of all firings, in decimal. DTrace counts them in the kernel; this number is needed
// because DTrace does not report all of its losses. An event has the number of the probe, the processor, the time, the
// thread, and the arguments. The length of a text is followed by the text itself, in the form of %S. An allocation also
// has: the address to which the library's code returns; then, if that address is in a stub whose frame is in the chain,
// the address to which the stub returns (otherwise 0 or meaningless); and the words on the caller's stack.
func dtraceScript(pid int, places []place, layouts []layout, lib library) *dtrace.Script {
	var s strings.Builder
	for i := range places {
		p := &places[i]
		fmt.Fprintf(&s, "%s%d:::%s { @n = count(); ", p.Provider, pid, strings.ReplaceAll(p.Name, "__", "-"))
		format, values := `e %x %x %x %x`, []string{strconv.Itoa(i), "cpu", "timestamp", "tid"}
		at := 0
		for _, par := range p.parameters {
			for k := range par.Kind.Width() {
				if p.Args[at+k].isRead() {
					format, values = format+" %x", append(values, "arg"+strconv.Itoa(at+k))
				}
			}
			if p.hasText(par.Kind, at) {
				format, values = format+` \"%S\"`, append(values, fmt.Sprintf(`arg%d ? copyinstr(arg%d, arg%d + 1) : ""`, at+1, at, at+1))
			}
			at += par.Kind.Width()
		}
		if layouts[p.layout].caller && lib.hi != 0 {
			s.WriteString(callerClause(lib))
			format, values = format+" %x %x", append(values, "this->back", "this->above")
			for w := range words {
				format, values = format+" %x", append(values, fmt.Sprintf("this->words[%d]", w))
			}
		}
		fmt.Fprintf(&s, `printf("%s\n", %s); } `, format, strings.Join(values, ", "))
	}
	fmt.Fprintf(&s, `profile-%d { printf("m %%x %%x\n", cpu, timestamp); } END { printa("n %%@d\n", @n); }`, marksPerSecond)
	return &dtrace.Script{Clauses: s.String(), Options: []string{"strsize=" + strconv.Itoa(longestDTraceText+1)}}
}

// hasText reports whether the text of a parameter can be read. at is the index of the parameter's first
// argument.
func (p *Probe) hasText(kind usdt.ParameterKind, at int) bool {
	return kind.Width() == 2 && p.Args[at].isRead() && p.Args[at+1].isRead()
}

// callerClause returns D code that goes through the library's frames, as the BPF program does
// (findCaller). D has no loops, so each step is written out. A step after the last frame of the
// library does not move on.
func callerClause(lib library) string {
	var s strings.Builder
	fmt.Fprintf(&s, "this->frame = uregs[%d]; ", framePointer/8)
	for range mostFrames {
		fmt.Fprintf(&s, "this->back = *(uint64_t *)copyin(this->frame + 8, 8); "+
			"this->frame = this->back - 0x%x < 0x%x ? *(uint64_t *)copyin(this->frame, 8) : this->frame; ", lib.lo, lib.hi-lib.lo)
	}
	fmt.Fprintf(&s, "this->next = *(uint64_t *)copyin(this->frame, 8); "+
		"this->above = this->next - this->frame < %d ? *(uint64_t *)copyin(this->next + 8, 8) : 0; "+
		"this->words = (uint64_t *)copyin(this->frame + 16, %d); ", deepest, 8*words)
	return s.String()
}
