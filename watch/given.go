package watch

import (
	"context"
	"fmt"
	"strconv"

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

// CheckRunning returns an error if one of the words is a number, but not the id of a running process. Whether the
// process is a JVM does not matter, because it may have only just started.
func CheckRunning(words []string) error {
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		if err != nil {
			continue
		}
		if ticks := processend.StartTicks(pid); ticks == 0 || processend.HasEnded(pid, ticks) {
			if _, err := attach.Look(context.Background(), pid); err != nil {
				return err
			}
		}
	}
	return nil
}
