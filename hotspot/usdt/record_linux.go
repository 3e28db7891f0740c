package usdt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// firstNamespace is the inode of the machine's first namespace of processes (PROC_PID_INIT_INO
// in the kernel's include/linux/proc_ns.h).
const firstNamespace = 0xEFFFFFFC

// Start begins to record probes of a JVM. It writes the text to o.Text. The recording goes on until
// [Recorder.Stop]. If DTrace does the recording, it is killed when ctx is done.
func Start(ctx context.Context, pid int, o Options) (*Recorder, error) {
	if err := machine(); err != nil {
		return nil, err
	}
	lib, err := findLibrary(pid)
	if err != nil {
		return nil, err
	}
	defer lib.close()
	probes, err := readLibrary(lib.file, "libjvm.so")
	if err != nil {
		return nil, err
	}
	chosen, unknown := Select(probes, o.Patterns)
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the JVM has none of the USDT probes %v: `gasm doctor` and docs/usdt-probes.md list them",
			unknown)
	}
	r := &Recorder{unknown: unknown}
	if err := r.open(ctx, pid, lib, chosen, o); err != nil {
		return nil, err
	}
	return r.begin(), nil
}

// tryBPF and tryUprobes are false in tests of what happens when the kernel refuses BPF or perf's
// uprobes.
var tryBPF, tryUprobes = true, true

// open sets the probes. It tries BPF first. If the kernel refuses that, it tries perf's events, and
// then DTrace.
func (r *Recorder) open(ctx context.Context, pid int, lib library, chosen []Probe, o Options) error {
	if o.DTrace {
		return r.recordByDTrace(ctx, pid, lib, chosen, o, "")
	}
	err := r.recordByKernel(pid, lib, chosen, o)
	refused := (*RefusedError)(nil)
	if !errors.As(err, &refused) {
		return err
	}
	if failed := r.recordByDTrace(ctx, pid, lib, chosen, o, refused.Cause); failed != nil {
		return withDTrace(refused, failed)
	}
	return nil
}

// withDTrace returns the refusal with the reason why DTrace could not be used either. If DTrace is not installed, it
// returns the refusal as it is.
func withDTrace(refused *RefusedError, failed error) *RefusedError {
	if missing := (*failure.MissingToolError)(nil); errors.As(failed, &missing) {
		return refused
	}
	return &RefusedError{refused.Cause + "; nor by DTrace (" + failure.WithoutTool(failed) + ")", refused.Mend}
}

// recordByKernel sets the probes by BPF or, if the kernel refuses that, by perf's uprobes.
func (r *Recorder) recordByKernel(pid int, lib library, chosen []Probe, o Options) error {
	t, threads, err := targetOf(pid)
	if err != nil {
		return err
	}
	t.libjvmLo, t.libjvmHi, t.signature = lib.lo, lib.hi, lib.signature
	places, layouts := layOut(chosen)
	b, err := load(t, pid, lib.path, places, layouts)
	r.from = b
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		places, layouts = layOut(sampled(chosen))
		threads = func(own int) int { return own } // perf's records have the thread ids of gasm's own namespace
		r.from, err = openUprobes(pid, lib, places, layouts, refused)
	}
	if err != nil {
		return err
	}
	process, err := foreign.Open(pid)
	if err != nil {
		r.from.close()
		return err
	}
	texts := newTextCache(process)
	r.close = process.Close
	r.age = func() { texts.age(time.Now()) }
	r.sink = newSink(o.Text, places, layouts)
	r.sink.texts, r.sink.thread, r.sink.placed, r.sink.signature = texts.text, threads, o.Placed, lib.signature
	return nil
}

var errGone = errors.New("it had ended before its probes were set")

// findLibrary finds the libjvm.so that a process has mapped, and opens it. The caller closes the
// file when the probes are set. The kernel gets the library's path as /proc/self/fd/N, with the
// number of this open file. Any other path is not safe, because the process could make it lead to a
// different file.
func findLibrary(pid int) (lib library, err error) {
	mappings, err := native.ReadMaps(pid)
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
		if lib.file == nil {
			lib = library{lo: m.Lo, hi: m.Hi}
			if lib.file, _, err = native.OpenMapped(m); err != nil || m.Deleted {
				lib.close()
				return lib, fmt.Errorf("%s is not the file that the JVM runs: %w", m.Path,
					errors.Join(err, errors.New("has the JDK been replaced? restart the JVM")))
			}
			lib.path = fmt.Sprintf("/proc/self/fd/%d", lib.file.Fd())
		}
		lib.lo, lib.hi = min(lib.lo, m.Lo), max(lib.hi, m.Hi)
	}
	if lib.file == nil {
		return lib, fmt.Errorf("process %d has no libjvm.so mapped", pid)
	}
	if lib.signature, err = native.SignatureBits(pid); err != nil {
		lib.close()
	}
	return lib, err
}

// readLibrary reads the probes of a library. name is the library's name in errors.
func readLibrary(file io.ReaderAt, name string) ([]Probe, error) {
	probes, err := Probes(file)
	if err != nil && !errors.Is(err, ErrNone) {
		err = fmt.Errorf("reading the USDT probes of %s: %w", name, err)
	}
	return probes, err
}

// targetOf describes a process in such a way that a BPF program can recognize it. The function
// threads converts a thread id that the BPF program sees to the id that gasm sees.
func targetOf(pid int) (t target, threads func(own int) int, err error) {
	p, err := foreign.Open(pid)
	if err != nil {
		return t, nil, err
	}
	defer p.Close()
	its, err := p.Namespace("pid")
	if err != nil {
		return t, nil, fmt.Errorf("the namespace of process %d: %w", pid, err)
	}
	var ours unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &ours); err != nil {
		return t, nil, fmt.Errorf("gasm's own namespace: %w", err)
	}
	same := func(own int) int { return own }
	switch {
	case ours.Ino == firstNamespace:
		return target{pid: int32(pid)}, same, nil // all processes of the machine have an id in this namespace
	case ours.Ino == its.Ino && ours.Dev == its.Dev:
		threads, t.pid = same, int32(pid)
	default:
		status, err := p.Status()
		if err != nil {
			return t, nil, err
		}
		threads, t.pid = (&threadIDs{pid: pid, known: map[int]int{}}).of, int32(status.OwnPID)
	}
	// The BPF helper compares the device in the kernel's internal form (MKDEV), which is not the
	// form that stat returns.
	t.device, t.inode = uint64(unix.Major(its.Dev))<<20|uint64(unix.Minor(its.Dev)), its.Ino
	return t, threads, nil
}
