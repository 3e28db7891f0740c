package waits

import (
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/wall"
)

// A Config says which time counts.
type Config struct {
	Trials    int
	Timelines map[int]*windows.Timeline // by process id; JVMs without a timeline do not count
	// EventWindows and MethodWindows narrow the windows, separately for each thread. They may be nil.
	EventWindows  *windows.OfThreads
	MethodWindows windows.InsideMethod
	Threads       threads.Choice
	// Under and Inside may be nil. If they are not, they leave out all time without a certain method on the stack. They
	// differ only in the row of the Account that counts the time that was left out.
	Under, Inside calltree.Matcher
}

// A Counter sums up what threads did, for each trial.
type Counter struct {
	config  Config
	names   *threads.Table
	threads []thread
	locks   []Lock
	details index
	trees   callstack.Tree   // the stacks of all files
	most    int              // the maximum number of nodes in trees
	stacks  *calltree.Stacks // made from trees after the last file
	jvms    map[int]*recorded
	trials  []*trial
	spans   spanBudget
	virtual []virtuals
	// virtualCounts are the counts of all virtual threads.
	virtualCounts []virtualCount
	cells         int   // number of cells in all trials
	full          int64 // time in ns that was counted without its stack, because there were too many cells
}

// A thread holds what a Counter knows of a thread.
type thread struct {
	pid, tid int
	name     string
	chosen   bool
	kind     string
	javaID   int64
	first    int64 // when the thread's first spell began
	last     wait
}

// The type recorded holds what the file of a JVM says about the recording.
type recorded struct {
	hertz    int
	from, to int64
	total    int64 // the sum of the times of all threads
	end      *wall.End
}

// A cell is the key by which the time of a thread is counted.
type cell struct {
	thread       int32
	stack        callstack.ID
	lock, detail int32 // 1 + the index of the lock or the detail; 0 if there is none
	state        wall.State
}

// A trial holds the counts of a trial.
type trial struct {
	account Account
	cells   map[cell]int64
	spans   map[int32][]Span // the spans of each thread, by its index; sorted by time
}

const (
	// maxThreads is the maximum number of threads whose time is counted separately.
	maxThreads = 1 << 20
	// maxCells is the maximum number of cells of all trials together. When there are that many, time that needs a new
	// cell counts without its stack, lock and detail. A cell takes about 60 bytes.
	maxCells = 1 << 20
	// maxTreeNodes is the maximum number of nodes in the tree of all files' stacks.
	maxTreeNodes = 4 * callstack.MaxNodes
)

// NewCounter returns a Counter that has not read a file yet.
func NewCounter(c Config) *Counter {
	x := &Counter{config: c, names: threads.NewTable(c.Threads), jvms: map[int]*recorded{}, details: newIndex(),
		most: maxTreeNodes}
	for range c.Trials {
		x.trials = append(x.trials, &trial{cells: map[cell]int64{}, spans: map[int32][]Span{}})
	}
	return x
}

// A file is a wall-<pid>.txt that is being read.
type file struct {
	*Counter
	pid           int // the JVM's process id in the capture
	first         int // the process's own id, which is also that of its first thread
	jvm           *recorded
	timeline      *windows.Timeline
	numbers       []int32      // index in Counter.threads, or -1, by the thread's number in the file minus 1
	firstLock     int          // index in Counter.locks of the file's first lock
	firstStack    callstack.ID // the ID in Counter.trees is this plus the stack's number in the file
	stacks        *callstack.Tree
	under, inside *calltree.Under
	bad           wall.Damage
	more          bool // counts of virtual threads were left out
}

// Read counts the time in a JVM's file. The notes say what could not be read. If a file ends early because gasm was
// killed, there is no note about that.
func (x *Counter) Read(r *wall.Reader, pid int) (notes []string) {
	f := &file{Counter: x, pid: pid, jvm: &recorded{}, timeline: x.config.Timelines[pid], firstLock: len(x.locks),
		firstStack: callstack.ID(x.trees.Len()), stacks: r.Stacks()}
	if f.timeline == nil || x.jvms[pid] != nil {
		return nil
	}
	x.jvms[pid] = f.jvm
	if x.config.Under != nil || x.config.Inside != nil {
		stacks := calltree.NewStacks(f.stacks)
		if x.config.Under != nil {
			f.under = calltree.NewUnder(x.config.Under, stacks)
		}
		if x.config.Inside != nil {
			f.inside = calltree.NewUnder(x.config.Inside, stacks)
		}
	}
	for r.Scan() {
		f.add(r.Record())
	}
	if _, ok := x.trees.Append(f.stacks, x.most); !ok {
		f.dropStacks()
		notes = append(notes, fmt.Sprintf("there are more than %d stacks of waiting threads: those of JVM %d are left out",
			x.most, pid))
	}
	if f.more {
		notes = append(notes, fmt.Sprintf("there are more than %d counts of virtual threads: the later ones of JVM %d are left out",
			maxVirtuals, pid))
	}
	return append(notes, f.bad.Notes(r, pid)...)
}

// ReadFiles counts the time in the files of a capture.
func (x *Counter) ReadFiles(c *capture.Capture) (notes []string) {
	for _, of := range c.WallFiles() {
		r, closer, err := of.Open()
		if err != nil {
			notes = append(notes, fmt.Sprintf("what the threads of JVM %d did could not be read: %v", of.PID, err))
			continue
		}
		notes = append(notes, x.Read(r, of.PID)...)
		closeRead(closer)
	}
	if x.full > 0 {
		notes = append(notes, fmt.Sprintf("threads waited at more than %d places: %.1f s of their time have no place",
			maxCells, float64(x.full)/1e9))
	}
	if x.spans.step > 0 {
		notes =
			append(notes, fmt.Sprintf("threads changed their state so often that the time lanes join all that is shorter than %.3g ms", float64(x.spans.step)/1e6))
	}
	return notes
}

// closeRead closes a file that was only read, so that no data can be lost.
func closeRead(c io.Closer) { _ = c.Close() }

// add processes a record of the file.
func (f *file) add(record any) {
	switch r := record.(type) {
	case *wall.Head:
		f.first = r.PID
		f.jvm.hertz, f.jvm.from, f.jvm.to = r.Hertz, r.FromMonoNanos, r.FromMonoNanos
	case *wall.Thread:
		f.thread(r)
	case *wall.Lock:
		f.lock(r)
	case *wall.Spell:
		f.spell(r)
	case *wall.VirtualCount:
		f.addVirtualCount(r)
	case *wall.Virtuals:
		f.addVirtuals(r)
	case *wall.End:
		f.jvm.end, f.jvm.to = r, max(f.jvm.to, r.ToMonoNanos)
	case *wall.SyntaxError:
		f.bad.Add(r)
	}
}

// thread adds a thread, or renames it if it exists.
func (f *file) thread(r *wall.Thread) {
	for len(f.numbers) < r.Number {
		f.numbers = append(f.numbers, -1)
	}
	i := f.numbers[r.Number-1]
	if i < 0 {
		if len(f.threads) >= maxThreads {
			return
		}
		i = int32(len(f.threads))
		f.numbers[r.Number-1] = i
		f.threads = append(f.threads, thread{pid: f.pid, first: r.BornMonoNanos})
	}
	found, _ := f.names.Find(f.pid, r.TID, r.Name)
	t := &f.threads[i]
	if r.JavaID == 0 && r.TID == f.first {
		found.Kind = threads.OtherJVM // the java command's first thread, which only waits for the end of the JVM
	}
	t.tid, t.name, t.javaID, t.kind, t.chosen = r.TID, r.Name, r.JavaID, found.Kind, found.Chosen
}

// index returns the index of a thread in Counter.threads, or -1 if the number is unknown.
func (f *file) index(number int) int32 {
	if number <= 0 || number > len(f.numbers) {
		return -1
	}
	return f.numbers[number-1]
}

// lock adds a lock. Locks are numbered without gaps in the file.
func (f *file) lock(r *wall.Lock) {
	f.locks = append(f.locks, Lock{PID: f.pid, Kind: r.Kind, Class: r.Class, Of: r.Of, Address: r.Address,
		Owner: int(f.index(r.Owner)), Taken: f.stack(r.Taken)})
}

// stack converts a stack's number in the file to its ID in Counter.trees.
func (f *file) stack(id callstack.ID) callstack.ID {
	if id == 0 {
		return 0
	}
	return f.firstStack + id
}

// lockOf converts the number of a lock in the file to 1 + its index in Counter.locks. It returns 0 if there is none.
func (f *file) lockOf(number int) int32 {
	if number == 0 {
		return 0
	}
	return int32(f.firstLock + number)
}

// spell counts the parts of a spell that are in windows.
func (f *file) spell(s *wall.Spell) {
	i := f.index(s.Thread)
	length := s.ToMonoNanos - s.FromMonoNanos
	if i < 0 || length <= 0 {
		return
	}
	f.jvm.total += length
	f.jvm.to = max(f.jvm.to, s.ToMonoNanos)
	t := &f.threads[i]
	t.last.follow(f.lockOf(s.Lock), f.stack(s.Stack), s)
	f.timeline.Cut(capture.Span{FromMonoNanos: s.FromMonoNanos, ToMonoNanos: s.ToMonoNanos},
		func(number int, part capture.Span) {
			to := f.trials[number]
			f.config.EventWindows.Cut(f.pid, t.tid, part, func(part capture.Span) {
				if !t.chosen {
					to.account.OtherThread += length64(part)
					return
				}
				left := length64(part)
				f.config.MethodWindows.Cut(f.pid, t.tid, part, func(part capture.Span) {
					left -= length64(part)
					f.count(to, i, s, part)
				})
				to.account.OutsideMethod += left
			})
		})
}

func length64(s capture.Span) int64 { return s.ToMonoNanos - s.FromMonoNanos }

// count counts a part of a spell. The part is in a window of the trial that the parameter to points to.
func (f *file) count(to *trial, i int32, s *wall.Spell, part capture.Span) {
	ran, runnable, blocked := divide(s, part)
	at := cell{thread: i, stack: f.stack(s.Stack), lock: f.lockOf(s.Lock), state: s.State}
	if s.Detail != "" {
		at.detail = f.details.of(s.Detail)
	}
	has := func(u *calltree.Under, known bool) bool { return u == nil || known && u.HasStack(s.Stack) }
	counted := func(at cell, n int64) bool { // adds n ns to a cell, unless Inside or Under excludes its stack
		known := at.stack != 0
		switch {
		case n == 0:
			return false
		case !has(f.inside, known):
			to.account.OutsideMethod += n
			return false
		case !has(f.under, known):
			to.account.NotUnder += n
			return false
		}
		f.bump(to, at, n)
		return true
	}
	place := at
	running := s.State == wall.OnProcessor || s.State == wall.Runnable
	if running {
		place = cell{thread: i, state: wall.Unseen}
	} else {
		at = cell{thread: i}
	}
	at.lock, at.detail = 0, 0
	onProcessor, waiting := at, at
	onProcessor.state, waiting.state = wall.OnProcessor, wall.Runnable
	some := counted(onProcessor, ran)
	some = counted(waiting, runnable) || some
	some = counted(place, blocked) || some
	if some {
		f.addSpan(to, i, spanOf(place, part, ran, runnable, blocked))
	}
}

// spanOf returns the Span for a part of a spell. Its state is the one that took most of the time.
func spanOf(place cell, part capture.Span, ran, runnable, blocked int64) Span {
	s := Span{Span: part, State: wall.OnProcessor}
	switch {
	case blocked >= ran && blocked >= runnable:
		s.State, s.Stack, s.Lock, s.Detail = place.state, place.stack, place.lock, place.detail
	case runnable > ran:
		s.State = wall.Runnable
	}
	return s
}

// bump adds n ns to a cell.
func (x *Counter) bump(to *trial, at cell, n int64) {
	if _, known := to.cells[at]; !known {
		if x.cells >= maxCells && (at.stack != 0 || at.lock != 0 || at.detail != 0) {
			x.full += n
			at.stack, at.lock, at.detail = 0, 0, 0
		}
		x.cells++
	}
	to.cells[at] += n
	to.account.Profiled += n
}

// dropStacks removes the stacks from everything that was read from the file so far, because their numbers would refer
// to the stacks of the next file.
func (f *file) dropStacks() {
	for i := range f.threads {
		if f.threads[i].pid == f.pid {
			f.threads[i].last.stack = 0
		}
	}
	for i := range f.virtual {
		if f.virtual[i].pid == f.pid {
			f.virtual[i].stack = 0
		}
	}
	for i := range f.locks[f.firstLock:] {
		f.locks[f.firstLock+i].Taken = 0
	}
	for _, t := range f.trials {
		for at, n := range t.cells {
			if f.threads[at.thread].pid != f.pid || at.stack == 0 {
				continue
			}
			delete(t.cells, at)
			at.stack = 0
			t.cells[at] += n
		}
		for i, list := range t.spans {
			for k := range list {
				if f.threads[i].pid == f.pid {
					list[k].Stack = 0
				}
			}
		}
	}
}
