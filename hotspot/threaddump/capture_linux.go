package threaddump

import (
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

const (
	// maxStack is the maximum number of bytes that are copied from a Java thread's stack. If the stack is larger, its
	// outer frames are missing. HotSpot's stacks have 1 MB by default, and MaxFrames frames fit into half of that.
	maxStack = 512 << 10
	// maxNative is the maximum number of bytes that are copied from the stack of any other thread.
	maxNative = 64 << 10
	// maxAllStacks limits the bytes that are copied from the stacks of all threads together, because all threads of a
	// hostile JVM may have huge stacks. When the limit is reached, at most smallStack bytes are copied from each
	// further stack.
	maxAllStacks = 256 << 20
	smallStack   = 8 << 10
	// attempts is the maximum number of attempts to read a thread that runs in the meantime. attemptPause is the time
	// between two attempts.
	attempts     = 8
	attemptPause = 500 * time.Microsecond
	// captureTime limits the total time for which threads are read again. After that time, each thread is read only
	// once.
	captureTime = 2 * time.Second
	// After runningAttempts attempts, the next one that finds the thread running is the last one. Such a thread is
	// sampled afterwards.
	runningAttempts = 2
	// maxText is how many bytes of a file in /proc are read. A thread with thousands of groups has a long status.
	maxText = 1 << 16
)

// A capture is what was read about one thread at a moment at which it did not run.
type capture struct {
	tid, nid  int
	comm      string // the kernel's name
	call      call
	kernel    Kernel
	known     *Known // nil if the thread is read only for one Dump
	files     *files // its files in /proc; nil if they are opened for each reading
	runs      Runs
	java      uint64        // the address of its JavaThread; 0 if it has none
	object    uint64        // the address of its java.lang.Thread
	fields    []byte        // the beginning of the JavaThread
	wanted    uint64        // the object whose monitor it wants to enter, or 0
	stack     []byte        // from call.sp upwards
	places    []stack.Place // as in the Thread's Frames
	monoNanos int64
	result    Stack // Whole if the field stack is right; otherwise Running, Moved or Unread
}

// A capturer reads threads.
type capturer struct {
	process *foreign.Process
	vm      memory
	layout  *offsets
	began   time.Time
	copied  int // bytes of the stacks copied so far
	// fetch reads in advance the memory that is needed for a thread. It may be nil.
	fetch func(*capture)
}

// memory is the memory of a JVM.
type memory interface {
	Read(buf []byte, addr, size uint64) ([]byte, error)
	Uint64(addr uint64) (uint64, error)
	Uint32(addr uint64) (uint32, error)
}

// capture reads a thread.
func (c *capturer) capture(tid int, java uint64) (t capture) {
	t.tid, t.nid, t.java = tid, tid, java
	t.comm = c.text(&t, "comm")
	for n := range attempts {
		if n > 0 {
			time.Sleep(attemptPause)
		}
		t.result = c.attempt(&t)
		if t.result == Whole || t.result == Unread || t.result == Running && n >= runningAttempts ||
			time.Since(c.began) > captureTime {
			break
		}
	}
	if t.result != Whole {
		t.stack = nil
	}
	c.copied += len(t.stack)
	return t
}

// The type files holds the files of a thread in /proc that are kept open.
type files struct {
	schedstat, syscall *foreign.Text
	buf                [512]byte // large enough for the text of either file
}

// text returns the text of a thread's file in /proc, or "" if it can't be read.
func (c *capturer) text(t *capture, name string) string {
	if t.files != nil && name == "syscall" {
		text, _ := t.files.syscall.Read(t.files.buf[:]) // nil after an error
		return string(text)
	}
	text, err := c.process.Read(fmt.Sprintf("task/%d/%s", t.tid, name), maxText)
	if err != nil {
		return ""
	}
	return string(text)
}

// runs returns how often a thread has been scheduled.
func (c *capturer) runs(t *capture) Runs {
	if t.files != nil {
		text, _ := t.files.schedstat.Read(t.files.buf[:]) // nil after an error
		return parseSchedstat(text)
	}
	r := parseSchedstat([]byte(c.text(t, "schedstat")))
	if r.Known {
		return r
	}
	return parseSwitches(c.text(t, "status"))
}

// runsBefore returns how often a thread had been scheduled before this attempt to read it. It uses the last result of
// Ask or Told, if there is one. It does no harm if that result is old, because only its Count is compared with that of
// a later reading.
func (c *capturer) runsBefore(t *capture) Runs {
	if t.known != nil && t.known.asked.Known {
		runs := t.known.asked
		t.known.asked = Runs{}
		return runs
	}
	return c.runs(t)
}

// attempt reads a thread once.
func (c *capturer) attempt(t *capture) Stack {
	before := c.runsBefore(t)
	text := c.text(t, "syscall")
	if text == "" || !before.Known {
		return Unread
	}
	t.runs = before
	t.call = parseCall(text)
	if !t.call.known {
		t.kernel = Kernel{State: OnProcessor}
		return Running
	}
	if t.files == nil || t.call.number < 0 { // in a system call, Looker.State is used instead
		t.kernel = Kernel{State: stateOf(foreign.StateIn(c.text(t, "stat")))}
	}
	t.monoNanos = monotonic.Nanos()
	if c.fetch != nil {
		c.fetch(t)
	}
	if !c.copyStack(t) {
		return Unread
	}
	if t.files != nil { // the caller checks whether the thread has run meanwhile
		return Whole
	}
	if again := c.text(t, "syscall"); again != text || c.runs(t).Count != before.Count {
		return Moved
	}
	return Whole
}

// copyStack copies the thread's stack and the beginning of its JavaThread.
func (c *capturer) copyStack(t *capture) (ok bool) {
	most := uint64(maxNative)
	if t.java != 0 {
		var err error
		if t.fields, err = c.vm.Read(t.fields, t.java, c.layout.javaThread); err != nil {
			return false
		}
		if base := c.layout.stackBase.In(t.fields); base > t.call.sp {
			most = min(base-t.call.sp, maxStack)
		}
	} else if t.known != nil && t.known.top > t.call.sp {
		most = min(most, t.known.top-t.call.sp)
	}
	if c.copied >= maxAllStacks {
		most = min(most, smallStack)
	}
	// If the stack is smaller, a binary search finds the largest size that can be read.
	var err error
	if t.stack, err = c.vm.Read(t.stack[:0], t.call.sp, most); err == nil {
		return true
	}
	ok = false
	size := uint64(0)
	for step := most / 2; step >= 64; step /= 2 {
		if data, err := c.vm.Read(nil, t.call.sp, size+step); err == nil {
			t.stack, size, ok = data, size+step, true
		}
	}
	return ok
}

// anchor returns the registers that a Java thread stored when it left Java code. ok is false if it stored none.
func (c *capturer) anchor(t *capture) (pc, sp, fp uint64, ok bool) {
	if t.java == 0 {
		return 0, 0, 0, false
	}
	word := func(at uint64) uint64 { return le64(t.fields, at) }
	sp, pc = word(c.layout.sp), word(c.layout.pc)
	if c.layout.fp != 0 {
		fp = word(c.layout.fp)
	}
	if sp < t.call.sp || sp-t.call.sp >= uint64(len(t.stack)) {
		return 0, 0, 0, false
	}
	if pc == 0 && sp-t.call.sp >= 8 { // JavaFrameAnchor::make_walkable
		pc = le64(t.stack, sp-t.call.sp-8)
	}
	return pc, sp, fp, pc != 0
}
