package watch

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A given is a process that the user has named by its id. gasm ends when all given processes have ended.
type given struct {
	pid   int
	ticks uint64 // start time; 0 if the process has ended
}

func givenOf(pids []int) (all []given) {
	for _, pid := range pids {
		all = append(all, given{pid, processend.StartTicks(pid)})
	}
	return all
}

// over returns a message for the user if there are given processes and all of them have ended. Otherwise it returns "".
func (w *Watcher) over() string {
	for _, g := range w.given {
		if g.ticks != 0 && !processend.HasEnded(g.pid, g.ticks) {
			return ""
		}
	}
	switch len(w.given) {
	case 0:
		return ""
	case 1:
		return "process " + strconv.Itoa(w.given[0].pid) + " has ended"
	}
	return fmt.Sprintf("all %d processes have ended", len(w.given))
}

// searched is called after each search for JVMs. It tells the user which of the options' words fit no JVM.
func (w *Watcher) searched() {
	w.searches++
	w.jvmsNoted = time.Time{}
	pids, names := split(w.o.Words)
	switch w.searches {
	case 1:
		if len(pids) > 0 && len(names) == 0 || w.anyNamed() {
			return
		}
		if len(names) == 0 {
			w.o.Say("no JVM runs: gasm waits for the first one")
			return
		}
		w.o.Say(fmt.Sprintf("no JVM that runs has %s in the name of its main class or jar: gasm waits for one",
			strings.Join(names, " or ")))
	case 2: // a JVM that had only just started when its process id was given has been found by now
		for _, pid := range pids {
			if w.jvms[pid] == nil {
				go sayNoJVM(w.sending, pid, w.o.Say)
			}
		}
	}
}

// split returns the process ids and the names among words.
func split(words []string) (pids []int, names []string) {
	for _, word := range words {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		} else {
			names = append(names, word)
		}
	}
	return pids, names
}

// anyNamed reports whether the options' words name a JVM that was found.
func (w *Watcher) anyNamed() bool {
	for _, j := range w.jvms {
		if named(&j.Process, w.o.Words) {
			return true
		}
	}
	return false
}

// sayNoJVM tells the user why a process that was given by its id is not profiled, unless it has ended.
func sayNoJVM(ctx context.Context, pid int, say func(text string)) {
	_, err := attach.Look(ctx, pid)
	if err != nil && ctx.Err() == nil && processend.StartTicks(pid) != 0 {
		say(err.Error() + ", and so it is not profiled")
	}
}

// CheckRunning returns an error if one of the words is a number, but not the id of a running process. Whether the
// process is a JVM does not matter, because it may have only just started.
func CheckRunning(words []string) error {
	pids, _ := split(words)
	for _, pid := range pids {
		if ticks := processend.StartTicks(pid); ticks == 0 || processend.HasEnded(pid, ticks) {
			if _, err := attach.Look(context.Background(), pid); err != nil {
				return err
			}
		}
	}
	return nil
}
