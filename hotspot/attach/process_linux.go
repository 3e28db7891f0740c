package attach

import (
	"bufio"
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
)

// List finds the JVMs that run, and that this process can see, by ascending process id.
func List() ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for JVMs: %w", err)
	}
	found := []Process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if j, err := Look(pid); err == nil {
			found = append(found, *j)
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// Look looks at one process. The error is of one that is no JVM, or not there.
func Look(pid int) (*Process, error) {
	p := process(pid)
	status, err := p.status()
	if err != nil {
		return nil, err
	}
	if status.state == "Z" {
		return nil, fmt.Errorf("process %d has ended", pid)
	}
	mappings, mapsErr := native.ReadMaps(pid)
	libjvm := slices.IndexFunc(mappings, func(m native.Mapping) bool { return filepath.Base(m.Path) == "libjvm.so" })
	hidden := errors.Is(mapsErr, fs.ErrPermission)
	j := &Process{PID: pid, Kind: HotSpot, User: userName(status.uid), StartMonoNanos: p.startMonoNanos()}
	switch {
	case hidden && (status.name == "java" || p.hasPerfData(status)):
	case libjvm >= 0 && slices.ContainsFunc(mappings, isJ9):
		j.Kind = OpenJ9
	case libjvm >= 0:
	case p.isNativeImage():
		j.Kind = NativeImage
	case hidden:
		return nil, fmt.Errorf("process %d (%s) can't be looked into: %w", pid, status.name, whyHidden(pid, status.uid))
	case p.isEmulated():
		return nil, fmt.Errorf("process %d (%s) runs a JVM of another processor in an emulator: its addresses are not those of this processor, "+
			"so there is nothing to sample: run gasm and the JVM on such a machine", pid, status.name)
	default:
		return nil, fmt.Errorf("process %d (%s) is no JVM: it has not loaded libjvm.so", pid, status.name)
	}
	home := ""
	if libjvm >= 0 {
		home = p.inRoot(homeOf(mappings[libjvm].Path))
	}
	p.describe(j, status, home)
	switch {
	case j.Kind == OpenJ9:
		j.Unreadable = errors.New("it is an OpenJ9, and gasm knows how HotSpot keeps its code, and no other JVM")
	case j.Kind == NativeImage:
		j.Unreadable = fmt.Errorf("it is a native image of GraalVM, which compiles nothing while it runs: "+
			"a profiler of native programs shows its code (perf record -p %d)", pid)
	case hidden:
		j.Unreadable = whyHidden(pid, status.uid)
	default:
		if err := tryMemory(pid, mappings[libjvm].Lo); err != nil {
			j.Unreadable = whyRefused(err, status.uid)
		}
	}
	return j, nil
}

// isJ9 tells the library of OpenJ9: libj9vm29.so.
func isJ9(m native.Mapping) bool { return strings.HasPrefix(filepath.Base(m.Path), "libj9vm") }

// homeOf gives the JDK's folder of a libjvm.so: in lib/server since JDK 9, before that in
// jre/lib/amd64/server.
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

// A process is looked at by its id.
type process int

// path is that of a file of the process in /proc.
func (p process) path(name string) string { return filepath.Join("/proc", strconv.Itoa(int(p)), name) }

// inRoot is a path as the process has it, which may be of another mount namespace or root.
func (p process) inRoot(path string) string { return p.path("root") + path }

// read reads a file of the process in /proc, at most a megabyte of it: a command line has no
// limit.
func (p process) read(name string) ([]byte, error) {
	f, err := os.Open(p.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// processStatus is what is used of /proc/PID/status.
type processStatus struct {
	name, state string
	uid         int // the effective one
	ownPID      int // in the innermost PID namespace that the process is in
}

// status reads that. Everyone can, unless /proc is mounted with hidepid.
func (p process) status() (s processStatus, err error) {
	text, err := p.read("status")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return s, fmt.Errorf("no process has the id %d: `gasm attach` lists the JVMs that run", p)
	}
	if err != nil {
		return s, fmt.Errorf("looking at process %d: %w", p, err)
	}
	s.ownPID = int(p)
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "Name":
			s.name = strings.TrimSpace(value)
		case "State":
			s.state = fields[0]
		case "Uid":
			if len(fields) > 1 {
				s.uid, _ = strconv.Atoi(fields[1]) // the kernel writes numbers
			}
		case "NSpid":
			s.ownPID, _ = strconv.Atoi(fields[len(fields)-1])
		}
	}
	return s, nil
}

// startMonoNanos is when the process started. /proc/PID/stat has it in hundredths of a second
// since the machine's start, by the clock that goes on while the machine sleeps.
func (p process) startMonoNanos() int64 {
	text, _ := p.read("stat") // one that has ended started long ago
	// The second field is the name in parentheses, which may hold anything. The start is the 22nd.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return 0
	}
	ticks, _ := strconv.ParseInt(fields[19], 10, 64)
	var boot unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return ticks*10_000_000 - (boot.Nano() - monotonic.Nanos())
}

// describe finds out what the JVM runs, and its version.
func (p process) describe(j *Process, status processStatus, home string) {
	strs := p.perfData(status)
	j.Command = strs["sun.rt.javaCommand"]
	j.Main = mainOf(j.Command)
	text, _ := p.read("cmdline") // one that has ended has none
	words := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	// HotSpot keeps no more than a kilobyte of the property, so that the command line comes first.
	j.ClassPath = p.absolute(cmp.Or(classPathOfArguments(words), p.environment("CLASSPATH"), strs["java.property.java.class.path"]))
	j.Version = strs["java.property.java.vm.version"]
	// JDK 8 has a version of HotSpot's own there: 25.504-b01.
	if old := strs["java.property.java.version"]; strings.HasPrefix(old, "1.") {
		j.Version = old
	}
	if j.Kind == NativeImage { // whose command line has no class
		j.Main = cmp.Or(j.Main, status.name)
	}
	if j.Main == "" {
		j.Main = mainOfArguments(words)
	}
	if j.Version == "" && home != "" {
		j.Version = jdk.Version(home)
	}
}

// environment gives the value of a variable of the process, as it was at its start.
func (p process) environment(variable string) string {
	text, _ := p.read("environ") // only the process's user can read it
	for entry := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(entry, variable+"="); ok {
			return value
		}
	}
	return ""
}

// absolute makes the paths of a list absolute, which are relative to the process's folder.
func (p process) absolute(list string) string {
	folder, err := os.Readlink(p.path("cwd"))
	if list == "" || err != nil {
		return list
	}
	paths := filepath.SplitList(list)
	for i, path := range paths {
		if !filepath.IsAbs(path) { // an empty one is the folder itself
			paths[i] = filepath.Join(folder, path)
		}
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}

// isEmulated tells whether the process is an emulator that runs a JVM.
func (p process) isEmulated() bool {
	program, err := os.Readlink(p.path("exe"))
	return err == nil && isEmulator(filepath.Base(program)) && p.hasAsData("libjvm.so")
}

// isEmulator knows the programs that run those of other processors: "qemu-aarch64-static".
func isEmulator(program string) bool {
	return strings.HasPrefix(program, "qemu-") || strings.HasPrefix(program, "FEX") || program == "box64"
}

// hasAsData tells whether the process has mapped a library, executable or not. An emulator has the
// code of others as data.
func (p process) hasAsData(library string) bool {
	text, err := os.Open(p.path("maps"))
	if err != nil {
		return false
	}
	defer text.Close()
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), "/"+library) {
			return true
		}
	}
	return false
}

// isNativeImage tells whether the process's program was made by GraalVM's native-image.
func (p process) isNativeImage() bool {
	program, err := elf.Open(p.path("exe")) // the kernel has mapped it, so it is a file
	if err != nil {
		return false
	}
	defer program.Close()
	return program.Section(".svm_heap") != nil
}
