package warmup

import (
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/event"
)

// Events are the events of a capture that are about the JIT compilers.
type Events struct {
	byPID   map[int][]*event.Event
	trialOf func(*event.Event) (trial int, in bool)
	runs    map[string]*Run // one Run for each set of pids; nil for a run without compilations and deoptimizations
}

// Collect returns those of the given events that are about the JIT compilers. The function trialOf returns the number
// of the trial in whose window an event began, from 0, and whether there is such a trial.
func Collect(all []event.Event, trialOf func(*event.Event) (trial int, in bool)) *Events {
	events := &Events{byPID: map[int][]*event.Event{}, trialOf: trialOf, runs: map[string]*Run{}}
	for i := range all {
		switch e := &all[i]; e.Kind {
		case event.Compilation, event.Discard, event.Deopt:
			events.byPID[e.PID] = append(events.byPID[e.PID], e)
		}
	}
	return events
}

// Of returns what the JIT compilers of the JVMs with the given pids did. It returns nil if there are neither
// compilations nor deoptimizations. Calls with the same pids return the same Run, because a JVM may have many trials.
func (all *Events) Of(pids []int) *Run {
	key := fmt.Sprint(pids)
	r, ok := all.runs[key]
	if !ok {
		r = all.run(pids)
		all.runs[key] = r
	}
	return r
}

func (all *Events) run(pids []int) *Run {
	c := collector{found: map[codeKey]int{}, deopts: map[place]*Deopt{}}
	for _, pid := range pids {
		for _, e := range all.byPID[pid] {
			in := 0
			if trial, ok := all.trialOf(e); ok {
				in = trial + 1
			}
			c.add(e, in)
		}
	}
	if len(c.compilations) == 0 && len(c.deoptimizations) == 0 {
		return nil
	}
	r := &Run{ends: c.joinedEnds(), trials: c.trials(), times: c.times()}
	j := &r.whole
	j.Deoptimizations = len(c.deoptimizations)
	j.Levels = levels(c.compilations)
	j.Longest = longest(c.compilations)
	j.Methods, j.AllMethods = methods(c.compilations)
	j.Again, j.AllAgain, j.MethodsAgain = repetitions(c.compilations)
	j.Deopts, j.AllDeopts = c.places()
	return r
}

// A Run is what the JIT compilers of some JVMs did in their whole run.
type Run struct {
	whole  JIT // the JIT without marks for what was within windows
	ends   map[codeKey]*End
	times  map[codeKey]compileTime
	trials map[int]*trialCounts // by the number of the trial, from 1
}

// trialCounts counts the compilations and deoptimizations within the windows of a trial.
type trialCounts struct {
	compilations    map[int]int // by level
	deoptimizations map[place]int
}

// Trial returns what the compilers did in the whole run. Everything that began within the trial's windows is marked.
// The results for several trials share what they have in common, and must not be changed.
func (r *Run) Trial(trial int) *JIT {
	if r == nil {
		return nil
	}
	j := r.whole
	in := trial + 1
	counts := r.trials[in]
	if counts == nil {
		return &j
	}
	j.Levels = slices.Clone(j.Levels)
	for i := range j.Levels {
		j.Levels[i].Inside = counts.compilations[j.Levels[i].Level]
	}
	j.Longest = marked(j.Longest, in)
	j.Again = markedVersions(j.Again, in)
	if len(counts.deoptimizations) > 0 {
		j.Deopts = slices.Clone(j.Deopts)
		for i := range j.Deopts {
			j.Deopts[i].Inside = counts.deoptimizations[j.Deopts[i].place()]
		}
	}
	for _, n := range counts.deoptimizations {
		j.DeoptimizationsInside += n
	}
	return &j
}

// marked returns the compilations, and marks those that began in a window of the given trial. If there are none, it
// returns the argument list itself, so that thousands of trials do not need thousands of lists.
func marked(list []Compilation, in int) []Compilation {
	if !began(list, in) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Inside = list[i].in == in
	}
	return list
}

// markedVersions is like marked, but for the versions in repetitions.
func markedVersions(list []Repetition, in int) []Repetition {
	if !slices.ContainsFunc(list, func(r Repetition) bool { return began(r.Versions, in) }) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Versions = marked(list[i].Versions, in)
	}
	return list
}

// began reports whether any of the compilations began in a window of the trial that has the number in.
func began(list []Compilation, in int) bool {
	return slices.ContainsFunc(list, func(c Compilation) bool { return c.in == in })
}

// EndOf returns when and why HotSpot stopped using the code of a compilation; nil if nothing is known about that.
func (r *Run) EndOf(pid, id int, osr bool) *End {
	if r == nil {
		return nil
	}
	return r.ends[codeKey{pid, id, osr}]
}

// A compileTime says when a compilation began and how long it took. nanos is 0 if that is unknown.
type compileTime struct{ monoNanos, nanos int64 }

// times returns when the compilations that have an id ran.
func (c *collector) times() map[codeKey]compileTime {
	times := map[codeKey]compileTime{}
	for key, i := range c.found {
		times[key] = compileTime{c.compilations[i].MonoNanos, c.compilations[i].Nanos}
	}
	return times
}

// TimeOf returns when a compilation began, and when it ended. The end is 0 if it is unknown. ok is false if the events
// do not have the compilation.
func (r *Run) TimeOf(pid, id int, osr bool) (beginMonoNanos, endMonoNanos int64, ok bool) {
	if r == nil {
		return 0, 0, false
	}
	t, ok := r.times[codeKey{pid, id, osr}]
	if ok && t.nanos > 0 {
		endMonoNanos = t.monoNanos + t.nanos
	}
	return t.monoNanos, endMonoNanos, ok
}

// A codeKey identifies a compilation of a JVM. JDK 8 numbers on-stack replacements separately.
type codeKey struct {
	pid, id int
	osr     bool
}

// A collector collects the events that are about the JIT compilers.
type collector struct {
	compilations    []Compilation
	found           map[codeKey]int // in compilations
	discards        []*event.Event
	deoptimizations []deoptimization
	deopts          map[place]*Deopt
}

// A deoptimization is an event with the trial in whose windows it began.
type deoptimization struct {
	*event.Event
	in int // as in a Compilation
}

func (c *collector) add(e *event.Event, in int) {
	switch e.Kind {
	case event.Compilation:
		n := compilationOf(e)
		n.in = in
		if n.ID > 0 {
			c.found[codeKey{n.PID, n.ID, n.OSR}] = len(c.compilations)
		}
		c.compilations = append(c.compilations, n)
	case event.Discard:
		c.discards = append(c.discards, e)
	case event.Deopt:
		c.deoptimizations = append(c.deoptimizations, deoptimization{e, in})
	}
}

// trials counts the compilations and deoptimizations within the windows of each trial.
func (c *collector) trials() map[int]*trialCounts {
	all := map[int]*trialCounts{}
	of := func(in int) *trialCounts {
		if all[in] == nil {
			all[in] = &trialCounts{map[int]int{}, map[place]int{}}
		}
		return all[in]
	}
	for i := range c.compilations {
		if n := &c.compilations[i]; n.in > 0 {
			of(n.in).compilations[n.Level]++
		}
	}
	for _, d := range c.deoptimizations {
		if d.in > 0 {
			of(d.in).deoptimizations[placeOf(d.Event)]++
		}
	}
	return all
}

// joinedEnds returns when and why HotSpot stopped using the code of compilations. It also sets the field End of these
// compilations. A deoptimization counts as the cause if it was in the same code at about the same time.
func (c *collector) joinedEnds() map[codeKey]*End {
	ends := map[codeKey]*End{}
	const together = 20e6 // ns; the log's line follows the trap within some ms even on a busy machine
	traps := map[codeKey][]*event.Event{}
	for _, d := range c.deoptimizations {
		key := codeKey{pid: d.PID, id: number(d.Event, "compileId")}
		traps[key] = append(traps[key], d.Event)
	}
	for _, e := range c.discards {
		key := codeKey{e.PID, number(e, "id"), e.Arg("osr") == "true"}
		if ends[key] != nil || key.id == 0 || e.Arg("reason") == moved {
			continue
		}
		end := &End{MonoNanos: e.MonoNanos, Reason: e.Arg("reason")}
		for _, trap := range traps[codeKey{pid: e.PID, id: key.id}] {
			if away := e.MonoNanos - trap.MonoNanos; -together <= away && away <= together && discards(trap.Arg("action")) {
				end.Trap, end.Action = trap.Arg("reason"), trap.Arg("action")
			}
		}
		ends[key] = end
		if i, ok := c.found[key]; ok {
			c.compilations[i].End = end
		}
	}
	return ends
}

// moved is the reason in HotSpot's log after HotSpot has copied code to another address, and uses it there.
const moved = "relocated"

// discards reports whether an action of HotSpot after a trap may end the use of the code. After the other actions, the
// code stays in use.
func discards(action string) bool { return action != "none" }
