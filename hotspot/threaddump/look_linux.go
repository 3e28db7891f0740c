package threaddump

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Looker looks at single threads of a running JVM, again and again. Between looks it keeps a thread's files in /proc
// open, and it does not walk a stack again that has not changed. Only one goroutine may use a Looker.
//
//	l, err := threaddump.NewLooker(jvms, pid)
//	err = l.ReadJavaThreads()
//	t, err := l.Meet(tid)
//	runs, err := l.Runs(t) // one system call
//	look := l.Look(t)
type Looker struct {
	looker
	java   map[int]uint64 // the addresses of the JavaThreads, by thread id in the JVM's own PID namespace
	owners owners
	main   *foreign.Text // the file stat of the first thread
	free   int           // the number of further threads whose files may be kept open
	seed   maphash.Seed
	buf    capture // reused, for its memory
}

// A Known is a thread that a Looker knows.
type Known struct {
	TID, NID int    // as in a Thread
	Java     uint64 // the address of its JavaThread; 0 if it has none
	ID       int64  // Thread.getId; 0 if it is not a Java thread
	Name     string // as in a Thread
	files    *files // nil if they are opened for each reading
	hash     uint64 // of its stack at the last look; 0 if there was none
}

// A Look says what a thread did at one moment.
type Look struct {
	Stack Stack // Whole, Partly, Running, Moved or Unread. The fields after MonoNanos are only set for Whole and Partly.
	// Runs was read at MonoNanos. Unless Stack is Running, Moved or Unread, the thread did not run between the first
	// reading and MonoNanos.
	Runs      Runs
	MonoNanos int64
	Kernel    Kernel
	JavaState string // as in a JavaThread
	// Lock is the lock that the thread waits for, or nil. Its field Owner is not set. The Owner of this Look is the
	// address of the JavaThread that has the lock; 0 if it is unknown.
	Lock    *Lock
	Owner   uint64
	Virtual *Virtual
	// Same is true if the stack is the same as at the last Look with a stack. Frames is nil then.
	Same   bool
	Frames []callstack.Frame // innermost first; a mark stands for missing frames
}

// NewLooker returns a Looker for the JVM with the process id pid. The caller must close it. If the JVM can't be read,
// the error says why.
func NewLooker(jvms *shared.JVMs, pid int) (*Looker, error) {
	l, err := newLooker(jvms, pid)
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
	return &Looker{looker: *l, java: map[int]uint64{}, main: main, free: mostOpen(), seed: maphash.MakeSeed()}, nil
}

// mostOpen returns the number of threads whose files may be kept open. Their files, two for each thread, may be half of
// the files that this process can open.
func mostOpen() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur/4, MaxThreads))
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

// Stopped reports whether the JVM was stopped by a signal. It reads the stat of the first thread, because for the stat
// of the process, the kernel would add up numbers of all threads.
func (l *Looker) Stopped() bool {
	var buf [1024]byte
	text, err := l.main.Read(buf[:])
	return err == nil && stateOf(foreign.StateIn(string(text))) == Stopped
}

// ReadJavaThreads reads the list of the Java threads. Meet and Renew use the last list that was read.
func (l *Looker) ReadJavaThreads() error {
	addresses, err := l.names.Addresses()
	if err != nil {
		return fmt.Errorf("reading the JVM's list of threads: %w", err)
	}
	l.java = make(map[int]uint64, len(addresses))
	before := l.owners.java
	l.owners.java, l.owners.byID, l.owners.stacks = make(map[uint64]owner, len(addresses)), map[int64]uint64{}, nil
	for _, at := range addresses {
		o, known := before[at]
		if !known {
			if o, err = l.newOwner(at); err != nil {
				continue // it is starting or ending
			}
		}
		l.java[o.nid] = at
		l.owners.add(at, o)
	}
	l.owners.sort()
	return nil
}

// errNotCounted is the error of Meet if the kernel does not count how often threads run.
var errNotCounted = errors.New("the kernel does not say how often threads have run (/proc/PID/task/TID/schedstat): it was built without CONFIG_SCHED_INFO")

// Meet returns what is known of a thread of the JVM. It opens the thread's files. The caller must call Forget.
func (l *Looker) Meet(tid int) (t *Known, err error) {
	t = &Known{TID: tid}
	if l.free > 0 {
		if t.files, err = l.openFiles(tid); err != nil {
			return nil, err
		}
		l.free--
	}
	if t.NID, err = l.ownID(tid); err != nil {
		l.Forget(t)
		return nil, err
	}
	if r, err := l.Runs(t); err != nil || !r.Known {
		l.Forget(t)
		return nil, cmp.Or(err, errNotCounted)
	}
	l.Renew(t)
	return t, nil
}

func (l *Looker) openFiles(tid int) (f *files, err error) {
	f = &files{}
	process := l.capturer.process
	if f.schedstat, err = process.OpenText(tid, "schedstat"); err != nil {
		return nil, err
	}
	if f.syscall, err = process.OpenText(tid, "syscall"); err != nil {
		f.schedstat.Close()
		return nil, err
	}
	return f, nil
}

// Renew reads again which name a thread has, and whether it is a Java thread. Both can change soon after its start.
func (l *Looker) Renew(t *Known) {
	t.Java, t.ID = 0, 0
	if at := l.java[t.NID]; at != 0 && l.isOf(at, t) {
		t.Java = at
		if object, err := l.names.Object(at); err == nil {
			t.ID = l.readThread(object).ID
			if name, err := l.names.Name(object); err == nil && name != "" {
				t.Name = name
				return
			}
		}
	}
	c := capture{tid: t.TID}
	if name := strings.TrimSuffix(l.text(&c, "comm"), "\n"); name != "" {
		t.Name = name
	}
}

// isOf reports whether the JavaThread at an address belongs to thread t. After a thread has ended, another one may use
// the memory.
func (l *Looker) isOf(java uint64, t *Known) bool {
	tid, err := l.names.TID(java)
	return err == nil && tid == t.NID
}

// Forget closes a thread's files, and forgets its JavaThread, whose memory another thread may use later.
func (l *Looker) Forget(t *Known) {
	delete(l.owners.java, t.Java)
	if t.files != nil {
		t.files.schedstat.Close()
		t.files.syscall.Close()
		l.free++
	}
}

// Runs returns how often and how long a thread has run. If the thread's files are open, this is one system call.
func (l *Looker) Runs(t *Known) (Runs, error) {
	if t.files == nil {
		c := capture{tid: t.TID}
		if r := l.runs(&c); r.Known {
			return r, nil
		}
		return Runs{}, ErrEnded
	}
	text, err := t.files.schedstat.Read(t.files.buf[:])
	return parseSchedstat(text), err
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

// lookAttempts is the maximum number of attempts to read a thread that runs in the meantime. A thread that is switched
// a hundred thousand times a second runs during each of them.
const lookAttempts = 3

// Look looks at a thread. The result shows a single moment: after everything was read, the thread had still not run.
func (l *Looker) Look(t *Known) (k Look) {
	for range lookAttempts {
		if k = l.look(t); k.Stack != Moved {
			break
		}
	}
	return k
}

// capture begins to capture a thread.
func (l *Looker) capture(t *Known) *capture {
	if t.Java != 0 && !l.isOf(t.Java, t) {
		t.Java = 0
	}
	l.buf = capture{tid: t.TID, nid: t.NID, java: t.Java, files: t.files, stack: l.buf.stack, fields: l.buf.fields}
	l.buf.result = l.attempt(&l.buf)
	return &l.buf
}

func (l *Looker) look(t *Known) (k Look) {
	c := l.capture(t)
	k = Look{Stack: c.result, Runs: c.runs, MonoNanos: monotonic.Nanos()}
	if k.Stack != Whole {
		return k
	}
	k.Kernel = c.kernel
	k.Kernel.Call, k.Kernel.On = l.descriptors.describe(&c.call)
	if c.java != 0 {
		l.lookAtJava(c, &k)
	}
	kernel := l.kernelFrames(c)
	// What was read counts only if the thread has not run in the meantime.
	k.MonoNanos = monotonic.Nanos()
	now, err := l.Runs(t)
	if err != nil {
		return Look{Stack: Unread}
	}
	if now.Count != c.runs.Count {
		return Look{Stack: Moved, Runs: now, MonoNanos: k.MonoNanos}
	}
	k.Runs = now
	l.addFrames(t, c, kernel, &k)
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
		k.Lock, k.Owner = &lock.Lock, l.owner(&lock)
	}
	if at := l.capturer.layout.vthread; at.Size > 0 || at.At > 0 {
		k.Virtual = l.readVirtual(le64(c.fields, at.At), c.object, l.names)
	}
}

// kernelFrames returns the kernel's frames of a thread that is blocked, but not in a system call. They show why it is
// blocked. The result is empty if the kernel does not show them.
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

// addFrames walks the thread's stack, unless it is the same as at the last look.
func (l *Looker) addFrames(t *Known, c *capture, kernel []callstack.Frame, k *Look) {
	hash := l.hash(c)
	if hash == t.hash && kernel == nil {
		k.Same = true
		return
	}
	places, cut := l.walk(c)
	if cut {
		k.Stack = Partly
	}
	k.Frames = kernel
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
	var h maphash.Hash
	h.SetSeed(l.seed)
	pc, sp, fp, ok := l.anchor(c)
	maphash.WriteComparable(&h, [...]uint64{uint64(c.call.number), c.call.sp, c.call.pc, pc, sp, fp,
		uint64(le32(c.fields, l.capturer.layout.state.At))})
	if ok {
		h.WriteByte(1)
	}
	h.Write(c.stack)
	return max(h.Sum64(), 1)
}

// Taken returns the frames of a thread from the one that holds the monitor of an object outwards. It returns nil if no
// frame holds it, or if the thread runs.
func (l *Looker) Taken(t *Known, object uint64) (frames []callstack.Frame) {
	c := l.capture(t)
	if c.result != Whole || c.java == 0 {
		return nil
	}
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
