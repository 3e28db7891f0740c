package native

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/lines"
)

// VDSO is the path and the module name of the vDSO, which is code that the kernel maps into each process. It is not in
// a file.
const VDSO = "[vdso]"

// A Mapping is a range of a process's memory. Usually it is a part of a file that the process has mapped as executable.
type Mapping struct {
	PID        int
	Lo, Hi     uint64 // [Lo, Hi)
	FileOffset uint64 // offset in the file of the byte at Lo
	Path       string // "/usr/lib/jvm/…/libjvm.so", VDSO; or "", "[heap]", "/memfd:x" and so on if there is no file

	// The device and the inode of the file, as in the kernel's maps. They are all 0 if they are unknown. gasm compares
	// them with those of the file that is now at the path, to find out whether it is still the same file. On some file
	// systems, stat returns different numbers for the same file; see the package comment.
	DevMajor, DevMinor uint32
	Inode              uint64

	// Deleted is true if the kernel says that the file is no longer at this path.
	Deleted bool
}

// file reports whether the mapping can have symbols: only mappings of files and of the vDSO have any.
func (m *Mapping) file() bool {
	if m.Path == VDSO {
		return true
	}
	if !strings.HasPrefix(m.Path, "/") {
		return false
	}
	for _, start := range memory {
		if strings.HasPrefix(m.Path, start) {
			return false
		}
	}
	return true
}

// module returns the base name of the file.
func (m *Mapping) module() string {
	return m.Path[strings.LastIndexByte(m.Path, '/')+1:]
}

// memory has the prefixes of paths in the kernel's maps that stand for memory and not for files. JITs execute code in
// memfds and in shared memory.
var memory = []string{"//anon", "/anon_hugepage", "/dev/zero", "/SYSV", "/memfd:"}

// A SyntaxError is the error for a line that could not be parsed.
type SyntaxError = lines.SyntaxError

// ParseMaps parses the text of a /proc/PID/maps. It returns the executable mappings of files and of the vDSO. The text
// may come from another machine, so ParseMaps works on every system.
//
// ParseMaps skips lines that can't be parsed. It then returns the mappings of all other lines, and a [*SyntaxError] for
// the first bad line. If r returns an error, ParseMaps returns the mappings that it has read so far, and an error that
// wraps the error of r.
func ParseMaps(r io.Reader, pid int) ([]Mapping, error) {
	var mappings []Mapping
	err := scanMaps(r, nameOfMaps(pid), func(m Mapping, executable bool) {
		if executable && m.file() {
			m.PID = pid
			mappings = append(mappings, m)
		}
	})
	return mappings, err
}

// nameOfMaps returns the path of the file with a process's mappings. It is used in messages only.
func nameOfMaps(pid int) string { return fmt.Sprintf("/proc/%d/maps", pid) }

// scanMaps parses the text of a /proc/PID/maps, and calls each(m, executable) with the mapping m of each line. It skips
// bad lines, and returns a *SyntaxError for the first of them. The parameter name is the name of the text in errors.
func scanMaps(r io.Reader, name string, each func(m Mapping, executable bool)) error {
	var bad error
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20) // the kernel writes no line that is longer than a page
	number := 0
	for in.Scan() {
		number++
		if in.Text() == "" {
			continue
		}
		m, executable, msg := parseMapping(in.Text())
		if msg == "" {
			each(m, executable)
		} else if bad == nil {
			bad = &SyntaxError{File: name, Line: number, Msg: msg}
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("reading %s after line %d: %w", name, number, err)
	}
	return bad
}

// parseMapping parses a line:
//
//	7f4027ac7000-7f4027c1d000 r-xp 00026000 fe:00 326269                     /usr/lib/x86_64-linux-gnu/libc.so.6
//
// The path may contain blanks. Anonymous memory has no path. If something is wrong with the line, msg says what.
// Otherwise it is "".
func parseMapping(line string) (m Mapping, executable bool, msg string) {
	addresses, rest, _ := strings.Cut(line, " ")
	permissions, rest, _ := strings.Cut(rest, " ")
	offset, rest, _ := strings.Cut(rest, " ")
	device, rest, _ := strings.Cut(rest, " ")
	inode, path, _ := strings.Cut(rest, " ")

	lo, hi, _ := strings.Cut(addresses, "-")
	major, minor, _ := strings.Cut(device, ":")
	devMajor, err1 := strconv.ParseUint(major, 16, 32)
	devMinor, err2 := strconv.ParseUint(minor, 16, 32)
	var err3, err4, err5, err6 error
	m.Lo, err3 = strconv.ParseUint(lo, 16, 64)
	m.Hi, err4 = strconv.ParseUint(hi, 16, 64)
	m.FileOffset, err5 = strconv.ParseUint(offset, 16, 64)
	m.Inode, err6 = strconv.ParseUint(inode, 10, 64)
	m.DevMajor, m.DevMinor = uint32(devMajor), uint32(devMinor)
	switch {
	case err3 != nil || err4 != nil || m.Lo >= m.Hi:
		return Mapping{}, false, "bad address range " + lines.Quote(addresses)
	case len(permissions) != 4:
		return Mapping{}, false, "bad permissions " + lines.Quote(permissions)
	case err5 != nil:
		return Mapping{}, false, "bad offset " + lines.Quote(offset)
	case err1 != nil || err2 != nil:
		return Mapping{}, false, "bad device " + lines.Quote(device)
	case err6 != nil:
		return Mapping{}, false, "bad inode " + lines.Quote(inode)
	}
	path = strings.TrimLeft(path, " ")
	path, m.Deleted = strings.CutSuffix(path, " (deleted)")
	m.Path = strings.ReplaceAll(path, `\012`, "\n")
	return m, permissions[2] == 'x', ""
}
