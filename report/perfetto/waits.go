package perfetto

import (
	"fmt"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/wall"
)

// waitSequence is the number of the packet sequence with the states of threads.
const waitSequence = firstSamples + capture.MaxEvents

// waitKind is the kind of tracks that show the states of threads, and the category of their slices.
const waitKind event.Kind = "wall clock"

// A waitStack identifies a stack in one of the files of Trace.Waits.
type waitStack struct {
	file  int
	stack callstack.ID
}

// A stateWriter writes how the threads of one JVM spent wall-clock time: a track for each thread, with a slice for each
// spell. Consecutive spells with the same state and place are joined to one slice.
type stateWriter struct {
	*builder
	*sequence[waitStack]
	pid, file int
	tree      *callstack.Tree
	threads   map[int]*stateTrack // by number in the file
	locks     []wall.Lock
	bad       wall.Damage
}

// A stateTrack is the track of a thread.
type stateTrack struct {
	tid   int
	name  string
	track *track
	slice wall.Spell // the current slice, which is not written yet; its length is 0 if there is none
}

// waits writes what the threads of all JVMs did.
func (b *builder) waits() error {
	var s *sequence[waitStack]
	for i := range b.trace.Waits {
		of := &b.trace.Waits[i]
		r, closer, err := of.Open()
		if err != nil {
			b.unread = append(b.unread, fmt.Sprintf("what the threads of JVM %d did could not be read: %v", of.PID, err))
			continue
		}
		if s == nil {
			s = newSequence[waitStack](b.writer, waitSequence, nil)
		}
		w := &stateWriter{builder: b, sequence: s, pid: of.PID, file: i, tree: r.Stacks(), threads: map[int]*stateTrack{}}
		for r.Scan() && b.failed() == nil {
			w.add(r.Record())
		}
		w.end()
		b.unread = append(b.unread, w.bad.Notes(r, of.PID)...)
		_ = closer.Close() // the file was only read
		if err := b.failed(); err != nil {
			return err
		}
	}
	return nil
}

func (w *stateWriter) add(record any) {
	switch r := record.(type) {
	case *wall.Thread:
		if t := w.threads[r.Number]; t != nil {
			t.name = r.Name
		} else {
			w.threads[r.Number] = &stateTrack{tid: r.TID, name: r.Name}
		}
	case *wall.Lock:
		w.locks = append(w.locks, *r)
	case *wall.Ended:
		if t := w.threads[r.Thread]; t != nil {
			w.flush(t)
		}
	case *wall.Spell:
		w.spell(r)
	case *wall.SyntaxError:
		w.bad.Add(r)
	}
}

// spell adds a spell to the slice of its thread, or begins another slice.
func (w *stateWriter) spell(s *wall.Spell) {
	t := w.threads[s.Thread]
	if t == nil {
		return
	}
	last := &t.slice
	if last.ToMonoNanos == s.FromMonoNanos && last.State == s.State && last.Stack == s.Stack && last.Lock == s.Lock &&
		last.Detail == s.Detail && last.Virtual == s.Virtual {
		last.ToMonoNanos = s.ToMonoNanos
		last.Ran, last.Runnable, last.Blocked = last.Ran+s.Ran, last.Runnable+s.Runnable, last.Blocked+s.Blocked
		return
	}
	w.flush(t)
	t.slice = *s
}

// end writes the last slice of each thread.
func (w *stateWriter) end() {
	for i := 1; i <= len(w.threads); i++ {
		if t := w.threads[i]; t != nil {
			w.flush(t)
		}
	}
}

// flush writes the pending slice of a thread.
func (w *stateWriter) flush(t *stateTrack) {
	last := &t.slice
	if last.ToMonoNanos <= last.FromMonoNanos {
		return
	}
	if t.track == nil {
		t.track = w.trackOf(trackKey{w.pid, t.tid, waitKind}, t.name)
	}
	w.prepare()
	body := w.builder.body[:0]
	body.uint(eventType, typeBegin)
	body.uint(eventTrack, t.track.uuid)
	body.uint(eventCategory, w.string(internedCategories, string(waitKind)))
	body.uint(eventName, w.string(internedEventNames, last.State.String()))
	w.builder.body = body
	w.describeSlice(last)
	if last.Stack != 0 {
		w.builder.body.uint(eventCallstack, w.stackOf(last.Stack))
	}
	w.packetAt(last.FromMonoNanos, packetTrackEvent, w.builder.body)
	body = w.builder.body[:0]
	body.uint(eventType, typeEnd)
	body.uint(eventTrack, t.track.uuid)
	w.builder.body = body
	w.packetAt(last.ToMonoNanos, packetTrackEvent, body)
	t.slice = wall.Spell{}
}

// describeSlice appends the arguments of a slice.
func (w *stateWriter) describeSlice(s *wall.Spell) {
	if s.Lock > 0 {
		lock := &w.locks[s.Lock-1]
		class := lock.Class
		if lock.Of != "" {
			class = "class " + lock.Of
		}
		w.textOf("for", fmt.Sprintf("%s@%x", class, lock.Address))
		if owner := w.threads[lock.Owner]; owner != nil {
			w.textOf("held by", owner.name)
		}
	}
	if s.Detail != "" {
		w.textOf("for", s.Detail)
	}
	if s.Virtual > 0 {
		w.number("virtual thread", s.Virtual)
	}
	w.number("ran (ns)", s.Ran)
	w.number("runnable (ns)", s.Runnable)
	w.number("blocked (ns)", s.Blocked)
}

// argument begins an argument of an event. The caller appends its value, and then calls builder.endArg.
func (w *stateWriter) argument(name string) *message {
	m := w.builder.scratch[:0]
	m.uint(argName, w.string(internedArgNames, name))
	w.builder.scratch = m
	return &w.builder.scratch
}

func (w *stateWriter) textOf(name, value string) {
	w.argument(name).text(argText, clean(value))
	w.endArg()
}

func (w *stateWriter) number(name string, value int64) {
	w.argument(name).int(argInt, value)
	w.endArg()
}

// stackOf returns the number of a stack in the trace.
func (w *stateWriter) stackOf(id callstack.ID) uint64 {
	return w.stack(waitStack{w.file, id}, func(ids []uint64) []uint64 {
		for f := range w.tree.Frames(id) {
			if len(ids) == maxEventFrames {
				mark := callstack.At(callstack.Cut, 0)
				return append(ids, frameID(w.builder, w.sequence, &mark, false))
			}
			ids = append(ids, frameID(w.builder, w.sequence, f, false))
		}
		return ids
	})
}
