package watch

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/record/processend"
	"github.com/gasm-profiler/gasm/watch/labels"
)

// A jvm is a JVM that is watched, or that can't be watched.
type jvm struct {
	attach.Process
	// start time of the process; distinguishes it from a later process with the same id
	ticks    uint64
	labels   atomic.Pointer[[]push.Label] // nil until they are known
	labelled bool                         // the labels are being collected, or are known
	seen     time.Time                    // when it was listed or had samples last
	reported bool                         // the user was told that it can't be profiled
	state    State
}

// wanted reports whether a JVM is to be watched. For a new one, it collects the labels in the background, because the
// JVM may be slow to answer.
func (w *Watcher) wanted(p *attach.Process) bool {
	ticks := processend.StartTicks(p.PID)
	if ticks == 0 { // it has ended
		return false
	}
	wanted := named(p, w.o.Words) && drawn(hostName, p.PID, ticks, w.budget.share)
	j := w.jvms[p.PID]
	if j == nil || j.ticks != ticks {
		j = &jvm{Process: *p, ticks: ticks}
		w.jvms[p.PID] = j
	}
	j.seen = time.Now()
	if !wanted {
		j.state = StateLeftOut
		w.events.drop(p.PID)
		return false
	}
	if j.state != StateRefused { // a refused JVM stays so until it has samples
		j.state = StateProfiled
	}
	if !j.labelled {
		j.labelled = true
		go func(process attach.Process, set []push.Label) { // w.o may change meanwhile
			all := labels.Of(&process, set)
			j.labels.Store(&all)
		}(*p, w.o.Labels)
	}
	if p.Unreadable == nil {
		w.events.want(j)
	}
	return true
}

// named reports whether one of the words is p's process id, or a part of the name of its main class or jar. It returns
// true if there are no words.
func named(p *attach.Process, words []string) bool {
	return len(words) == 0 || slices.ContainsFunc(words, func(word string) bool {
		if pid, err := strconv.Atoi(word); err == nil {
			return pid == p.PID
		}
		return strings.Contains(p.Main, word)
	})
}

var hostName, _ = os.Hostname()

// drawn reports whether a JVM is in the random share of the JVMs that is watched. The result depends only on the
// arguments, so it is the same after a restart of gasm.
func drawn(host string, pid int, ticks uint64, share float64) bool {
	h := fnv.New64a()
	h.Write([]byte(host))
	h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(pid)), ticks))
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd // mixes the bits as MurmurHash3 does, because FNV's high bits differ too little
	x ^= x >> 33
	return float64(x>>11)/(1<<53) < share
}

// keptTime is how long a JVM is remembered after it was last seen, in addition to one interval.
const keptTime = 2 * time.Minute

// forget removes the JVMs that have not been seen for a while, because they have ended.
func (w *Watcher) forget(now time.Time) {
	for pid, j := range w.jvms {
		if now.Sub(j.seen) > keptTime+w.o.Every {
			delete(w.jvms, pid)
			w.events.drop(pid)
		}
	}
}

// labelsOf returns the labels of a JVM that has samples or events. j may be nil.
func (w *Watcher) labelsOf(pid int, j *jvm) []push.Label {
	if j != nil {
		if all := j.labels.Load(); all != nil {
			return *all
		}
	}
	p := attach.Process{PID: pid}
	if j != nil {
		p = j.Process
	}
	return labels.Basic(&p, w.o.Labels)
}
