package stack

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A libraryKey identifies a mapped file.
type libraryKey struct {
	path         string
	major, minor uint32
	inode        uint64
	pid          int // only for a file without an inode: each process may have mapped a different one
}

// A library is a mapped file with its call frame information.
type library struct {
	table     *cfi.Table // nil if the file has none, or could not be read
	attempts  int        // number of processes through which gasm has tried to read it
	tried     int        // process id of the last attempt
	segments  native.Segments
	sigreturn uint64   // address of sigreturn; 0 if this library does not have it
	reading   *reading // nil if it is not being read
}

// settled reports whether another attempt to read the library through this process is useless.
func (l *library) settled(pid int) bool {
	return l.table != nil || l.reading == nil && (l.attempts >= mostAttempts || l.tried == pid)
}

// A reading is an attempt to read a library in another goroutine.
type reading struct {
	began time.Time
	done  chan content
}

// A content holds what was read from a library.
type content struct {
	table     *cfi.Table
	segments  native.Segments
	sigreturn uint64
	err       error
}

const (
	// mostWaiting limits the total time for which the walks of a process wait for libraries to be read. Reading usually
	// takes milliseconds. But a file system may not answer, and meanwhile all other samples and the end of the
	// recording have to wait. After mostWaiting, walks do not wait any more: they fail if they need a library that has
	// not been read yet.
	mostWaiting = time.Second
	// mostLibraries is the maximum number of libraries that are read.
	mostLibraries = 1 << 10
	// mostAttempts limits the number of attempts to read the same file. gasm opens a file through a process that has
	// mapped it. This process may end first, so each attempt uses another process than the one before.
	mostAttempts = 64
	// mostReadings limits how many libraries of a process are read at the same time. If the file system of the process
	// does not answer, each of these reads blocks a goroutine.
	mostReadings = 3
	// mostTables limits the size of all tables together, in bytes. The table of libjvm.so has 8 MB.
	mostTables = 256 << 20
)

// library returns the library of a mapping. The first call for a file reads the file.
func (w *Walker) library(j *jvm, m *native.Mapping, mappings *native.Resolver) *library {
	key := libraryKey{path: m.Path, major: m.DevMajor, minor: m.DevMinor, inode: m.Inode}
	switch {
	case m.Path == native.VDSO:
		key.inode = m.Hi - m.Lo // a vDSO has no inode, and a kernel has several vDSOs, of different sizes
	case m.Inode == 0:
		key.pid = m.PID
	}
	l := w.libraries[key]
	switch {
	case l == nil && len(w.libraries) >= mostLibraries:
		return &library{attempts: mostAttempts}
	case l == nil:
		l = &library{}
		w.libraries[key] = l
	case l.settled(m.PID):
		return l
	}
	if l.reading != nil {
		select {
		case c := <-l.reading.done:
			w.take(l, c)
			return l
		default:
			if l.tried == m.PID || time.Since(l.reading.began) < mostWaiting {
				return l
			}
		}
	}
	if l.attempts < mostAttempts && l.tried != m.PID && w.tables <= mostTables && j.readings.Load() < mostReadings {
		l.attempts++
		l.tried = m.PID
		w.read(l, j, *m, mappings.Opener(*m))
	}
	return l
}

// read starts a goroutine that reads a library. It waits for the result until GiveUp is called, or until the walks of
// the process have waited for mostWaiting in total. After that, the goroutine continues alone.
func (w *Walker) read(l *library, j *jvm, m native.Mapping, open func() (*os.File, error)) {
	r := &reading{time.Now(), make(chan content, 1)}
	l.reading = r
	running := j.readings
	running.Add(1)
	go func() {
		defer running.Add(-1)
		var c content
		w.elsewhere.During(func() { c = readLibrary(&m, open) })
		r.done <- c
	}()
	timer := time.NewTimer(mostWaiting - j.waited)
	defer timer.Stop()
	select {
	case c := <-r.done:
		w.take(l, c)
	case <-timer.C:
	case <-w.givenUp:
	}
	took := time.Since(r.began)
	j.waited += took
	w.walk.until = w.walk.until.Add(took)
}

// take stores what was read from a library.
func (w *Walker) take(l *library, c content) {
	l.reading = nil
	switch {
	case c.err == nil:
		l.table, l.segments, l.sigreturn = c.table, c.segments, c.sigreturn
		w.tables += l.table.Size()
	case errors.Is(c.err, cfi.ErrNone):
		l.attempts = mostAttempts // the file is the same for all processes
		l.segments, l.sigreturn = c.segments, c.sigreturn
	}
}

// readLibrary reads the call frame information of a mapped file.
func readLibrary(m *native.Mapping, open func() (*os.File, error)) content {
	var in io.ReaderAt
	var signal uint64
	if m.Path == native.VDSO {
		data, err := native.ReadVDSO(m)
		if err != nil {
			return content{err: err}
		}
		in, signal = bytes.NewReader(data), findSigreturn(data)
	} else {
		file, err := open()
		if err != nil {
			return content{err: err}
		}
		defer file.Close()
		in = file
	}
	f, err := native.NewELF(in)
	if err != nil {
		return content{err: err}
	}
	table, err := cfi.Open(f)
	return content{table, native.LoadSegments(f), signal, err}
}

// unwindLibrary finds the caller of a native function.
func (k *walk) unwindLibrary(m *mapped) step {
	l := m.library
	at := k.lookup()
	address, ok := l.segments.Address(at - m.Lo + m.FileOffset)
	switch {
	case ok && k.processor == arm64 && l.inSigreturn(address+k.at.PC-at):
		return k.unwindSignal()
	case l.table == nil || !ok:
		return k.unwindNameless()
	}
	result, _ := l.table.Unwind(address+k.at.PC-at, k.exact, &k.at, k.dump)
	switch result {
	case cfi.Caller, cfi.Interrupted:
		k.exact = result == cfi.Interrupted
		k.at.PC &= k.mask
		k.trueReturn()
		return found
	case cfi.Bottom:
		return bottom
	case cfi.Cut:
		return cut
	case cfi.NoFunction:
		return k.unwindNameless()
	}
	return failed
}

// unwindNameless finds the caller of a function without call frame information, such as HotSpot's functions in
// assembler (SpinPause, _Copy_arrayof_conjoint_bytes). Nearly all of these functions have no frame. So if such a
// function is the leaf, the return address is where the call has put it.
func (k *walk) unwindNameless() step {
	pc, sp, ok := k.calledFrom()
	if !k.exact || !ok || !k.isCode(pc) || !k.followsCall(pc) {
		return failed
	}
	k.at.Known &= k.preserved
	k.at.PC, k.exact = pc, false
	k.at.Set(k.sp, sp)
	return found
}

// calledFrom returns the return address of code that has no frame, and the caller's stack pointer.
func (k *walk) calledFrom() (pc, sp uint64, ok bool) {
	sp = k.at.Values[k.sp]
	if k.link >= 0 {
		pc, ok = k.at.Get(k.link)
		return pc & k.mask, sp, ok
	}
	pc, ok = k.dump.Word(sp)
	return pc, sp + 8, ok
}

// isCode reports whether an address is in the code cache or in a mapped file.
func (k *walk) isCode(pc uint64) bool {
	if j := k.jvm; j.openJVM != nil {
		if b, _ := j.view.Cache.At(pc, k.monoNanos); b != nil {
			return true
		}
	}
	_, ok := k.mappings.Mapping(k.pid, pc)
	return ok
}

// followsCall reports whether there is a call instruction right before an address.
func (k *walk) followsCall(pc uint64) bool {
	if k.jvm.openJVM == nil {
		return false
	}
	const before = 7
	vm := k.jvm.view.VM
	b := ask(k, func() []byte {
		b, _ := vm.Read(nil, pc-before, before)
		return b
	})
	return len(b) == before && k.endsWithCall(b)
}
