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
	// longestDTraceText is the maximum number of bytes of a text that DTrace copies. DTrace reserves that many bytes in
	// each record, even if the text is short.
	longestDTraceText = 255
	// marksPerSecond is how many times a second DTrace prints a mark for each processor.
	marksPerSecond = 5
	// dtraceArguments is how many arguments of a probe DTrace knows: arg0 to arg9.
	dtraceArguments = 10
)

// byName merges places with the same name into one probe, because DTrace knows probes only by name.
// DTrace itself finds the arguments, so every operand whose form is known gets RegisterForm. But if
// an argument has an unknown form in one of the places, its form stays unknown. Names become part
// of the D program, so byName leaves out probes whose names DTrace could not have.
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

// dtraceScript returns the script that DTrace runs. The script prints a line for each firing of a probe (e), and
// several times a second a mark for each processor (m). The numbers in these lines are hexadecimal. A dtraceReader
// reads them. The marks have a second purpose: if gasm is gone, DTrace ends soon, because it can't write the next mark.
//
//	e 2 1 1a4f8d3c2b10 61b2 7fae0c8d3a42 4 "main"
//	m 1 1a4f8d3c2b99
//	n 20001
//
// A firing has the number of the probe, the processor, the time, the thread, and the arguments. After the length of a
// text comes the text itself, in the form of %S. An allocation also has two return addresses and the words on the
// caller's stack. The first address is where the library's code returns to. If that is in a stub that keeps the frame
// pointer, the second address is where the stub returns to. Otherwise it is 0 or meaningless.
//
// The last line (n) is the number of all firings, in decimal. DTrace counts them in the kernel. The number is needed
// because DTrace does not report all of its losses.
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
				format, values = format+` \"%S\"`, append(values, fmt.Sprintf(`arg%d ? copyinstr(arg%d, arg%d + 1) : ""`, at+1, at,
					at+1))
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
	fmt.Fprintf(&s, `profile-%d { printf("m %%x %%x\n", cpu, timestamp); } END { printa("n %%@d\n", @n); }`,
		marksPerSecond)
	return &dtrace.Script{Clauses: s.String(), Options: []string{"strsize=" + strconv.Itoa(longestDTraceText+1)}}
}

// hasText reports whether a parameter of the probe is a text that can be read. Such a parameter takes two of the
// probe's arguments. p.Args[at] is the first one.
func (p *Probe) hasText(kind usdt.ParameterKind, at int) bool {
	return kind.Width() == 2 && p.Args[at].isRead() && p.Args[at+1].isRead()
}

// callerClause returns D code that goes through the library's frames, as the BPF program does
// (findCaller). D has no loops, so the code has each step separately. Once the last frame of the
// library is reached, the remaining steps change nothing.
func callerClause(lib library) string {
	var s strings.Builder
	word := func(at string) string { return "*(uint64_t *)copyin(" + at + ", 8)" }
	address := func(at string) string {
		if lib.signature == 0 {
			return word(at)
		}
		return fmt.Sprintf("(%s & 0x%x)", word(at), ^lib.signature)
	}
	fmt.Fprintf(&s, "this->frame = uregs[%d]; ", framePointer/8)
	for range mostFrames {
		fmt.Fprintf(&s, "this->back = %s; this->frame = this->back - 0x%x < 0x%x ? %s : this->frame; ",
			address("this->frame + 8"), lib.lo, lib.hi-lib.lo, word("this->frame"))
	}
	fmt.Fprintf(&s, "this->next = %s; this->above = this->next - this->frame < %d ? %s : 0; this->words = (uint64_t *)copyin(this->frame + 16, %d); ",
		word("this->frame"), deepest, address("this->next + 8"), 8*words)
	return s.String()
}
