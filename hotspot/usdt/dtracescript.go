package usdt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

const (
	// longestDTraceText is how many bytes of a text DTrace copies: it keeps room for so many in each record.
	longestDTraceText = 255
	// marksPerSecond is how often DTrace prints on each processor how far that has come.
	marksPerSecond = 5
	// dtraceArguments is how many arguments of a probe DTrace knows: arg0 to arg9.
	dtraceArguments = 10
)

// byName makes one probe of all places with the same name, as DTrace knows them, whose arguments DTrace itself finds. What is in no
// form that a note may have stays unknown. A name that is none of DTrace's is left out: it would become part of the program.
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

// dtraceScript is what DTrace is asked for: a line for each probe that is reached, in which all numbers are hexadecimal, and a line on
// each processor some times a second. These are read by a dtraceReader, and keep a DTrace from going on whose reader is gone.
//
//	e 2 1 1a4f8d3c2b10 61b2 7fae0c8d3a42 4 "main"
//	m 1 1a4f8d3c2b99
//	n 20001
//
// The last one is how many probes were reached in all, which DTrace counts without printing: it does not tell of all that it loses.
// An event has the number of the probe, the processor, the time, the thread, and the arguments; behind the length of a text is the
// text, as %S has it. An allocation has more: where the library returns to, and what is on the stack there.
func dtraceScript(pid int, places []place, layouts []layout, lib library) *collect.Script {
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
	return &collect.Script{Clauses: s.String(), Options: []string{"strsize=" + strconv.Itoa(longestDTraceText+1)}}
}

// hasText tells whether a parameter is a text that can be read.
func (p *Probe) hasText(kind usdt.ParameterKind, at int) bool {
	return kind.Width() == 2 && p.Args[at].isRead() && p.Args[at+1].isRead()
}

// callerClause goes through the library's frames in D, which has no loops, as the program in the kernel does: once it has come to
// the last one, it stays there.
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
