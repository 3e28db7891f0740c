package waits

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/wall"
)

// A Place is where threads of a pool waited, in one state, for things of one kind.
type Place struct {
	Pool    string
	Kind    string // kind of the threads, as in package threads
	State   wall.State
	Frame   event.Frame // the frame that the rule for places chose; without Method if the stack is not known
	For     string      // the class of the lock, or another thing: "read from socket to 127.0.0.1:5432"; may be ""
	Queue   bool        // the place is the pool's queue
	Threads int         // number of threads
	Idle    int         // how many of these threads are idle
	Nanos   int64
	// IdleNanos is the part of Nanos that belongs to idle threads.
	IdleNanos int64
	// Stacks are the stacks from the place outwards, those with the longest time first. Their Weight is in ns, and
	// their Count is a number of threads. Only the first mostCallers places have Stacks.
	Stacks []sites.Stack
}

// mostCallers is the number of places that have stacks, and mostStacks is the maximum number of stacks of a place.
const mostCallers, mostStacks = 1000, 1000

// A placeFinder finds the places of stacks.
type placeFinder struct {
	stacks *calltree.Stacks
	rule   event.SiteRule
	known  map[stateAt]event.Frame
	queues map[callstack.ID]bool
}

// A stateAt is a stack and a thread's state when it had that stack.
type stateAt struct {
	stack callstack.ID
	state wall.State
}

func newPlaceFinder(stacks *calltree.Stacks, rule event.SiteRule) *placeFinder {
	return &placeFinder{stacks: stacks, rule: rule, known: map[stateAt]event.Frame{}, queues: map[callstack.ID]bool{}}
}

// frame returns the frame that the rule chooses from a stack, or the zero Frame if there is none.
func (p *placeFinder) frame(stack callstack.ID, state wall.State) event.Frame {
	if stack == 0 {
		return event.Frame{}
	}
	at := stateAt{stack, state}
	f, ok := p.known[at]
	if !ok {
		if frames, _ := p.place(stack, state); len(frames) > 0 {
			f = frames[0]
		}
		p.known[at] = f
	}
	return f
}

// mostFrames is the number of frames of a stack that are looked at. The recorder writes at most 1024 Java frames, and
// some native ones; a damaged file may have many more.
const mostFrames = 2000

// framesOf yields the frames of a stack, innermost first. After mostFrames frames, it yields the mark Cut and ends.
func (p *placeFinder) framesOf(stack callstack.ID) iter.Seq[*callstack.Frame] {
	return func(yield func(*callstack.Frame) bool) {
		n := 0
		for f := range p.stacks.Frames(stack) {
			if n++; n > mostFrames {
				yield(&callstack.Frame{Kind: callstack.Cut})
				return
			}
			if !yield(f) {
				return
			}
		}
	}
}

// place returns the frame that the rule chooses from a stack, followed by its callers. If the stack has no Java frames,
// it returns the innermost frame that has a name. cut is true if outer frames are missing.
func (p *placeFinder) place(stack callstack.ID, state wall.State) (frames []event.Frame, cut bool) {
	var native event.Frame
	for f := range p.framesOf(stack) {
		switch {
		case f.Kind.Mark():
			cut = f.Kind != callstack.NoCaller
		case f.Kind.Java() && f.Name != "":
			frames = append(frames, event.Frame{Method: f.Name, BCI: max(f.BCI, 0), Line: max(f.Line, 0)})
		case native.Method == "" && f.Name != "":
			native.Method = strings.TrimSpace(f.Module + " " + f.Name)
		}
	}
	if i := p.rule.Index(frames, state == wall.Park || state == wall.Wait); i >= 0 {
		return frames[i:], cut
	}
	if native.Method != "" {
		return []event.Frame{native}, true
	}
	return nil, cut
}

// Waits reports whether a state is one of waiting: the thread was blocked, and its place is known.
func Waits(s wall.State) bool {
	return s != wall.OnProcessor && s != wall.Runnable && s != wall.Unseen
}

// A placeKey identifies a Place.
type placeKey struct {
	pool, kind string
	state      wall.State
	frame      event.Frame // BCI is 0 if the line is known
	about      string
	queue      bool
}

// addPlaces sums up cells by place.
func (b *builder) addPlaces(cells []counted) {
	type placed struct {
		Place
		stacks map[callstack.ID]*sites.Stack
		last   int32 // the thread counted last; cells are sorted by thread
	}
	all := map[placeKey]*placed{}
	for i := range cells {
		c := &cells[i]
		if !Waits(c.state) {
			continue
		}
		t, frame := b.thread(c), b.places.frame(c.stack, c.state)
		key := placeKey{t.Pool, t.Kind, c.state, byLine(frame), b.about(c.lock, c.detail), b.queued(c)}
		p := all[key]
		if p == nil {
			p = &placed{Place: Place{Pool: t.Pool, Kind: t.Kind, State: c.state, Frame: frame, For: key.about, Queue: key.queue},
				stacks: map[callstack.ID]*sites.Stack{}, last: -1}
			all[key] = p
		}
		p.Nanos += c.nanos
		if p.last != c.thread {
			p.last = c.thread
			p.Threads++
			if t.Idle {
				p.Idle++
			}
		}
		if t.Idle {
			p.IdleNanos += c.nanos
		}
		s := p.stacks[c.stack]
		if s == nil {
			if len(p.stacks) == mostStacks {
				continue
			}
			s = &sites.Stack{}
			p.stacks[c.stack] = s
		}
		s.Weight += c.nanos
		s.Count++
	}
	list := make([]*placed, 0, len(all))
	for _, p := range all {
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y *placed) int {
		return cmp.Or(cmp.Compare(y.Nanos, x.Nanos), cmp.Compare(x.Pool, y.Pool), cmp.Compare(x.State, y.State),
			compareFrames(x.Frame, y.Frame),
			cmp.Compare(x.For, y.For), cmp.Compare(x.Kind, y.Kind), compareBool(x.Queue, y.Queue))
	})
	for i, p := range list {
		if i < mostCallers {
			p.Stacks = b.callers(p.stacks, p.State)
		}
		b.Places = append(b.Places, p.Place)
	}
}

// callers returns the stacks of a place, those with the longest time first.
func (b *builder) callers(stacks map[callstack.ID]*sites.Stack, state wall.State) (list []sites.Stack) {
	ids := make([]callstack.ID, 0, len(stacks))
	for id := range stacks {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y callstack.ID) int {
		return cmp.Or(cmp.Compare(stacks[y].Weight, stacks[x].Weight), cmp.Compare(x, y))
	})
	for _, id := range ids {
		s := *stacks[id]
		if s.Frames, s.Cut = b.places.place(id, state); len(s.Frames) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// byLine returns a frame without its bytecode index if its line is known.
func byLine(f event.Frame) event.Frame {
	if f.Line > 0 {
		f.BCI = 0
	}
	return f
}

// about returns what a thread waited for: the class of the lock, or else the folded detail. lock and detail are the
// numbers in a cell or a Span.
func (b *builder) about(lock, detail int32) string {
	if lock > 0 {
		return b.Locks[lock-1].Name()
	}
	return Folded(b.details.text(detail))
}

// Folded returns a spell's detail without what differs from one connection to the next: the address of this side of the
// connection, and the port of the other side if the kernel has chosen it. "read from socket 10.0.0.1:40512 to
// 10.0.0.2:5432" becomes "read from socket to 10.0.0.2:5432".
func Folded(detail string) string {
	const firstEphemeral = 32768 // the default in net.ipv4.ip_local_port_range
	before, peer, ok := strings.Cut(detail, " to ")
	if !ok || !strings.Contains(before, "socket ") {
		return detail
	}
	before = before[:strings.LastIndex(before, "socket ")+len("socket")]
	host, port, ok := cutLast(peer, ":")
	if n, isPort := atoi(port); ok && isPort && n >= firstEphemeral {
		peer = host + ":*"
	}
	return before + " to " + peer
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// atoi parses the decimal digits of a port.
func atoi(s string) (n int, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 65535 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, s != ""
}
