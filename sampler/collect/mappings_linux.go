package collect

import (
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A MappingWatch reports which files the processes of a command map as code. It is used when another program, such as
// perf, takes the samples. When gasm takes them itself, it sees the mappings anyway.
type MappingWatch struct {
	set      *perfevent.Set
	stopping atomic.Bool
	often    shortPauses
	done     chan struct{}
}

// mappingPause is the shortest pause between two looks for new mappings. While there are no new mappings, the pauses
// get up to eight times as long.
const mappingPause = 20 * time.Millisecond

// WatchMappings begins to watch a process that has not called exec yet, and all processes that descend from it. It
// calls the function mapped from a goroutine of its own.
func WatchMappings(pid int, mapped func(native.Mapping)) (*MappingWatch, error) {
	set, err := perfevent.Open(pid, perfevent.Options{Events: []perfevent.Event{perfevent.Dummy}, Frequency: 1})
	if err != nil {
		return nil, err
	}
	w := &MappingWatch{set: set, done: make(chan struct{})}
	go w.run(mapped)
	return w, nil
}

func (w *MappingWatch) run(mapped func(native.Mapping)) {
	defer close(w.done)
	take := func(r *perfevent.Record) {
		if r.Kind == perfevent.Mapping {
			mapped(mappingOf(r))
		}
	}
	pause := mappingPause
	for !w.stopping.Load() {
		w.set.Wait(pause)
		if pause *= 2; w.set.Drain(false, take) > 0 {
			pause = mappingPause
		}
		pause = w.often.limit(min(pause, 8*mappingPause))
	}
}

// LookOften makes the watch look for new mappings every 10 ms for the duration d, as [Native.LookOften] does.
func (w *MappingWatch) LookOften(d time.Duration) {
	w.often.extend(d)
	w.set.Interrupt() // ends a long pause
}

// Stop ends the watch. No mapping is reported after that.
func (w *MappingWatch) Stop() {
	w.stopping.Store(true)
	w.set.Interrupt()
	<-w.done
	w.set.Close()
}

// mappingOf returns the mapping that a record reports.
func mappingOf(r *perfevent.Record) native.Mapping {
	return native.Mapping{PID: int(r.PID), Lo: r.Map.Lo, Hi: r.Map.Hi, FileOffset: r.Map.FileOffset,
		Path: r.Map.Path, DevMajor: r.Map.Major, DevMinor: r.Map.Minor, Inode: r.Map.Inode}
}
