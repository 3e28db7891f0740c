package printassembly

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// A Log is an open log with its index. Its methods may be called by several goroutines at once.
type Log struct {
	*Index
	name string
	file io.ReaderAt
	arch disasm.Arch
}

// Open opens and indexes the log in the file at path. The caller must close the Log.
func Open(path string) (*Log, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the assembly log: %w", err)
	}
	l, err := NewLog(f, size, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// NewLog indexes the log of the given size in r. The caller must not close r before the last call of [Log.Code] or
// [Log.DebugInfo]. The name is used in messages only.
func NewLog(r io.ReaderAt, size int64, name string) (*Log, error) {
	idx, err := readIndex(r, size, name)
	if err != nil {
		return nil, err
	}
	return &Log{Index: idx, name: name, file: r, arch: idx.arch()}, nil
}

// Name returns the file's name as it was given to Open or NewLog.
func (l *Log) Name() string { return l.name }

// Close closes the underlying file, if there is one to close.
func (l *Log) Close() error {
	if c, ok := l.file.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// oldHotSpot matches the version of JDK 8's HotSpot, which has its own numbering: "25.504-b01".
var oldHotSpot = regexp.MustCompile(`^25\.[0-9]+-b[0-9]+`)

// Version returns the JDK's version. Usually that is VMVersion. But the HotSpot of JDK 8 calls itself "25.504-b01",
// which looks like JDK 25. So for JDK 8, Version returns the JRE's version in VMInfo: "1.8.0_504".
func (h *Header) Version() string {
	if !oldHotSpot.MatchString(h.VMVersion) {
		return h.VMVersion
	}
	_, jre, ok := strings.Cut(h.VMInfo, " JRE (1.8.")
	if !ok {
		return "1.8.0"
	}
	jre, _, _ = strings.Cut(jre, ")")
	jre, _, _ = strings.Cut(jre, "-")
	return "1.8." + jre
}

// arch returns the instruction set of the hexadecimal code. The text of <info> names it: "… for linux-amd64 JRE (…".
// Logs without a header are assumed to be from x86-64.
func (h *Header) arch() disasm.Arch {
	_, platform, ok := strings.Cut(h.VMInfo, ") for ")
	if !ok {
		return disasm.AMD64
	}
	platform, _, _ = strings.Cut(platform, " ")
	_, cpu, _ := strings.Cut(platform, "-")
	return disasm.ArchOf(cpu)
}
