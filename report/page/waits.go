package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/wall"
)

// A stateKey is an entry of the legend of states. The style sheet has the state's colour in the variable --f-KIND.
type stateKey struct {
	Kind   string // "s-page-fault"
	Name   string
	Number int
}

// stateKeys returns the legend of all states.
func stateKeys() (keys []stateKey) {
	for _, s := range wall.States() {
		keys = append(keys, keyOf(s))
	}
	return keys
}

func keyOf(s wall.State) stateKey {
	return stateKey{"s-" + strings.ReplaceAll(s.String(), " ", "-"), s.String(), int(s)}
}

// stateModule is the module of the frames that represent states.
const stateModule = "[state]"

// waitCalls returns the tree of calls with wall-clock times as JSON, or "" if these times were not recorded. The
// innermost frame of each stack is the state, and the page can filter the tree by the numbers of states. Counts are in
// ns.
func (b *builder) waitCalls(p *profile.Profile, at *places) template.JS {
	if p.Waits == nil {
		return ""
	}
	set := calltree.NewSet(p.Waits.Stacks, 1)
	var leaves [wall.Unseen + 1]int32
	for _, s := range wall.States() {
		leaves[s] = set.Leaf([]calltree.LeafFrame{{Frame: callstack.Frame{Kind: callstack.Native, Module: stateModule,
			Name: s.String(), BCI: callstack.Unknown, Line: callstack.Unknown}}})
	}
	for i := range p.Waits.Sums {
		s := &p.Waits.Sums[i]
		if s.Idle && !b.in.Idle {
			continue
		}
		stack := s.Stack
		if stack == 0 {
			stack = calltree.NoCaller
		}
		set.AddPart(s.Pool, leaves[s.State], stack, int(s.State), tally.Counts{s.Nanos})
	}
	const most = mostCalls / 2 // maximum number of nodes, halved because numbers of ns are long
	tree := set.TopDown(calltree.Limits{Least: leastCall, Nodes: max(most/len(b.in.Profiles.Trials), 500), FromJava: true,
		Details: true})
	compiled := compilationsOf(p, b.in.Profiles.Capture.JVMs)
	w := newCallsWriter(tree, 1, at, func(n *calltree.Node) int {
		if state, ok := wall.ParseState(n.Name); ok && n.Module == stateModule {
			return len(frameKinds) + int(state) - 1
		}
		return compiled.kindOf(n)
	})
	for _, key := range stateKeys() {
		w.Kind(key.Kind)
	}
	return w.json()
}

// A lanesView shows what threads did over time.
type lanesView struct {
	ID     string
	Note   string
	Idle   string // the label of the box that shows idle threads, or "" if there are none
	States []stateKey
	// ShowIdle is true if idle threads are shown at first.
	ShowIdle bool
	Data     template.JS
}

// Limits of the lanes in a page, for all of its profiles together. A span takes about 18 bytes in the page.
const (
	mostLanes = 5_000
	mostSpans = 40_000
	mostNodes = 30_000 // nodes of the tree of stacks
)

// A lanesData is what the script needs to draw the lanes. Times are in µs.
type lanesData struct {
	From  int64    `json:"from"` // of CLOCK_MONOTONIC
	To    int64    `json:"to"`   // since From
	Names []string `json:"names"`
	// States holds the name and the kind of each state, by number.
	States [][2]string `json:"states"`
	// Nodes has two numbers for each node of the stacks: 1 + the index of its caller (0 if it has none), and the index
	// of its frame's text in Names.
	Nodes []int `json:"nodes"`
	// Lanes has the threads, sorted by JVM, pool and name. Of each JVM, the program's threads come before the JVM's
	// own.
	Lanes []laneData `json:"lanes"`
}

// A laneData is the lane of a thread.
type laneData struct {
	Name int `json:"n"` // index in Names
	Pool int `json:"p"`
	Idle int `json:"i,omitempty"` // 1 if the thread is idle
	// Spans has five numbers for each span: the time since the end of the previous span, the length, the state, 1 + the
	// index in Nodes of the stack (0 if there is none), and 1 + the index in Names of what the thread waits for (0 if
	// there is nothing).
	Spans []int64 `json:"s"`
}

// lanes returns the lanes of a profile's threads, or nil if the capture does not say what threads did.
func (b *builder) lanes(p *profile.Profile) *lanesView {
	w := p.Waits
	if w == nil || len(w.Threads) == 0 {
		return nil
	}
	profiles := len(b.in.Profiles.Trials)
	threads := make([]*waits.Thread, len(w.Threads))
	for i := range w.Threads {
		threads[i] = &w.Threads[i]
	}
	left := 0
	if most := max(mostLanes/profiles, 1); len(threads) > most { // drops idle ones first
		slices.SortStableFunc(threads, func(x, y *waits.Thread) int { return cmp.Compare(idleOrder(x), idleOrder(y)) })
		left = len(threads) - most
		threads = threads[:most]
		slices.SortStableFunc(threads, func(x, y *waits.Thread) int {
			return cmp.Or(cmp.Compare(x.PID, y.PID), cmp.Compare(x.Pool, y.Pool), cmp.Compare(len(x.Name), len(y.Name)),
				cmp.Compare(x.Name, y.Name))
		})
	}
	slices.SortStableFunc(threads, func(x, y *waits.Thread) int {
		return cmp.Or(cmp.Compare(x.PID, y.PID), cmp.Compare(ownOrder(x), ownOrder(y)))
	})
	spans, step := spansOf(threads, max(mostSpans/profiles, 1))
	l := newLanesWriter(w)
	for i, t := range threads {
		l.lane(t, spans[i])
	}
	text, err := json.Marshal(l.data)
	if err != nil {
		return nil // can't happen, because there are only strings and numbers
	}
	v := &lanesView{ID: "p" + strconv.Itoa(b.listingProfile(p)) + "-lanes", States: statesOf(w), ShowIdle: b.in.Idle,
		Data: template.JS(text)}
	if n := w.Idle.Threads; n > 0 {
		v.Idle = show.Count(n, "idle thread")
	}
	v.Note = "What each thread did over time. A click shows the stacks of all threads at that moment."
	if step > 0 {
		v.Note += fmt.Sprintf(" What is shorter than %.3g ms is joined, and has the state of the longest part.",
			float64(step)/1e6)
	}
	if left > 0 {
		v.Note += fmt.Sprintf(" %s left out.", show.Count(left, "more thread"))
	}
	return v
}

// ownOrder returns a key that sorts the JVM's own threads after those of the program.
func ownOrder(t *waits.Thread) int {
	if t.Kind == threads.Application {
		return 0
	}
	return 1
}

func idleOrder(t *waits.Thread) int {
	if t.Idle {
		return 1
	}
	return 0
}

// statesOf returns the legend of the states that occur in a table.
func statesOf(w *waits.Table) (keys []stateKey) {
	for _, key := range stateKeys() {
		if w.Times[key.Number] > 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

// spansOf returns the spans of threads. The parameter most limits their number. If there are more, spansOf joins spans
// that are shorter than step (in ns). Otherwise step is 0.
func spansOf(threads []*waits.Thread, most int) (spans [][]waits.Span, step int64) {
	n := 0
	for _, t := range threads {
		spans = append(spans, t.Spans)
		n += len(t.Spans)
	}
	const firstStep, lastStep = 1e6, 3600e9
	for next := int64(firstStep); n > most && next < lastStep; next *= 2 {
		step, n = next, 0
		for i := range spans {
			spans[i] = waits.Coarsen(slices.Clone(spans[i]), step)
			n += len(spans[i])
		}
	}
	return spans, step
}

// A lanesWriter builds a lanesData.
type lanesWriter struct {
	data  lanesData
	table *waits.Table
	names map[string]int
	nodes map[callstack.ID]int // 1 + the index in Nodes; 0 for stacks that are left out
}

func newLanesWriter(w *waits.Table) *lanesWriter {
	l := &lanesWriter{table: w, names: map[string]int{}, nodes: map[callstack.ID]int{}}
	l.data.Nodes, l.data.States = []int{}, make([][2]string, wall.Unseen+1)
	for _, key := range stateKeys() {
		l.data.States[key.Number] = [2]string{key.Name, key.Kind}
	}
	from, to := w.JVMs[0].FromMonoNanos, w.JVMs[0].ToMonoNanos
	for _, j := range w.JVMs {
		from, to = min(from, j.FromMonoNanos), max(to, j.ToMonoNanos)
	}
	for i := range w.Threads {
		if spans := w.Threads[i].Spans; len(spans) > 0 {
			from, to = min(from, spans[0].FromMonoNanos), max(to, spans[len(spans)-1].ToMonoNanos)
		}
	}
	l.data.From, l.data.To = from/1e3, to/1e3-from/1e3
	return l
}

// name returns the index of a text in Names, and adds the text if it is new.
func (l *lanesWriter) name(text string) int {
	i, ok := l.names[text]
	if !ok {
		i = len(l.data.Names)
		l.names[text] = i
		l.data.Names = append(l.data.Names, text)
	}
	return i
}

// lane adds the lane of a thread.
func (l *lanesWriter) lane(t *waits.Thread, spans []waits.Span) {
	lane := laneData{Name: l.name(show.Text(t.Name)), Pool: l.name(show.Text(t.Pool)), Idle: idleOrder(t),
		Spans: []int64{}}
	var end int64
	for i := range spans {
		s := &spans[i]
		from, to := s.FromMonoNanos/1e3-l.data.From, s.ToMonoNanos/1e3-l.data.From
		about := 0
		if text := l.about(s); text != "" {
			about = 1 + l.name(show.Text(text))
		}
		lane.Spans = append(lane.Spans, from-end, to-from, int64(s.State), int64(l.node(s.Stack)), int64(about))
		end = to
	}
	l.data.Lanes = append(l.data.Lanes, lane)
}

// about returns a text about what a thread waits for: "acme.Pool@7f0010, held by http-27" for a lock, or else the
// span's detail.
func (l *lanesWriter) about(s *waits.Span) string {
	if s.Lock > 0 {
		lock := &l.table.Locks[s.Lock-1]
		text := fmt.Sprintf("%s@%x", lock.Name(), lock.Address)
		if name := l.table.OwnerOf(lock); name != "" {
			text += ", held by " + name
		}
		return text
	}
	if s.Detail > 0 {
		return l.table.Details[s.Detail-1]
	}
	return ""
}

// node returns 1 + the index of a stack in Nodes. It returns 0 if the stack is unknown, or if Nodes has no room for it.
func (l *lanesWriter) node(id callstack.ID) int {
	var path []callstack.ID // nodes that are new, the innermost one first
	at := 0
	for id != 0 {
		if known, ok := l.nodes[id]; ok {
			at = known
			break
		}
		f, up := l.table.Stacks.Frame(id)
		if f == nil || len(path) > calltree.MaxFrames {
			break
		}
		path = append(path, id)
		id = up
	}
	for _, id := range slices.Backward(path) {
		if len(l.data.Nodes) >= 2*mostNodes {
			return 0
		}
		f, _ := l.table.Stacks.Frame(id)
		code := calltree.CodeOf(f)
		text := code.Label()
		if f.Line > 0 {
			text += ":" + strconv.Itoa(f.Line)
		}
		l.data.Nodes = append(l.data.Nodes, at, l.name(show.Text(text)))
		at = len(l.data.Nodes) / 2
		l.nodes[id] = at
	}
	return at
}
