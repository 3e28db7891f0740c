package usdt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
)

// lookPause is the time between two looks for events.
const lookPause = 20 * time.Millisecond

// firstNamespace is the inode of the machine's first namespace of processes (PROC_PID_INIT_INO
// in the kernel's include/linux/proc_ns.h).
const firstNamespace = 0xEFFFFFFC

// A Recorder records probes of one JVM.
type Recorder struct {
	from    source
	sink    *sink
	texts   *textCache
	unknown []string
	stop    chan struct{} // closed when no more records come
	done    chan struct{} // closed when all were read
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
	r := &Recorder{unknown: unknown, texts: newTextCache(pid), stop: make(chan struct{}), done: make(chan struct{})}
	if err := r.open(pid, lib, chosen, o); err != nil {
		return nil, err
	}
	go r.read()
	return r, nil
}

// A source has the kernel tell of probes that are reached: [bpf], or [uprobes].
type source interface {
	// read gives the records that have come since the last call, in the order of each thread; with all, also those that
	// others may have to stand in front of. A record is valid until give returns.
	read(all bool, give func(record []byte))
	detach()      // after which no record comes any more
	lost() int64  // events that there was no room for
	note() string // how it differs from what is best; "" for nothing
	close()
}

// tryBPF is false in a test of what is done where BPF is refused.
var tryBPF = true

// open sets the probes: by BPF, or by perf's events where the kernel refuses that.
func (r *Recorder) open(pid int, lib library, chosen []Probe, o Options) error {
	t, threads, err := targetOf(pid)
	if err != nil {
		return err
	}
	t.libjvmLo, t.libjvmHi = lib.lo, lib.hi
	places, layouts := layOut(chosen)
	b, err := load(t, pid, lib.path, places, layouts)
	r.from = b
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		places, layouts = layOut(sampled(chosen))
		threads = func(own int) int { return own } // perf has ids as gasm sees them
		r.from, err = openUprobes(pid, lib, places, layouts, refused)
	}
	if err != nil {
		return err
	}
	r.sink = newSink(o.Text, places, layouts)
	r.sink.texts, r.sink.thread, r.sink.placed = r.texts.text, threads, o.Placed
	return nil
}

// read reads events until the recorder is stopped. Nobody wakes it: that would cost the program more than the event.
func (r *Recorder) read() {
	defer close(r.done)
	look := time.NewTicker(lookPause)
	defer look.Stop()
	for stopped := false; !stopped; {
		select {
		case <-look.C:
		case <-r.stop:
			stopped = true
		}
		r.from.read(stopped, r.sink.take)
		r.sink.flush()
		r.texts.age(time.Now())
	}
}

// Stop ends the recording, and gives what it has found.
func (r *Recorder) Stop() Result {
	// The kernel takes the program off one place after another. Until it is done, some probes
	// are recorded and others are not.
	r.sink.until.Store(uint64(monotonic.Nanos()))
	r.from.detach()
	close(r.stop)
	<-r.done
	lost := r.from.lost()
	r.from.close()
	r.sink.end(r.sink.until.Load(), lost)
	return Result{Events: r.sink.events, Lost: lost + r.sink.full, Unknown: r.unknown, Note: r.from.note(), Err: r.sink.err}
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
