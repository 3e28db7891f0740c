package jvmevents

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

// A usdtNote is a note about one or more JVMs. The fields before and after are the parts of its text around the names
// of the JVMs.
type usdtNote struct {
	pids          []string
	before, after string
}

func (n *usdtNote) String() string { return n.before + strings.Join(n.pids, ", ") + n.after }

// maxNamed is the maximum number of JVMs that a note lists. Beyond that, it says "others".
const maxNamed = 4

// addUSDTNote adds a note about a JVM. If there is already a note that differs only in its JVMs, it adds the JVM to
// that note instead.
func addUSDTNote(notes []usdtNote, pid int, before, after string) []usdtNote {
	i := slices.IndexFunc(notes, func(n usdtNote) bool { return n.before == before && n.after == after })
	if i < 0 {
		i = len(notes)
		notes = append(notes, usdtNote{before: before, after: after})
	}
	if n := &notes[i]; len(n.pids) < maxNamed {
		n.pids = append(n.pids, fmt.Sprintf("JVM %d", pid))
	} else if len(n.pids) == maxNamed {
		n.pids = append(n.pids, "others")
	}
	return notes
}

// noteSilent adds a note for each option that a JVM should have been started with, but was not. The note says which
// events the JVM does not report without the option.
func (u *usdtRecorders) noteSilent(pid int, options []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, o := range options {
		u.silent = addUSDTNote(u.silent, pid, fmt.Sprintf("USDT reports no %s in ", usdt.Told(o)), ": start it with "+o)
	}
}

// heapField is a static field of HotSpot that points to the JVM's heap. It is 0 until the JVM has read its options.
// Until then, the flags in the JVM's memory do not have their final values.
const heapField = "Universe::_collectedHeap"

// optionsWithout returns the given options that are switched off in a JVM. An option has the form -XX:+Name. It returns
// nil if the JVM's flags can't be read, or if the JVM is still starting.
func optionsWithout(ctx context.Context, pid int, options []string) (without []string) {
	if len(options) == 0 {
		return nil
	}
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = strings.TrimPrefix(o, "-XX:+")
	}
	flags, err := vmstructs.Ask(ctx, vmstructs.FlagsTime, pid, func(vm *vmstructs.VM) (map[string]vmstructs.Flag, error) {
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

// lateProbes counts the JVMs whose probes were set too long after the JVM's start. Of these, it keeps the id and the
// delay of the JVM with the longest delay.
type lateProbes struct {
	jvms, pid int
	late      time.Duration
}

// add adds a JVM. sinceMono is the time from which the JVM's events are wanted, and setMono is the time at which its
// probes were set. The result is the delay between these times, or 0 if the delay is too short to matter. If setMono is
// 0, the probes were not set, and the result is 0.
func (l *lateProbes) add(pid int, setMono, sinceMono int64) time.Duration {
	late := time.Duration(setMono - sinceMono)
	if setMono == 0 || late <= noteworthy {
		return 0
	}
	l.jvms++
	if late > l.late {
		l.pid, l.late = pid, late
	}
	return late
}

func (l *lateProbes) note() string {
	if l.jvms == 0 {
		return ""
	}
	note :=
		fmt.Sprintf("the USDT probes of JVM %d were set %.2f s after its start: what happened before is not in the events",
			l.pid, l.late.Seconds())
	if l.jvms > 1 {
		note += fmt.Sprintf(" (%s had theirs late, too)", layout.Plural(l.jvms-1, "more JVM"))
	}
	return note
}
