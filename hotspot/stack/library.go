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

// A libraryKey tells one mapped file from another.
type libraryKey struct {
	path         string
	major, minor uint32
	inode        uint64
	pid          int // for a file without an inode, which may be another one in each process
}

// A library is a mapped file with its call frame information.
type library struct {
	table    *cfi.Table // nil if the file has none, or could not be read
	attempts int        // by how many processes it was tried to be read
	tried    int        // the last one of them
	segments native.Segments
	reading  chan *library // has the library, or nil, when it was read after all; nil if nobody reads it
}

// settled reports whether a process will not get to know more about the library.
func (l *library) settled(pid int) bool {
	return l.table != nil || l.attempts >= mostAttempts || l.tried == pid
}

const (
	// openTime is how long a walk waits until a library is opened and read. libjvm.so takes 30 ms.
	openTime = time.Second
	// mostLibraries is the maximum number of libraries that are read.
	mostLibraries = 1 << 10
	// mostAttempts is the number of processes for which a file is tried to be read. The first ones may have ended.
	mostAttempts = 64
	// mostLate is how often reading a process's libraries may exceed openTime. After that no more are read: the file
	// system of the process may be one that does not answer. For latePause after that, nobody waits for one.
	mostLate, latePause = 3, 5 * time.Second
	// mostTables limits the size of all tables together, in bytes. That of libjvm.so has 8 MB.
	mostTables = 256 << 20
)

// library returns the library of a mapping. It reads the file when it sees it for the first time.
func (w *Walker) library(j *jvm, m *native.Mapping, mappings *native.Resolver) *library {
	key := libraryKey{path: m.Path, major: m.DevMajor, minor: m.DevMinor, inode: m.Inode}
	switch {
	case m.Path == native.VDSO:
		key.inode = m.Hi - m.Lo // the kernel has one for each kind of process
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
	if l.reading == nil {
		if j.late >= mostLate || time.Now().Before(j.lateUntil) || w.tables > mostTables {
			return l
		}
		l.attempts++
		l.tried = m.PID
		l.begin(*m, mappings.Opener(*m))
	}
	read, ok := l.await(j)
	if !ok {
		l.tried = 0 // it may still come
		return l
	}
	l.reading = nil
	if read.table == nil {
		l.attempts = max(l.attempts, read.attempts)
		return l
	}
	w.libraries[key] = read
	w.tables += read.table.Size()
	return read
}

// begin begins to read the library. The result is sent to l.reading. It has no table if the file can't be read.
func (l *library) begin(m native.Mapping, open func() (*os.File, error)) {
	reading := make(chan *library, 1)
	l.reading = reading
	go func() {
		read, err := readLibrary(&m, open)
		if err != nil {
			read = &library{}
			if errors.Is(err, cfi.ErrNone) {
				read.attempts = mostAttempts // other processes can't read more of it
			}
		}
		reading <- read
	}()
}

// await waits for a library that is being read. It does not wait longer than openTime, and not at all if another library
// of the process was late, or after GiveUp.
func (l *library) await(j *jvm) (read *library, ok bool) {
	select {
	case read = <-l.reading:
		return read, true
	default:
	}
	if time.Now().Before(j.lateUntil) {
		return nil, false
	}
	timer := time.NewTimer(openTime)
	defer timer.Stop()
	select {
	case read = <-l.reading:
		return read, true
	case <-timer.C:
		j.late++
		j.lateUntil = time.Now().Add(latePause)
	case <-j.givenUp:
	}
	return nil, false
}

// readLibrary reads the call frame information of a mapped file.
func readLibrary(m *native.Mapping, open func() (*os.File, error)) (*library, error) {
	var in io.ReaderAt
	if m.Path == native.VDSO {
		data, err := native.ReadVDSO(m)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(data)
	} else {
		file, err := open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	f, err := native.NewELF(in)
	if err != nil {
		return nil, err
	}
	table, err := cfi.Open(f)
	if err != nil {
		return nil, err
	}
	return &library{table: table, segments: native.LoadSegments(f)}, nil
}

// unwindLibrary finds the caller of a native function.
func (k *walk) unwindLibrary(m *mapped) step {
	l := m.library
	at := k.lookup()
	address, ok := l.segments.Address(at - m.Lo + m.FileOffset)
	if l.table == nil || !ok {
		return k.unwindNameless()
	}
	result, _ := l.table.Unwind(address+k.at.PC-at, k.exact, &k.at, k.dump)
	switch result {
	case cfi.Caller, cfi.Interrupted:
		k.exact = result == cfi.Interrupted
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

// unwindNameless finds the caller of a function without call frame information. HotSpot's functions in assembler have
// none (SpinPause, _Copy_arrayof_conjoint_bytes). Nearly all of them have no frame, so the return address is on top of
// the stack, if the function is the leaf.
func (k *walk) unwindNameless() step {
	sp := k.at.Values[rsp]
	pc, ok := k.dump.Word(sp)
	if !k.exact || !ok || !k.isCode(pc) || !k.followsCall(pc) {
		return failed
	}
	k.at.Known &= 1<<rbx | 1<<rbp | 1<<r12 | 1<<r13 | 1<<r14 | 1<<r15 // which functions preserve
	k.at.PC, k.exact = pc, false
	k.at.Set(rsp, sp+8)
	return found
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
	if len(b) < before {
		return false
	}
	if b[2] == 0xe8 { // call rel32
		return true
	}
	for n := 2; n <= 7; n++ { // call r/m: FF /2, of 2 to 7 bytes
		if b[7-n] == 0xff && b[8-n]>>3&7 == 2 {
			return true
		}
	}
	return false
}
