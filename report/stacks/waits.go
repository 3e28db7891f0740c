package stacks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/wall"
)

// hasWaits reports whether the capture says how threads spent wall-clock time.
func hasWaits(ps *profile.Profiles) bool {
	return slices.ContainsFunc(ps.Trials, func(p profile.Profile) bool { return p.Waits != nil })
}

// errNoWaits is the error for a capture that does not say how threads spent wall-clock time.
var errNoWaits = errors.New("the capture does not have what threads did by the wall clock: gasm profile --wall and gasm attach --wall record it")

// maxWaitFrames is the maximum number of frames that are written for the stacks of all waiting threads together. In a
// damaged file, each of a million places may have thousands of frames. Further stacks are written without their frames.
const maxWaitFrames = 1 << 24

// cutOff replaces frames that are left out.
var cutOff = calltree.Code{Kind: callstack.Cut}

// A waitRoom is the number of frames that may still be written.
type waitRoom int

// take reports whether a stack may be written with its frames. If so, it subtracts the number of frames from the room.
func (r *waitRoom) take(stacks *calltree.Stacks, id callstack.ID) bool {
	for range stacks.Callers(id) {
		if *r--; *r < 0 {
			return false
		}
	}
	return true
}

// addWaits adds the wall-clock time of threads to collapsed stacks; see WriteCollapsedWaits.
func addWaits(stacks map[string]int64, room *waitRoom, root string, w *waits.Table, idle bool) {
	for i := range w.Sums {
		s := &w.Sums[i]
		if s.Idle && !idle {
			continue
		}
		var frames []string
		frames = append(frames, collapsedFrame("["+s.State.String()+"]"))
		switch {
		case s.Stack == 0:
		case !room.take(w.Stacks, s.Stack):
			frames = append(frames, collapsedFrame(cutOff.Label()))
		default:
			for c := range w.Stacks.Callers(s.Stack) {
				frames = append(frames, collapsedFrame(c.Label()))
			}
		}
		for _, name := range []string{s.Pool, root} {
			if name != "" {
				frames = append(frames, collapsedFrame(name))
			}
		}
		slices.Reverse(frames)
		stacks[strings.Join(frames, ";")] += s.Nanos
	}
}

// A pprofWaits adds the sample type wall to a profile in pprof's format. It does nothing if b is nil.
type pprofWaits struct {
	b       *pprofBuilder
	callers stackLocations
	states  [wall.Unseen + 1]*pprof.Location // frames for threads whose stack is not known, by state
	idle    waits.Idle                       // of all profiles
	room    waitRoom
	samples map[waitKey]*pprof.Sample
}

// A waitKey identifies a sample of the type wall.
type waitKey struct {
	trial, pool string
	pid         int
	state       wall.State
	stack       callstack.ID
}

// mapWaits adds the sample type wall if any profile has waits. It also extends the mappings of code caches so that they
// contain the stacks of waiting threads.
func (b *pprofBuilder) mapWaits() *pprofWaits {
	w := &pprofWaits{samples: map[waitKey]*pprof.Sample{}, room: maxWaitFrames}
	if !hasWaits(b.all) {
		return w
	}
	w.b = b
	b.out.SampleType = append(b.out.SampleType, &pprof.ValueType{Type: "wall", Unit: "nanoseconds"})
	for i := range b.all.Trials {
		t := b.all.Trials[i].Waits
		if t == nil {
			continue
		}
		if w.callers.stacks == nil {
			w.callers = stackLocations{b, t.Stacks, map[callerKey]caller{}}
		}
		for k := range t.Sums {
			w.callers.mapCallers(t.Sums[k].PID, t.Sums[k].Stack)
		}
	}
	if b.out.DefaultSampleType == "" {
		b.out.PeriodType, b.out.Period, b.out.DefaultSampleType = b.out.SampleType[0], 1, "wall"
	}
	return w
}

// add adds the wall-clock times of a profile as samples. A sample has a value for each sample type, but only the last
// one, which is that of wall, is not 0.
func (w *pprofWaits) add(p *profile.Profile, idle bool) {
	if w.b == nil || p.Waits == nil {
		return
	}
	w.idle.Threads += p.Waits.Idle.Threads
	w.idle.Nanos += p.Waits.Idle.Nanos
	for i := range p.Waits.Sums {
		s := &p.Waits.Sums[i]
		if s.Idle && !idle {
			continue
		}
		key := waitKey{p.Trial, s.Pool, s.PID, s.State, s.Stack}
		sample := w.samples[key]
		if sample == nil {
			sample = &pprof.Sample{Location: w.locations(s), Value: make([]int64, len(w.b.out.SampleType))}
			sample.Label, sample.NumLabel =
				map[string][]string{"state": {s.State.String()}}, map[string][]int64{"pid": {int64(s.PID)}}
			for name, text := range map[string]string{"thread": s.Pool, "trial": p.Trial, "jvm": w.b.programs[s.PID]} {
				if text != "" {
					sample.Label[name] = []string{text}
				}
			}
			w.samples[key] = sample
			w.b.out.Sample = append(w.b.out.Sample, sample)
		}
		sample.Value[len(sample.Value)-1] += s.Nanos
	}
}

// locations returns the stack of a sample, the innermost frame first. If the stack is not known, or can't be written
// with its frames, it has a single frame for the state.
func (w *pprofWaits) locations(s *waits.Sum) []*pprof.Location {
	if s.Stack != 0 && w.room.take(w.callers.stacks, s.Stack) {
		return w.callers.append(nil, s.PID, s.Stack)
	}
	l := &w.states[s.State]
	if *l == nil {
		*l = w.b.locationOf(w.b.mapping(mappingKey{0, marks}), 0,
			[]pprof.Line{{Function: w.b.function("["+s.State.String()+"]", "")}})
	}
	return []*pprof.Location{*l}
}

// comments returns a comment that says how many idle threads are left out.
func (w *pprofWaits) comments(idle bool) []string {
	if w.idle.Threads == 0 || idle {
		return nil
	}
	return []string{fmt.Sprintf("wall: without %s (%.2f s); --idle-threads has them",
		layout.Plural(w.idle.Threads, "idle thread"), float64(w.idle.Nanos)/1e9)}
}
