package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
)

// Chooses tells whether the samples of a JVM count. JVM is matched with its main class or
// jar, and with its whole process id.
func (o *Options) Chooses(j *capture.JVM) bool {
	if o.PID != 0 && j.PID != o.PID {
		return false
	}
	if o.JVM == nil || o.JVM.MatchString(j.Main) {
		return true
	}
	pid := strconv.Itoa(j.PID)
	return o.JVM.FindString(pid) == pid
}

// narrows tells whether the options leave out JVMs.
func (o *Options) narrows() bool { return o.PID != 0 || o.JVM != nil }

// Chosen says as flags which samples of the measurement the options let count; "" for all
// of them.
func (o *Options) Chosen() string {
	var flags []string
	if o.PID != 0 {
		flags = append(flags, fmt.Sprintf("--pid %d", o.PID))
	}
	if o.JVM != nil {
		flags = append(flags, "--jvm "+o.JVM.String())
	}
	if o.Threads.text != "" {
		flags = append(flags, "--thread "+o.Threads.text)
	}
	if o.WindowEvent != (WindowEvent{}) {
		flags = append(flags, "--window-event "+o.WindowEvent.String())
	}
	if o.WindowMethod != "" {
		flags = append(flags, "--window-method "+o.WindowMethod)
	}
	return strings.Join(flags, " ")
}

// choose gives the JVMs that are chosen, and what is measured in them.
func choose(c *capture.Capture, o *Options) (jvms []capture.JVM, measured []measurement, err error) {
	jvms, measured = c.JVMs, measurements(c.JVMs, c.Trials)
	if o.narrows() {
		jvms = slices.DeleteFunc(slices.Clone(jvms), func(j capture.JVM) bool { return !o.Chooses(&j) })
		if len(jvms) == 0 {
			return nil, nil, noSuchJVM(c.JVMs, o)
		}
		measured = narrow(measured, jvms)
	}
	switch whole := &measured[0]; { // there is at least one
	case len(measured) > 1 || whole.Name != "":
	case o.MergeJVMs:
		whole.nameProgram(whole.byProgram(c.JVMs))
	default:
		measured = whole.byProgram(c.JVMs)
	}
	return jvms, measured, nil
}

// narrow narrows measurements to some JVMs. JVMs that nothing was measured in, as JMH's own
// process, are measured all the time when there is nothing else.
func narrow(measured []measurement, jvms []capture.JVM) []measurement {
	chosen := map[int]bool{}
	for _, j := range jvms {
		chosen[j.PID] = true
	}
	var narrowed []measurement
	for i := range measured {
		m := &measured[i]
		pids := slices.DeleteFunc(slices.Clone(m.pids), func(pid int) bool { return !chosen[pid] })
		if len(pids) > 0 {
			narrowed = append(narrowed, m.of(pids))
		}
	}
	if len(narrowed) == 0 {
		return measurements(jvms, nil)
	}
	return narrowed
}

// maxNamed is how many JVMs or threads an error names.
const maxNamed = 10

// noSuchJVM is the error of a choice that no JVM is of.
func noSuchJVM(jvms []capture.JVM, o *Options) error {
	var names []string
	for i, j := range jvms {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("%d more", len(jvms)-i))
			break
		}
		name := strconv.Itoa(j.PID)
		if j.Main != "" {
			name += " " + j.Main
		}
		names = append(names, name)
	}
	chosen := *o
	chosen.Threads, chosen.WindowEvent, chosen.WindowMethod = Threads{}, WindowEvent{}, ""
	return fmt.Errorf("%s: no such JVM in this capture; it has %s", chosen.Chosen(), strings.Join(names, ", "))
}

// Threads chooses threads, by their kind or by their name. The zero value is all threads.
type Threads struct {
	text string // as the user wrote it
	kind string
	name *regexp.Regexp
}

// threadWords are the words for kinds of threads.
var threadWords = map[string]string{"app": ApplicationThreads, "jit": CompilerThreads, "gc": CollectorThreads, "jvm": OtherJVMThreads}

// ParseThreads reads a choice of threads: app, jit, gc or jvm for a kind of threads, or a
// regular expression for the thread's name as the kernel has it.
func ParseThreads(text string) (Threads, error) {
	t := Threads{text: text, kind: threadWords[text]}
	if t.kind == "" && text != "" {
		var err error
		if t.name, err = regexp.Compile(text); err != nil {
			return Threads{}, fmt.Errorf("%w; it is app, jit, gc, jvm, or a regular expression", err)
		}
	}
	return t, nil
}

// chooses tells whether the samples of a thread count. A thread without a name is only
// among all threads.
func (t *Threads) chooses(name, kind string) bool {
	switch {
	case t.text == "":
		return true
	case name == "":
		return false
	case t.name != nil:
		return t.name.MatchString(name)
	}
	return t.kind == kind
}

// threadsThere says which threads samples in the windows are of.
func (t *seenThreads) threadsThere() string {
	names := slices.DeleteFunc(slices.Clone(t.labels), func(label string) bool { return label == "" })
	if len(names) == 0 {
		return "the sampler gave no names of threads"
	}
	slices.Sort(names)
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return "there are " + strings.Join(names, ", ")
}
