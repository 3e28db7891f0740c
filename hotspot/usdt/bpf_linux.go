package usdt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// A bpf is a BPF program that is attached to the probed places of one JVM. The kernel keeps the
// program only as long as gasm's file descriptors are open. So nothing is left behind, even if gasm
// is killed.
type bpf struct {
	program  *ebpf.Program
	links    []link.Link
	ring     *ring
	oneByOne int // the number of places, if they had to be attached one by one; otherwise 0
}

// Allowed returns nil if this process may record probes. Otherwise the error says why not. Allowed
// finds out by trying: it sets the probes of the libjvm.so at path, but only for this process, and
// removes them again. If the kernel refuses, Allowed tries to start DTrace. DTrace is killed when
// ctx is done. With an empty path, Allowed only tries to load a BPF program.
//
// The note is like [Result].Note: it is "" if the best way to record is possible, and otherwise
// says what is different.
func Allowed(ctx context.Context, path string) (note string, err error) {
	if err := machine(); err != nil {
		return "", err
	}
	t := target{pid: int32(os.Getpid())}
	if path == "" {
		_, layouts := layOut([]Probe{{Provider: usdt.Provider, Name: "gc__end"}})
		b := &bpf{}
		defer b.close()
		if b.ring, err = newRing(someSlots, layouts); err == nil {
			b.program, err = b.newProgram(t, layouts, ebpf.AttachNone)
		}
		return "", refused(err)
	}
	file, _, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	found, err := readLibrary(file, path)
	if err != nil {
		return "", err
	}
	probes, _ := Select(found, []string{usdt.Provider + ":*", usdt.PrivateProvider + ":*"})
	places, layouts := layOut(probes)
	b, err := load(t, os.Getpid(), path, places, layouts)
	if err == nil {
		b.close()
		return b.note(), nil
	}
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		places, layouts = layOut(sampled(probes[:1])) // only one probe, because perf sets it in all JVMs
		u, err := openUprobes(os.Getpid(), library{path: path}, places, layouts, refused)
		if err == nil {
			u.close()
			return u.note(), nil
		}
		if !errors.As(err, &refused) {
			return "", err
		}
		note, failed := allowedByDTrace(ctx, refused.Cause)
		if failed != nil {
			return "", withDTrace(refused, failed)
		}
		return note, nil
	}
	return "", err
}

// load loads the program and attaches it to the places in the library, only for the process pid.
func load(t target, pid int, library string, places []place, layouts []layout) (b *bpf, err error) {
	if !tryBPF {
		return nil, refused(unix.EPERM)
	}
	b = &bpf{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	slots := someSlots
	if slices.ContainsFunc(places, func(p place) bool { return p.isFrequent() }) {
		slots = manySlots
	}
	if b.ring, err = newRing(slots, layouts); err == nil {
		err = b.attach(t, pid, library, places, layouts)
	}
	return b, refused(err)
}

// attach attaches the program to the places: to all at once if the kernel can do that (Linux 6.6),
// otherwise one by one.
func (b *bpf) attach(t target, pid int, library string, places []place, layouts []layout) (err error) {
	lib, err := link.OpenExecutable(library)
	if err != nil {
		return err
	}
	if allAtOnce {
		if err = b.attachAll(lib, t, pid, places, layouts); !errors.Is(err, ebpf.ErrNotSupported) {
			return err
		}
	}
	return b.attachEach(lib, t, pid, places, layouts)
}

// allAtOnce is false in a test that attaches the program to one place after another, as gasm does
// on kernels before 6.6.
var allAtOnce = true

func (b *bpf) attachAll(lib *link.Executable, t target, pid int, places []place, layouts []layout) (err error) {
	if b.program, err = b.newProgram(t, layouts, ebpf.AttachTraceUprobeMulti); err != nil {
		return err
	}
	o := link.UprobeMultiOptions{PID: uint32(pid)}
	if ofFirstThread() {
		o.PID = 0 // no filter in the kernel: the program itself checks which process has reached the probe
	}
	for i := range places {
		o.Addresses = append(o.Addresses, places[i].Offset)
		o.Cookies = append(o.Cookies, places[i].cookie(i))
	}
	l, err := lib.UprobeMulti(nil, b.program, &o)
	if err != nil {
		b.program.Close()
		b.program = nil
		return err
	}
	b.links = []link.Link{l}
	return nil
}

// ofFirstThread reports whether this kernel has a bug: if several uprobes are set at once for a
// process, only the first thread of the process is recorded. It was fixed in Linux 6.10 (commit
// 46ba0e49b642).
func ofFirstThread() bool {
	var name syscall.Utsname
	if err := syscall.Uname(&name); err != nil {
		return false
	}
	release := make([]byte, 0, len(name.Release))
	for _, c := range name.Release {
		release = append(release, byte(c))
	}
	var major, minor int
	_, err := fmt.Sscanf(string(release), "%d.%d", &major, &minor)
	return err == nil && (major < 6 || major == 6 && minor < 10)
}

// attachEach attaches the program to the places one by one. Each place gets a perf event of its
// own.
func (b *bpf) attachEach(lib *link.Executable, t target, pid int, places []place, layouts []layout) (err error) {
	if b.program, err = b.newProgram(t, layouts, ebpf.AttachNone); err != nil {
		return err
	}
	for i := range places {
		l, err := lib.Uprobe("", b.program, &link.UprobeOptions{Address: places[i].Offset, PID: pid,
			Cookie: places[i].cookie(i)})
		if err != nil {
			return fmt.Errorf("%s: %w", places[i].name, err)
		}
		b.links = append(b.links, l)
	}
	b.oneByOne = len(places)
	return nil
}

func (b *bpf) newProgram(t target, layouts []layout, as ebpf.AttachType) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{Name: "gasm_usdt", Type: ebpf.Kprobe, AttachType: as,
		// Kernels since 5.0 ignore this version. But if it is 0, cilium/ebpf finds out the kernel's
		// version by reading /proc/self/mem, which a program with file capabilities may not read.
		KernelVersion: 1,
		// Only a program whose license is compatible with the kernel's may read memory and stacks.
		License: "Dual BSD/GPL", Instructions: program(t, layouts, b.ring)})
}

func (b *bpf) read(_ bool, give func(record []byte)) { b.ring.read(give) }

func (b *bpf) lost() int64 { return b.ring.lost() }

func (b *bpf) note() string {
	if b.oneByOne == 0 {
		return ""
	}
	return fmt.Sprintf("this kernel sets USDT probes one by one (Linux 6.6 and newer at once): %d of them", b.oneByOne)
}

// detach removes the program from all places. No event is recorded after that.
func (b *bpf) detach() error {
	for _, l := range b.links {
		l.Close()
	}
	b.links = nil
	return nil
}

func (b *bpf) close() {
	_ = b.detach() // the error is always nil
	if b.program != nil {
		b.program.Close()
	}
	if b.ring != nil {
		b.ring.close()
	}
}

// refused explains an error that the kernel returned. If the kernel does not allow or support the
// program, the result is a *RefusedError. If the process has ended, the result is errGone. If err
// is nil, so is the result.
func refused(err error) error {
	var number syscall.Errno
	switch errors.As(err, &number); {
	case err == nil:
		return nil
	case number == syscall.EPERM, number == syscall.EACCES:
		return &RefusedError{"the kernel lets this user have no BPF program (" + number.Error() + ")",
			"run gasm as root, or give it the capabilities BPF and PERFMON (sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep gasm)"}
	case number == syscall.ENOSYS, errors.Is(err, ebpf.ErrNotSupported):
		return &RefusedError{Cause: "this kernel has no BPF programs at USDT probes; Linux 5.15 (aarch64: 5.18) and newer have them, with CONFIG_BPF_SYSCALL and CONFIG_UPROBE_EVENTS"}
	case number == syscall.ESRCH, errors.Is(err, os.ErrNotExist):
		return errGone
	}
	return fmt.Errorf("setting USDT probes: %w", err)
}

// machine returns an error if gasm can't assemble the program for this processor. The program reads
// registers, and gasm knows only those of x86-64 and aarch64.
func machine() error {
	if !slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH) {
		return fmt.Errorf("gasm does not know the registers of %s", runtime.GOARCH)
	}
	return nil
}
