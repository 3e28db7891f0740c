package follow

import (
	"time"

	"github.com/gasm-profiler/gasm/hotspot/threads"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/printassembly"
)

// names reads the names of the JVM's threads for the log. It reads them when the recording begins, from time to time,
// and when it ends. A thread that starts and ends between two of these times has only the name that the kernel keeps
// for it.
type names struct {
	vm      *vmstructs.VM   // nil if this JVM's names can't be read
	reader  *threads.Reader // nil until the names of threads can be read
	written map[int]string  // the names in the log, by the thread ids in the samples
	next    time.Time       // when to read the names again
	pause   time.Duration
	// If the JVM has a PID namespace of its own, process is the JVM, and outside maps its thread ids in that namespace
	// to those in the samples. Otherwise process is nil.
	process *foreign.Process
	outside map[int]int
}

const (
	// The pause between two readings doubles after each reading. It is 2*firstNames after the first reading, and at
	// most lastNames. Reading the names of 100 threads takes half a millisecond.
	firstNames, lastNames = 100 * time.Millisecond, 5 * time.Second
	// namesShare limits readings to 1/namesShare of a CPU. Readings are slow in JVMs with many thousands of threads.
	namesShare = 100
	// mostWritten limits the number of threads whose names are written.
	mostWritten = 1 << 17
)

func newNames(pid int, vm *vmstructs.VM) *names {
	n := &names{written: map[int]string{}, pause: firstNames}
	process, err := foreign.Open(pid)
	if err != nil {
		return n // the JVM has ended
	}
	s, err := process.Status()
	if err != nil {
		process.Close()
		return n // if the PID namespace is unknown, it is unknown which threads have the names
	}
	if s.OwnPID == pid {
		process.Close()
	} else {
		n.process, n.outside = process, map[int]int{}
	}
	n.vm = vm
	return n
}

// close closes n.process, if there is one.
func (n *names) close() {
	if n != nil && n.process != nil {
		n.process.Close()
	}
}

// readNames reads the names of the threads if a reading is due or last is true, and writes new names to the log.
func (f *Follower) readNames(last bool) {
	n := f.names
	if n == nil || n.vm == nil || f.gone || f.paused.Load() {
		return
	}
	began := time.Now()
	if !last && began.Before(n.next) {
		return
	}
	for _, t := range n.read() {
		tid, ok := n.tid(t.TID)
		if ok && n.written[tid] != t.Name && len(n.written) < mostWritten {
			n.written[tid] = t.Name
			f.log.text = printassembly.AppendThreadName(f.log.text, tid, t.Name)
		}
	}
	n.pause = min(2*n.pause, lastNames)
	n.next = began.Add(max(n.pause, namesShare*time.Since(began)))
}

// read returns the threads whose names can be read now. After an error it returns none, and reports show the names that
// the kernel keeps. HotSpot makes its code cache before it loads the class Thread. So if the JVM was still starting,
// the Reader may have to be made later.
func (n *names) read() []threads.Thread {
	if n.reader == nil {
		n.reader, _ = threads.NewReader(n.vm)
	}
	if n.reader == nil {
		return nil
	}
	all, _ := n.reader.Read()
	return all
}

// tid converts a thread's id in the JVM's own PID namespace to its id in the samples.
func (n *names) tid(own int) (tid int, ok bool) {
	if n.process == nil {
		return own, true
	}
	if tid, ok := n.outside[own]; ok {
		return tid, true
	}
	n.outside = map[int]int{}
	for _, tid := range n.process.Threads() {
		if own, err := n.process.OwnTID(tid); err == nil {
			n.outside[own] = tid
		}
	}
	tid, ok = n.outside[own]
	return tid, ok
}
