package usdt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/native"
)

// lookPause is the time between two looks for events.
const lookPause = 20 * time.Millisecond

// firstNamespace is the inode of the machine's first namespace of processes (PROC_PID_INIT_INO
// in the kernel's include/linux/proc_ns.h).
const firstNamespace = 0xEFFFFFFC

// A Recorder records probes of one JVM.
type Recorder struct {
	b       *bpf
	sink    *sink
	texts   *textCache
	unknown []string
	done    chan struct{}
	err     error // of reading
}

// Start records probes of a JVM, and writes their text.
func Start(pid int, o Options) (*Recorder, error) {
	if err := machine(); err != nil {
		return nil, err
	}
	lib, err := findLibrary(pid)
	if err != nil {
		return nil, err
	}
	probes, err := readLibrary(lib.path)
	if err != nil {
		return nil, err
	}
	chosen, unknown := Select(probes, o.Patterns)
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the JVM has none of the USDT probes %v: `gasm doctor` and docs/usdt-probes.md list them", unknown)
	}
	t, threads, err := targetOf(pid)
	if err != nil {
		return nil, err
	}
	t.libjvmLo, t.libjvmHi = lib.lo, lib.hi
	places, layouts := layOut(chosen)
	r := &Recorder{unknown: unknown, texts: newTextCache(pid), done: make(chan struct{})}
	if r.b, err = load(t, pid, lib.path, places, layouts); err != nil {
		return nil, err
	}
	r.sink = newSink(o.Text, places, layouts)
	r.sink.texts, r.sink.thread, r.sink.placed = r.texts.text, threads, o.Placed
	go r.read()
	return r, nil
}

// read reads events until the recorder is stopped.
func (r *Recorder) read() {
	defer close(r.done)
	var rec ringbuf.Record
	for {
		r.b.ring.SetDeadline(time.Now().Add(lookPause))
		err := r.b.ring.ReadInto(&rec)
		for err == nil {
			r.sink.take(rec.RawSample)
			err = r.b.ring.ReadInto(&rec)
		}
		r.sink.flush()
		r.texts.age(time.Now())
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			if !errors.Is(err, ringbuf.ErrFlushed) {
				r.err = err
			}
			return
		}
	}
}

// Stop ends the recording, and gives what it has found.
func (r *Recorder) Stop() Result {
	// The kernel takes the program off one place after another. Until it is done, some probes
	// are recorded and others are not.
	r.sink.until.Store(monotonic())
	r.b.detach()
	if err := r.b.ring.Flush(); err != nil {
		r.b.ring.Close()
	}
	<-r.done
	lost := r.b.lostEvents()
	r.b.close()
	r.sink.end(r.sink.until.Load(), lost)
	err := r.err
	if r.sink.err != nil {
		err = r.sink.err
	}
	return Result{Events: r.sink.events, Lost: lost + r.sink.full, Unknown: r.unknown, Note: r.b.note, Err: err}
}

func monotonic() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0 // every kernel has it
	}
	return uint64(now.Nano())
}

// A library is the libjvm.so of a process.
type library struct {
	path   string // that leads there from this process
	lo, hi uint64 // where its code is in the process
}

var errGone = errors.New("it had ended before its probes were set")

// findLibrary finds the libjvm.so that a process has mapped.
func findLibrary(pid int) (lib library, err error) {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	if err != nil {
		return lib, err
	}
	defer f.Close()
	mappings, err := native.ParseMaps(f, pid)
	if err != nil {
		return lib, err
	}
	if len(mappings) == 0 {
		return lib, errGone
	}
	for i := range mappings {
		m := &mappings[i]
		if filepath.Base(m.Path) != "libjvm.so" {
			continue
		}
		path := filepath.Join("/proc", strconv.Itoa(pid), "root", m.Path)
		opened, _, err := native.OpenMapped(path, m)
		if m.Deleted || err != nil {
			return lib, fmt.Errorf("%s is not the file that the JVM runs: %w", m.Path, errors.Join(err, errors.New("has the JDK been replaced? restart the JVM")))
		}
		opened.Close()
		if lib.path == "" {
			lib = library{path, m.Lo, m.Hi}
		}
		lib.lo, lib.hi = min(lib.lo, m.Lo), max(lib.hi, m.Hi)
	}
	if lib.path == "" {
		return lib, fmt.Errorf("process %d has no libjvm.so mapped", pid)
	}
	return lib, nil
}

// readLibrary reads the probes of a library.
func readLibrary(path string) ([]Probe, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	probes, err := Probes(f)
	if err != nil && !errors.Is(err, ErrNone) {
		err = fmt.Errorf("reading the USDT probes of %s: %w", path, err)
	}
	return probes, err
}

// targetOf finds out how the kernel names a process and its threads to a program.
func targetOf(pid int) (t target, threads func(own int) int, err error) {
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	var its, ours unix.Stat_t
	if err := unix.Stat(filepath.Join(folder, "ns/pid"), &its); err != nil {
		return t, nil, fmt.Errorf("the namespace of process %d: %w", pid, err)
	}
	if err := unix.Stat("/proc/self/ns/pid", &ours); err != nil {
		return t, nil, fmt.Errorf("gasm's own namespace: %w", err)
	}
	same := func(own int) int { return own }
	switch {
	case ours.Ino == firstNamespace:
		return target{pid: int32(pid)}, same, nil // all processes have an id here
	case ours.Ino == its.Ino && ours.Dev == its.Dev:
		threads, t.pid = same, int32(pid)
	default:
		own, err := ownID(folder)
		if err != nil {
			return t, nil, err
		}
		threads, t.pid = (&threadIDs{pid: pid, known: map[int]int{}}).of, int32(own)
	}
	// As the kernel has it inside (MKDEV), not as stat gives it.
	t.device, t.inode = uint64(unix.Major(its.Dev))<<20|uint64(unix.Minor(its.Dev)), its.Ino
	return t, threads, nil
}
