package attach

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
)

// listTime limits the time for looking at all processes of the machine. A hostile process can block a read of its
// memory for ever, for example if the memory is mapped from a file system that never answers.
const listTime = 6 * time.Second

// List returns the running JVMs that this process can see, by ascending process id. A process that could not be
// looked at within listTime is included if its name is java.
func List(ctx context.Context) ([]Process, error) { return list(ctx, look) }

// list calls look(ctx, pid) for each process, and returns the JVMs found.
func list(ctx context.Context, look func(context.Context, int) (*Process, error)) ([]Process, error) {
	jvms, hanging, err := foreign.Each(listTime, func(pid int) (*Process, bool) {
		j, err := look(ctx, pid)
		return j, err == nil
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for JVMs: %w", err)
	}
	found := []Process{}
	for _, j := range jvms {
		found = append(found, *j)
	}
	for _, pid := range hanging {
		if j := silent(pid); j != nil {
			found = append(found, *j)
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// silent describes a process that could not be looked at in time. It returns nil if the process's name is not java,
// because then nothing indicates that the process is a JVM.
func silent(pid int) *Process {
	p, err := foreign.Open(pid)
	if err != nil {
		return nil
	}
	defer p.Close()
	status, err := p.Status()
	if err != nil || status.Name != "java" {
		return nil
	}
	return &Process{PID: pid, Kind: HotSpot, User: userName(status.UID), Unreadable: errSilent}
}

var errSilent = errors.New(
	"the kernel does not answer: its memory may be mapped from a file system that does not answer")

// lookTime limits the time for looking at one process.
const lookTime = 8 * time.Second

// Look returns what can be found out about a process. It returns an error if the process does not exist, is
// not a JVM, or can't be looked at.
func Look(ctx context.Context, pid int) (*Process, error) {
	j, err := foreign.Within(ctx, lookTime, func() (*Process, error) { return look(ctx, pid) })
	if errors.Is(err, foreign.ErrLate) {
		err = fmt.Errorf("process %d can't be looked at: %w", pid, errSilent)
	}
	return j, err
}

func look(ctx context.Context, pid int) (*Process, error) {
	opened, err := foreign.Open(pid)
	if errors.Is(err, foreign.ErrEnded) {
		return nil, fmt.Errorf("%w: `gasm attach` lists the JVMs that run", err)
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	p := process{opened}
	status, err := p.Status()
	if err != nil {
		return nil, err
	}
	if status.State == 'Z' {
		return nil, fmt.Errorf("process %d has ended", pid)
	}
	mappings, mapsErr := native.ReadMaps(pid)
	if errors.Is(mapsErr, foreign.ErrLate) { // the mappings are incomplete, so libjvm.so may only seem to be missing
		return nil, fmt.Errorf("process %d can't be looked at: its mappings: %w", pid, mapsErr)
	}
	hidden := errors.Is(mapsErr, fs.ErrPermission)
	j := &Process{PID: pid, User: userName(status.UID), OfOther: !p.Trusted(),
		StartMonoNanos: p.startMonoNanos()}
	if j.Kind, err = p.kind(ctx, status, mappings, hidden); err != nil {
		return nil, err
	}
	home := ""
	if libjvm := slices.IndexFunc(mappings, isLibJVM); libjvm >= 0 {
		home = homeOf(mappings[libjvm].Path)
	}
	p.describe(ctx, j, status, home)
	switch {
	case j.Kind == OpenJ9:
		j.Unreadable = errors.New("it runs OpenJ9, and gasm can read the code of HotSpot only")
	case j.Kind == NativeImage:
		j.Unreadable = fmt.Errorf("it is a native image of GraalVM, which compiles nothing while it runs: "+
			"a profiler of native programs shows its code (perf record -p %d)", pid)
	case hidden:
		j.Unreadable = whyHidden(pid, status.UID)
	default:
		j.Unreadable = p.tryMemory(mappings, status.UID)
	}
	return j, nil
}

// kind returns which kind of JVM the process runs. The parameter hidden is true if the process's mappings could not be
// read. kind returns an error if the process is not a JVM, if it is an emulator that runs a JVM for another processor,
// or if gasm can't find out what it is.
func (p process) kind(ctx context.Context, status foreign.Status, mappings []native.Mapping,
	hidden bool) (Kind, error) {
	hasLibJVM := slices.ContainsFunc(mappings, isLibJVM)
	switch {
	case hidden && (status.Name == "java" || p.hasPerfData(ctx, status) && p.HasThread("VM Thread")):
		return HotSpot, nil
	case hasLibJVM && slices.ContainsFunc(mappings, isJ9):
		return OpenJ9, nil
	case hasLibJVM:
		return HotSpot, nil
	case p.isNativeImage():
		return NativeImage, nil
	case hidden:
		return "", fmt.Errorf("process %d (%s) can't be looked into: %w", p.PID(), status.Name,
			whyHidden(p.PID(), status.UID))
	case p.isEmulated():
		return "", fmt.Errorf("process %d (%s) runs a JVM of another processor in an emulator: "+
			"its addresses are not those of this processor, so there is nothing to sample: "+
			"run gasm and the JVM on such a machine", p.PID(), status.Name)
	}
	return "", fmt.Errorf("process %d (%s) is not a JVM: it has not loaded libjvm.so", p.PID(), status.Name)
}

// isLibJVM reports whether a mapping is of libjvm.so. Both HotSpot and OpenJ9 have a library of this name.
func isLibJVM(m native.Mapping) bool { return filepath.Base(m.Path) == "libjvm.so" }

// isJ9 reports whether a mapping is of OpenJ9's library: libj9vm29.so.
func isJ9(m native.Mapping) bool { return strings.HasPrefix(filepath.Base(m.Path), "libj9vm") }

// homeOf returns the folder of the JDK that a libjvm.so belongs to. The library is in lib/server in JDK 9
// and newer, and in jre/lib/amd64/server in JDK 8.
func homeOf(libjvm string) string {
	lib := filepath.Dir(filepath.Dir(libjvm))
	if filepath.Base(lib) != "lib" {
		lib = filepath.Dir(lib)
	}
	home := filepath.Dir(lib)
	if filepath.Base(home) == "jre" {
		home = filepath.Dir(home)
	}
	return home
}

// The type process wraps a process that gasm examines because it may run a JVM.
type process struct{ *foreign.Process }

// maxText limits the number of bytes that are read from a command line or an environment, because the kernel has no
// limit.
const maxText = 1 << 20

// text returns the text of one of the process's files in /proc, such as "cmdline". It returns "" if that fails.
func (p process) text(name string) string {
	text, _ := p.Read(name, maxText)
	return string(text)
}

// startMonoNanos returns when the process started, or 0 if that can't be found out. The kernel reports the start on
// CLOCK_BOOTTIME, which also counts the time during which the machine sleeps. So the start is converted to
// CLOCK_MONOTONIC.
func (p process) startMonoNanos() int64 {
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return startMonoNanos(stat)
}

// startMonoNanos converts a process's start time to CLOCK_MONOTONIC, in ns.
func startMonoNanos(stat foreign.Stat) int64 {
	var boot unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return int64(stat.StartTicks)*10_000_000 - (boot.Nano() - monotonic.Nanos())
}

// describe fills in j's Command, Main, ClassPath and Version, as far as they can be found out. home is the JDK's
// folder in the JVM's file system. It is "" if unknown.
func (p process) describe(ctx context.Context, j *Process, status foreign.Status, home string) {
	files := p.enter(ctx, status)
	defer files.close()
	strs := files.perfData()
	j.Command = strs["sun.rt.javaCommand"]
	j.Main = mainOf(j.Command)
	words := strings.Split(strings.TrimRight(p.text("cmdline"), "\x00"), "\x00")
	// HotSpot truncates the property java.class.path to a kilobyte, so the command line takes precedence.
	j.ClassPath = p.absolute(cmp.Or(classPathOfArguments(words), p.environment("CLASSPATH"),
		strs["java.property.java.class.path"]))
	j.Version = strs["java.property.java.vm.version"]
	// In JDK 8, java.vm.version is HotSpot's own version, such as 25.504-b01, so java.version is used instead.
	if old := strs["java.property.java.version"]; strings.HasPrefix(old, "1.") {
		j.Version = old
	}
	if j.Kind == NativeImage { // its command line has no class
		j.Main = cmp.Or(j.Main, status.Name)
	}
	if j.Main == "" {
		j.Main = mainOfArguments(words)
	}
	if j.Version == "" && home != "" {
		j.Version = files.version(home)
	}
}

// environment returns the value that an environment variable had when the process started, or "" if
// the variable was not set.
func (p process) environment(variable string) string {
	for entry := range strings.SplitSeq(p.text("environ"), "\x00") { // only root and the process's user can read it
		if value, ok := strings.CutPrefix(entry, variable+"="); ok {
			return value
		}
	}
	return ""
}

// absolute makes the paths of a list absolute. Relative paths are relative to the process's working folder.
func (p process) absolute(list string) string {
	folder, err := p.Readlink("cwd")
	if list == "" || err != nil {
		return list
	}
	paths := filepath.SplitList(list)
	for i, path := range paths {
		if !filepath.IsAbs(path) { // an empty path is the working folder itself
			paths[i] = filepath.Join(folder, path)
		}
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}

// isEmulated reports whether the process is an emulator that runs a JVM.
func (p process) isEmulated() bool {
	program, err := p.Readlink("exe")
	return err == nil && isEmulator(filepath.Base(program)) && p.hasAsData("libjvm.so")
}

// isEmulator reports whether a program, such as "qemu-aarch64-static", runs programs built for
// other processors.
func isEmulator(program string) bool {
	return strings.HasPrefix(program, "qemu-") || strings.HasPrefix(program, "FEX") || program == "box64"
}

// maxMaps limits the number of bytes that are read from the list of a process's mappings. By default the kernel allows
// a process 65 530 mappings (vm.max_map_count).
const maxMaps = 1 << 24

// hasAsData reports whether the process has mapped a library, even if the mapping is not executable. An emulator
// maps code for other processors as data.
func (p process) hasAsData(library string) bool {
	text, _ := p.Read("maps", maxMaps)
	for line := range bytes.Lines(text) {
		if bytes.HasSuffix(bytes.TrimSpace(line), []byte("/"+library)) {
			return true
		}
	}
	return false
}

// isNativeImage reports whether the process's program was made by GraalVM's native-image.
func (p process) isNativeImage() bool {
	program, err := p.Program()
	if err != nil {
		return false
	}
	defer program.Close()
	file, err := native.NewELF(program)
	return err == nil && file.Section(".svm_heap") != nil
}
