package virtualthreads

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/classes"
	"github.com/gasm-profiler/gasm/hotspot/heap"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/hotspot/threads"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A Counter counts the virtual threads of one JVM. Only one goroutine may use it.
type Counter struct {
	pid      int
	view     *shared.View
	vm       *vmstructs.VM
	heap     *heap.Heap
	classes  *classes.Finder
	java     *threads.Reader
	walker   *stack.Walker
	mappings *native.Resolver
	random   *rand.Rand
	seed     maphash.Seed

	layout   *layout // nil until the JVM has created a virtual thread
	outdated bool    // classes were loaded after the layout was made, so it lacks them
	mirror   uint64  // offset in a Klass of the reference to its java.lang.Class
	super    uint64  // offset in a Klass of the address of its superclass
	forwards bool    // after copying an object, the collector leaves the new address in the old header
	zgc      bool
	pauses   pauses

	statics  map[string]uint64 // offsets of static fields
	threads  map[uint64]bool   // by class: whether it extends java.lang.Thread
	blockers map[uint64]string // names of classes, by the address of the Klass

	frames   []callstack.Frame // memory that the method place reuses
	copied   int               // number of bytes of frames that were copied for this count
	budget   *vmstructs.Budget
	refusals int   // number of reads that the budget had refused before this count
	failed   error // why the JVM can't be read any more; nil if it can
}

// A Counts says what the virtual threads of a JVM did at one time.
type Counts struct {
	MonoNanos int64
	// Threads is the number of virtual threads. If only some of them were read, it is an estimate.
	Threads int
	// Looked is the number of virtual threads that were chosen and had not ended. Of these, Mounted had a carrier
	// thread, and Unread could not be read or kept changing while they were read. The others are in Places.
	Looked, Mounted, Unread int
	// Untracked is the number of virtual threads that gasm can't find, because the JVM has no list of them
	// (-Djdk.trackAllThreads=false). They are not in Threads.
	Untracked int
	// Collected is true if a collector moved objects during every attempt to read the threads. Then only the number of
	// threads is known.
	Collected bool
	Places    []Place
}

// A Place counts virtual threads that are not mounted and wait in the same way: they have the same state and the same
// frames, and wait for objects of the same class.
type Place struct {
	State State
	// Frames are the frames of the threads, innermost first; the last one may be a mark for missing frames. Frames is
	// empty if the threads have not begun to run.
	Frames []callstack.Frame
	// Blocker is the class of the object for which the threads are parked; "" if there is none.
	Blocker string
	// Count is the number of threads at the place. If only some of the virtual threads were read, it is an estimate.
	Count int
}

// ErrNone is the error of NewCounter if the JVM is too old for virtual threads.
var ErrNone = errors.New("it has no virtual threads")

// ErrCollector is the error of Count if the JVM has virtual threads, but gasm can't count them because of the JVM's
// garbage collector.
var ErrCollector = errors.New("gasm can't follow the objects that ZGC moves; " +
	"run the program with another collector, such as -XX:+UseG1GC")

// oldest is the first release with virtual threads that are not a preview.
const oldest = 21

// NewCounter returns a Counter. The caller must close it. If the JVM can't be read, the error says why.
func NewCounter(jvms *shared.JVMs, pid int) (*Counter, error) {
	view, err := jvms.Open(pid)
	if err != nil {
		return nil, err
	}
	view.Quiet()
	c, err := newCounter(jvms, view, pid)
	if err != nil {
		view.Close()
	}
	return c, err
}

func newCounter(jvms *shared.JVMs, view *shared.View, pid int) (*Counter, error) {
	c := &Counter{pid: pid, view: view, walker: stack.NewWalker(jvms), mappings: native.NewResolver(),
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), seed: maphash.MakeSeed(),
		statics: map[string]uint64{}, threads: map[uint64]bool{}, blockers: map[uint64]string{}}
	if err := c.open(view.VM); err != nil {
		return nil, err
	}
	return c, nil
}

// mostBytes limits how many bytes a burst of reads may take from a JVM's memory, and bytesPerSecond limits the average
// rate.
const mostBytes, bytesPerSecond = 64 << 20, 32 << 20

func (c *Counter) open(vm *vmstructs.VM) (err error) {
	if vm.Release < oldest {
		return ErrNone
	}
	c.budget = vmstructs.NewBudget(mostBytes, bytesPerSecond)
	c.vm = vm.Within(c.budget)
	flags, err := vm.Flags("UseZGC", "UseShenandoahGC")
	if err != nil {
		return err
	}
	c.zgc = flags["UseZGC"].Value != 0
	c.forwards = flags["UseShenandoahGC"].Value != 0
	if c.heap, err = heap.New(c.vm); err != nil {
		return err
	}
	if c.java, err = threads.NewReader(c.vm); err != nil {
		return err
	}
	if c.classes, err = classes.NewFinder(c.vm, names...); err != nil {
		return err
	}
	q := vmstructs.Query{VM: vm, Of: "the virtual threads of "}
	c.mirror, c.super = q.Field("Klass::_java_mirror").At, q.Field("Klass::_super").At
	if c.pauses, err = newPauses(&q); err != nil {
		return err
	}
	if maps, err := native.ReadMaps(c.pid); err == nil { // the mappings show how many bits an address has
		c.mappings.Add(maps...)
	}
	return q.Missing
}

// Elsewhere returns the CPU time that the Counter has used in goroutines other than its caller's.
func (c *Counter) Elsewhere() time.Duration { return c.walker.Elsewhere() }

// Close closes what the Counter has opened.
func (c *Counter) Close() {
	c.walker.Close()
	c.view.Close()
}

// Count counts virtual threads. If there are many, it reads only some of them, chosen at random. The parameter most
// limits their number, though not exactly. If the error is vmstructs.ErrBudget, too much was read before, and a later
// count may work. After any other error, further counts are useless: the JVM has ended, gasm does not know this build
// of the JDK, or the error is ErrCollector.
func (c *Counter) Count(most int) (*Counts, error) {
	c.refusals = c.budget.Refused()
	if err := c.update(); err != nil || c.layout == nil {
		return &Counts{MonoNanos: monotonic.Nanos()}, err
	}
	var n *Counts
	for range attempts {
		before := c.pauses.read(c.vm)
		r := c.choose(most)
		c.copied = 0
		if c.read(r.looks); c.refused() {
			return nil, vmstructs.ErrBudget
		}
		n = &Counts{MonoNanos: monotonic.Nanos(), Untracked: r.untracked}
		if c.failed != nil {
			return nil, fmt.Errorf("reading virtual threads: %w", c.failed)
		}
		if c.forwards || c.pauses.none(before, c.pauses.read(c.vm)) {
			c.sumUp(n, r.looks)
			return n, nil
		}
		n.Collected, n.Threads = true, int(min(r.size, math.MaxInt32))
	}
	return n, nil
}

// update looks for classes that were loaded since the last count.
func (c *Counter) update() error {
	news, err := c.classes.Update()
	c.outdated = c.outdated || news
	if err != nil || !c.outdated || c.classes.Class(ownClass) == 0 {
		return err
	}
	if c.zgc {
		return ErrCollector
	}
	l, err := newLayout(c.vm, c.heap, c.classes)
	if err != nil {
		return err
	}
	c.layout, c.outdated = l, false
	return nil
}

// A group is a Place and the sum of its threads' weights.
type group struct {
	*Place
	weight float64
}

// sumUp fills in the Counts: it adds up the weights of the threads by place.
func (c *Counter) sumUp(n *Counts, looks []*look) {
	groups := map[uint64]*group{}
	var order []*group
	total, frames := 0.0, 0
	for _, l := range looks {
		if l.kind == platform || l.kind == ended {
			continue
		}
		total += l.weight
		n.Looked++
		var p Place
		known := l.kind == unmounted
		if known {
			p, known = c.place(l)
		}
		switch {
		case l.kind == mounted:
			n.Mounted++
			continue
		case !known:
			n.Unread++
			continue
		}
		key := c.hash(&p)
		g := groups[key]
		if g == nil && frames+len(p.Frames) > maxAllFrames {
			n.Unread++
			continue
		}
		if g == nil {
			frames += len(p.Frames)
			p.Frames = slices.Clone(p.Frames)
			g = &group{Place: &p}
			groups[key], order = g, append(order, g)
		}
		g.weight += l.weight
	}
	n.Threads = whole(total)
	for _, g := range order {
		g.Count = whole(g.weight)
		n.Places = append(n.Places, *g.Place)
	}
}

// whole rounds a number of threads. The result is limited because a hostile JVM may claim any size of a set.
func whole(threads float64) int { return int(min(math.Round(threads), math.MaxInt32)) }

// place returns where a thread waits. Its Frames are valid until the next call. ok is false if the place can't be
// determined.
func (c *Counter) place(l *look) (p Place, ok bool) {
	started, in := stateOf(le32(l.thread, c.layout.state))
	p.State = in
	if !started {
		return p, true
	}
	p.Frames = c.frames[:0]
	defer func() { c.frames = p.Frames }()
	for i := range l.chunks {
		k := &l.chunks[i]
		mark := callstack.Kind(0)
		if len(k.frames.Data) > 0 {
			p.Frames, mark = c.walker.WalkFrozen(p.Frames, c.pid, &k.frames, l.nanos, c.mappings)
		}
		if mark == callstack.Unwalked && !k.cut {
			return p, false
		}
		if k.cut || mark != 0 || i == maxChunks-1 || len(p.Frames) > maxDepth {
			p.Frames = append(p.Frames[:min(len(p.Frames), maxDepth)], callstack.At(callstack.Cut, 0))
			break
		}
	}
	if in == Parked {
		p.State = parkedIn(p.Frames)
		if p.State == Parked {
			p.Blocker = c.className(l.blocker)
		}
	}
	return p, len(p.Frames) > 0
}

// className returns the name of a class: "pkg.Class". It returns "" if there is no class at the address.
func (c *Counter) className(class uint64) string {
	name, known := c.blockers[class]
	if !known {
		name = c.heap.ClassName(class)
		if len(c.blockers) < maxClasses {
			c.blockers[class] = name
		}
	}
	return name
}

// maxAllFrames is the maximum number of frames of all Places of a count. Threads at further places are counted as
// Unread.
const maxAllFrames = 1 << 18

// maxDepth is the maximum number of frames of a Place, not counting the mark for missing frames.
const maxDepth = 1024

func (c *Counter) hash(p *Place) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString(string(p.State))
	h.WriteByte(0)
	h.WriteString(p.Blocker)
	for i := range p.Frames {
		f := &p.Frames[i]
		maphash.WriteComparable(&h, [...]int64{int64(f.Kind), int64(f.PC), int64(f.BCI), int64(f.Line), int64(f.CompileID)})
		h.WriteString(f.Name)
	}
	return h.Sum64()
}
