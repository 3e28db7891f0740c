package threaddump

import (
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Looker looks at single threads of a running JVM, again and again. Between looks it keeps a thread's files in /proc
// open, and it does not walk a stack again that has not changed. Only one goroutine may use a Looker.
//
//	l, err := threaddump.NewLooker(jvms, pid)
//	err = l.ReadJavaThreads()
//	t, runs, err := l.Meet(tid)
//	l.Renew(t)
//	runs, err = l.Ask(t) // one system call
//	l.LookAll([]*Known{t}, func(_ int, look *Look) { … })
type Looker struct {
	looker
	java     map[int]uint64 // the addresses of the JavaThreads, by thread id in the JVM's own PID namespace
	main     *foreign.Text  // the file stat of the first thread
	seed     maphash.Seed
	captures [mostAtOnce]capture // reused, for their memory
	looks    [mostAtOnce]Look
	owning   capture          // a capture of the owner of a lock; its memory is used again
	spans    []vmstructs.Span // used by fetch; its memory is used again
}

// A Known is a thread that a Looker knows.
type Known struct {
	TID, NID int              // as in a Thread
	Java     uint64           // the address of its JavaThread; 0 if it has none
	ID       int64            // Thread.getId; 0 if it is not a Java thread
	Name     string           // as in a Thread
	files    *files           // nil if they are opened for each reading
	asked    Runs             // from Ask or Told, until the next look
	hash     uint64           // hash of the thread's stack at the last look; 0 if there was none
	top      uint64           // the highest address of its stack that can be read, if known; otherwise 0
	spans    []vmstructs.Span // memory of the JVM that the last looks have read, without stacks
}

// A Look says what a thread did at one moment.
type Look struct {
	Stack Stack // Whole, Partly, Running, Moved or Unread. Fields after MonoNanos are set only for Whole and Partly.
	// Runs has the counts at MonoNanos. Unless Stack is Running, Moved or Unread, the thread did not run while gasm
	// read it, up to MonoNanos.
	Runs      Runs
	MonoNanos int64
	Kernel    Kernel
	JavaState string // as in a JavaThread
	// Lock is the lock that the thread waits for, or nil. Lock.Owner is not set. Instead, the field Owner of the Look
	// is the NID of the Java thread that has the lock, or 0 if that is unknown.
	Lock    *Lock
	Owner   int
	Virtual *Virtual
	// Same is true if the stack is the same as at the last Look with a stack. Frames is nil then.
	Same   bool
	Frames []callstack.Frame // innermost first; a mark stands for missing frames
}

// NewLooker returns a Looker for the JVM with the process id pid. The caller must close it. If the JVM can't be read,
// the error says why.
func NewLooker(jvms *shared.JVMs, pid int) (*Looker, error) {
	l, err := newLooker(jvms, pid, true)
	if err != nil {
		return nil, err
	}
	if err := l.readMaps(); err != nil {
		l.close()
		return nil, err
	}
	main, err := l.capturer.process.OpenText(pid, "stat")
	if err != nil {
		l.close()
		return nil, err
	}
	looker := &Looker{looker: *l, java: map[int]uint64{}, main: main, seed: maphash.MakeSeed()}
	looker.owners = newOwners()
	looker.capturer.fetch = looker.fetch
	return looker, nil
}

// Close closes what the Looker has opened, except for the files of threads; see Forget.
func (l *Looker) Close() {
	l.main.Close()
	l.close()
}

// ThreadCount returns the number of the JVM's threads, or an error if the JVM has ended.
func (l *Looker) ThreadCount() (int, error) { return l.capturer.process.ThreadCount() }

// Threads returns the ids of the JVM's threads.
func (l *Looker) Threads() []int { return l.capturer.process.Threads() }

// Elsewhere returns the CPU time that the Looker has used in goroutines other than its caller's.
func (l *Looker) Elsewhere() time.Duration {
	return l.walker.Elsewhere() + l.capturer.process.ReadCPU()
}

// State returns the state of the first thread: Stopped if the JVM was stopped by a signal; Ended after the JVM has
// ended, until its parent has waited for it. It reads the first thread's file stat, because for the file stat of the
// process the kernel would have to add up numbers of all threads.
func (l *Looker) State() State {
	var buf [1024]byte
	text, err := l.main.Read(buf[:])
	if err != nil {
		return Unknown
	}
	return stateOf(foreign.StateIn(string(text)))
}

// ForgetFiles forgets which files the JVM has open, because a descriptor's number may be used for another file later.
func (l *Looker) ForgetFiles() {
	clear(l.descriptors.files)
	if len(l.objects.classes) > maxClasses {
		clear(l.objects.classes)
		clear(l.objects.owners)
	}
}

// maxClasses is the maximum number of class names that are kept.
const maxClasses = 1 << 14

const (
	// lookAttempts is the maximum number of attempts to read a thread that runs in the meantime. A thread that is
	// switched a hundred thousand times a second runs during all of them.
	lookAttempts = 3
	// mostAtOnce is the maximum number of threads that are read before their stacks are walked, and manyBytes is the
	// size of their stacks after which no further thread is read. Threads are read in such groups because gasm then has
	// to read the changes in the JVM's code only once for each group, before the first walk.
	mostAtOnce = 32
	manyBytes  = 1 << 20
	// keptStack is the maximum capacity of a stack's buffer that is kept for the next look.
	keptStack = 64 << 10
)

// LookAll looks at threads. It calls the function each with the index of a thread and its Look. A Look shows a single
// moment: after everything was read, the thread still had not run. The Look is valid until the next call of LookAll.
func (l *Looker) LookAll(threads []*Known, each func(i int, k *Look)) {
	for from := 0; from < len(threads); {
		n, bytes := 0, 0
		for n < mostAtOnce && from+n < len(threads) && bytes < manyBytes {
			c := &l.captures[n]
			l.looks[n] = l.try(threads[from+n], c)
			bytes += len(c.stack)
			n++
		}
		for i := range n {
			c, k := &l.captures[i], &l.looks[i]
			if k.Stack == Whole {
				l.addFrames(threads[from+i], c, k)
			}
			if cap(c.stack) > keptStack {
				c.stack = nil
			}
			each(from+i, k)
		}
		from += n
	}
}

// try reads a thread without its frames. It tries again if the thread runs meanwhile.
func (l *Looker) try(t *Known, c *capture) (k Look) {
	for range lookAttempts {
		if k = l.look(t, c); k.Stack != Moved {
			break
		}
	}
	return k
}

// capture reads a thread. The caller must check afterwards whether the thread has run meanwhile.
func (l *Looker) capture(t *Known, c *capture) {
	*c = capture{tid: t.TID, nid: t.NID, java: t.Java, known: t, files: t.files, stack: c.stack, fields: c.fields}
	c.result = l.attempt(c)
	switch {
	case c.result != Whole:
	case c.java != 0:
		t.top = l.capturer.layout.stackBase.In(c.fields)
	case len(c.stack) < maxNative:
		t.top = c.call.sp + uint64(len(c.stack))
	default:
		t.top = 0 // the top is above what was copied
	}
}

// fetch reads ahead what a look at a thread will probably need: its JavaThread, its stack, and what earlier looks have
// read. It then checks whether the JavaThread still belongs to the thread.
func (l *Looker) fetch(c *capture) {
	t := c.known
	l.ahead.Forget()
	l.spans = append(l.spans[:0], t.spans...)
	if t.Java != 0 {
		l.spans = append(l.spans, vmstructs.Span{Addr: t.Java, Size: uint32(l.capturer.layout.javaThread)})
	}
	if size := t.top - c.call.sp; t.top > c.call.sp && size <= maxStack {
		l.spans = append(l.spans, vmstructs.Span{Addr: c.call.sp, Size: uint32(size)})
	}
	l.ahead.Fetch(l.spans)
	l.ahead.Note()
	if t.Java != 0 && !l.isOf(t.Java, t) {
		t.Java, c.java = 0, 0
	}
}

// mostSpans limits the spans that are read ahead for a thread. When a look has had to read something that was not read
// ahead, learn replaces the thread's spans with those of this look. If the thread had at most mostSpans spans, learn
// keeps them, too. In either case, it keeps at most twice mostSpans spans.
const mostSpans = 12

// learn stores which memory a look has read, so that the next look can read it ahead.
func (l *Looker) learn(t *Known) {
	noted := l.ahead.Noted()
	if !l.ahead.Missed() {
		return
	}
	if len(t.spans) <= mostSpans {
		noted = append(noted, t.spans...)
	}
	noted = vmstructs.Merge(noted)
	t.spans = slices.Clone(noted[:min(len(noted), 2*mostSpans)])
}

func (l *Looker) look(t *Known, c *capture) (k Look) {
	l.capture(t, c)
	k = Look{Stack: c.result, Runs: c.runs, MonoNanos: monotonic.Nanos()}
	if k.Stack != Whole {
		return k
	}
	k.Kernel = c.kernel
	k.Kernel.Call, k.Kernel.On = l.descriptors.describe(&c.call)
	if c.java != 0 {
		l.lookAtJava(c, &k)
	}
	k.Frames = l.kernelFrames(c)
	l.learn(t)
	// What was read is valid only if the thread has not run in the meantime.
	k.MonoNanos = monotonic.Nanos()
	now, err := l.Runs(t)
	if err != nil {
		return Look{Stack: Unread}
	}
	if now.Count != c.runs.Count {
		return Look{Stack: Moved, Runs: now, MonoNanos: k.MonoNanos}
	}
	k.Runs = now
	return k
}

// lookAtJava reads what only Java threads have: their state, and the lock they wait for.
func (l *Looker) lookAtJava(c *capture, k *Look) {
	c.wanted = l.monitorObject(le64(c.fields, l.capturer.layout.pending.At))
	c.object, _ = l.names.Object(c.java) // 0 after an error
	if c.object == 0 {
		return
	}
	k.JavaState = l.readThread(c.object).State
	if lock, ok := l.awaited(c, k.JavaState); ok {
		k.Lock, k.Owner = &lock.Lock, l.ownerNID(l.ownerOf(&lock))
	}
	if at := l.capturer.layout.vthread; at.Size > 0 || at.At > 0 {
		k.Virtual = l.readVirtual(le64(c.fields, at.At), c.object, l.names)
	}
}

// ownerNID returns the NID of the thread to which a JavaThread belongs, or 0. After a thread has ended or was detached
// from the JVM, another thread may use the memory of its JavaThread. ownerNID finds that other thread only after the
// list of Java threads was read again.
func (l *Looker) ownerNID(java uint64) int {
	if java == 0 {
		return 0
	}
	nid, err := l.names.TID(java)
	if err != nil || l.owners.java[java].nid != nid {
		return 0
	}
	return nid
}

// kernelFrames returns the kernel's part of the stack of a thread that is blocked outside of a system call. These
// frames show why it is blocked. The result is empty if the kernel does not show them to gasm.
func (l *Looker) kernelFrames(c *capture) (frames []callstack.Frame) {
	if c.call.number >= 0 {
		return nil
	}
	for line := range strings.Lines(l.text(c, "stack")) { // [<0>] filemap_fault+0x1b1/0x9a0
		_, name, ok := strings.Cut(line, "] ")
		name, _, _ = strings.Cut(strings.TrimSpace(name), "+")
		if !ok || name == "" || len(frames) >= maxKernelFrames {
			break
		}
		f := callstack.At(callstack.Kernel, 0)
		f.Module, f.Name = "kernel", name
		frames = append(frames, f)
	}
	return frames
}

const maxKernelFrames = 64

// addFrames walks the thread's stack, unless it is the same as at the last look. The Look already has the kernel's
// frames.
func (l *Looker) addFrames(t *Known, c *capture, k *Look) {
	kernel := k.Frames
	hash := l.hash(c)
	if hash == t.hash && kernel == nil {
		k.Same = true
		return
	}
	places, cut := l.walk(c)
	if cut {
		k.Stack = Partly
	}
	k.Frames = slices.Grow(kernel, len(places))
	for i := range places {
		if i >= MaxFrames {
			k.Frames = append(k.Frames, callstack.At(callstack.Cut, 0))
			break
		}
		f := places[i].Frame
		f.Name, f.Module = clip(f.Name), clip(f.Module)
		k.Frames = append(k.Frames, f)
	}
	t.hash = hash
	if kernel != nil || cut {
		t.hash = 0 // a library's symbols may not have been read yet
	}
}

// hash returns a hash of everything that determines the stack's frames.
func (l *Looker) hash(c *capture) uint64 {
	type state struct {
		stack                      uint64
		number                     int
		callSP, callPC, pc, sp, fp uint64
		thread                     uint32
		ok                         bool
	}
	s := state{stack: maphash.Bytes(l.seed, c.stack), number: c.call.number, callSP: c.call.sp, callPC: c.call.pc,
		thread: le32(c.fields, l.capturer.layout.state.At)}
	s.pc, s.sp, s.fp, s.ok = l.anchor(c)
	return max(maphash.Comparable(l.seed, s), 1)
}

// Taken returns the part of a thread's stack that begins with the frame that holds the monitor of an object, up to the
// outermost frame. It returns nil if no frame holds it, or if the thread ran during each attempt to read it.
func (l *Looker) Taken(t *Known, object uint64) (frames []callstack.Frame) {
	for range lookAttempts {
		if l.captureOwner(t) {
			return l.holding(object)
		}
	}
	return nil
}

// captureOwner captures a thread that owns a monitor, and reports whether it has not run meanwhile.
func (l *Looker) captureOwner(t *Known) bool {
	c := &l.owning
	t.asked = Runs{} // t may have run since
	l.capture(t, c)
	if c.result != Whole || c.java == 0 {
		return false
	}
	now, err := l.Runs(t)
	return err == nil && now.Count == c.runs.Count
}

// holding returns the part of the captured owner's stack that begins with the frame that holds the monitor of an
// object, up to the outermost frame.
func (l *Looker) holding(object uint64) (frames []callstack.Frame) {
	c := &l.owning
	places, _ := l.walk(c)
	places = places[:min(len(places), MaxFrames)]
	for i := range places {
		p := &places[i]
		if frames == nil && (!p.Kind.Java() || !slices.Contains(l.held(c, p), object)) {
			continue
		}
		frames = append(frames, p.Frame)
	}
	return frames
}

// ErrEnded means that a thread or the JVM has ended.
var ErrEnded = foreign.ErrEnded
