package record

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/usdt"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// A usdtNote is on one or more JVMs, whose names are between two texts.
type usdtNote struct {
	pids          []string
	before, after string
}

func (n *usdtNote) String() string { return n.before + strings.Join(n.pids, ", ") + n.after }

// addUSDTNote adds a note on a JVM. JVMs of which the same is to be said have one.
func addUSDTNote(notes []usdtNote, pid int, before, after string) []usdtNote {
	i := slices.IndexFunc(notes, func(n usdtNote) bool { return n.before == before && n.after == after })
	if i < 0 {
		i = len(notes)
		notes = append(notes, usdtNote{before: before, after: after})
	}
	if n := &notes[i]; len(n.pids) < maxWithout {
		n.pids = append(n.pids, fmt.Sprintf("JVM %d", pid))
	} else if len(n.pids) == maxWithout {
		n.pids = append(n.pids, "others")
	}
	return notes
}

// noteSilent notes of which events a JVM tells nothing, because it was started without these options.
func (l *liveUSDT) noteSilent(pid int, options []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range options {
		l.silent = addUSDTNote(l.silent, pid, fmt.Sprintf("USDT tells of no %s in ", usdt.Told(o)), ": start it with "+o)
	}
}

// heapField has the JVM's heap, once its options were read.
const heapField = "Universe::_collectedHeap"

// optionsWithout gives the options of the form -XX:+Name that a JVM runs without. It is none where its flags can't be read, or it
// only starts.
func optionsWithout(pid int, options []string) (without []string) {
	if len(options) == 0 {
		return nil
	}
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = strings.TrimPrefix(o, "-XX:+")
	}
	flags, err := vmstructs.Ask(context.Background(), vmstructs.FlagsTime, pid, func(vm *vmstructs.VM) (map[string]vmstructs.Flag, error) {
		at, ok := vm.Static(heapField)
		if heap, err := vm.Memory.Uint64(at); !ok || err != nil || heap == 0 {
			return nil, err
		}
		return vm.Flags(names...)
	})
	if err != nil {
		return nil
	}
	for i, name := range names {
		if f, ok := flags[name]; ok && f.Value == 0 {
			without = append(without, options[i])
		}
	}
	return without
}

// lateProbes are JVMs whose probes were set some time after their start, and the one of them that had none for longest.
type lateProbes struct {
	jvms, pid int
	late      time.Duration
}

// add adds a JVM whose probes were set at one time, and could have been reached since another.
func (l *lateProbes) add(pid int, setMono, sinceMono int64) {
	late := time.Duration(setMono - sinceMono)
	if setMono == 0 || late <= tellLate {
		return
	}
	l.jvms++
	if late > l.late {
		l.pid, l.late = pid, late
	}
}

func (l *lateProbes) note() string {
	if l.jvms == 0 {
		return ""
	}
	note := fmt.Sprintf("the USDT probes of JVM %d were set %.2f s after its start: what happened before is not in the events", l.pid, l.late.Seconds())
	if l.jvms > 1 {
		note += fmt.Sprintf(" (%s had theirs late, too)", layout.Plural(l.jvms-1, "more JVM"))
	}
	return note
}
