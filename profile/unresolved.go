package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// whyUnresolved says why gasm does not know what is at the addresses of the unresolved samples of a counter.
func (w *work) whyUnresolved(counter int) string {
	if !w.b.copied {
		return "that neither HotSpot's logs nor the sampler know (is a log missing or cut?)"
	}
	const of = "of code that gasm did not get to read: "
	samples, all := w.unresolvedByJVM(counter)
	pids := slices.SortedFunc(maps.Keys(samples), func(a, b int) int {
		return cmp.Or(cmp.Compare(samples[b], samples[a]), cmp.Compare(a, b))
	})
	var unread []int // JVMs from which gasm has read nothing
	var inUnread int64
	for _, pid := range pids {
		if j := w.b.jvms.Of(pid); j == nil || len(j.Log.Blobs) == 0 {
			unread = append(unread, pid)
			inUnread += samples[pid]
		}
	}
	switch {
	case 2*inUnread > all && len(unread) == 1:
		return of + fmt.Sprintf("the JVM with pid %d ended before that", unread[0])
	case 2*inUnread > all:
		return of + fmt.Sprintf("%d JVMs ended before that (%s)", len(unread), pidList(unread))
	case len(w.trial.PIDs) > 1:
		return of + fmt.Sprintf("the JVM ended, or the code was gone, before that (%s)", pidList(pids))
	}
	return of + "the JVM ended, or the code was gone, before that"
}

// unresolvedByJVM returns the unresolved samples of a counter by process id, and their sum.
func (w *work) unresolvedByJVM(counter int) (samples map[int]int64, all int64) {
	samples = map[int]int64{}
	for key, c := range w.trial.unresolved {
		if counter < len(c) && c[counter] > 0 {
			samples[key.pid] += c[counter]
			all += c[counter]
		}
	}
	return samples, all
}

// pidList returns the first of some process ids as text, and the number of the others: "pid 7, 8, 9 and 2 more".
func pidList(pids []int) string {
	var texts []string
	for _, pid := range pids {
		texts = append(texts, strconv.Itoa(pid))
	}
	return "pid " + layout.And(texts, 3)
}
