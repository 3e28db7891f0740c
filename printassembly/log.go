package printassembly

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// A Log is an open log with its index. Its methods may be called from several
// goroutines.
type Log struct {
	*Index
	name string
	file io.ReaderAt
	arch disasm.Arch
}

// Open opens and indexes the log in a file. The caller closes it.
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

// NewLog indexes the log of the given size in r, which must stay readable as
// long as [Log.Code] is called. The name is for messages.
func NewLog(r io.ReaderAt, size int64, name string) (*Log, error) {
	idx, err := readIndex(r, size, name)
	if err != nil {
		return nil, err
	}
	return &Log{Index: idx, name: name, file: r, arch: idx.arch()}, nil
}

// Name is the file's name, as it was given.
func (l *Log) Name() string { return l.name }

// Close closes the file under the log, where it has one.
func (l *Log) Close() error {
	if c, ok := l.file.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// oldHotSpot is the version of JDK 8's HotSpot, which is counted for itself.
var oldHotSpot = regexp.MustCompile(`^25\.[0-9]+-b[0-9]+`)

// Version is how the JDK calls itself: VMVersion, or for JDK 8 the JRE's of VMInfo, "1.8.0_504": its HotSpot calls itself "25.504-b01",
// which looks as if it were JDK 25.
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

// arch tells from <info> ("… for linux-amd64 JRE (…") whose machine code the
// hex is. Logs without a header are taken for x86-64.
func (h *Header) arch() disasm.Arch {
	_, platform, ok := strings.Cut(h.VMInfo, ") for ")
	if !ok {
		return disasm.AMD64
	}
	platform, _, _ = strings.Cut(platform, " ")
	_, cpu, _ := strings.Cut(platform, "-")
	return disasm.ArchOf(cpu)
}
