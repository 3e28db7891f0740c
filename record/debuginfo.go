package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// debugInfoFlag is HotSpot's flag for debug info of more places than those in which the JVM
// can stop a thread. HotSpot looks at it whenever it compiles a method.
const debugInfoFlag = "DebugNonSafepoints"

// A debugInfoSwitch is the flag in a running JVM that gasm has switched on. It is the only
// thing that gasm ever changes in a JVM. While it is on there is a folder with a note, so
// that a gasm that is killed leaves word of it. The folder's name is not that of other
// temporary folders, which any gasm removes when they are not needed any more.
type debugInfoSwitch struct {
	debugInfoNote
	dir    string
	lock   *lockedfolder.Lock
	memory *os.File // of the JVM, which is no other program's
}

// A debugInfoNote is what the folder tells.
type debugInfoNote struct {
	pid     int
	ticks   uint64 // when the process started
	address uint64 // of the flag, a byte that was 0
}

// debugInfoFile is the name of the note in its folder. debugInfoPattern and debugInfoName are
// for that one's name.
const (
	debugInfoFile    = "flag"
	debugInfoPattern = "gasm-debug-info-"
)

var debugInfoName = regexp.MustCompile(`^` + debugInfoPattern + `[0-9]+$`)

// switchDebugInfo switches the flag on in the process that started at a time. It gives nil
// where the flag was on already; one that a killed gasm has left on is taken over, so that it
// is put back.
func switchDebugInfo(ctx context.Context, pid int, ticks uint64) (*debugInfoSwitch, error) {
	memory, err := openMemory(pid) // first: what is found later is in this memory, or this memory is gone
	if err != nil {
		return nil, fmt.Errorf("--debug-info: opening the memory of the JVM: %w", err)
	}
	address, on, err := findDebugInfoFlag(ctx, pid)
	if err != nil {
		memory.Close()
		return nil, fmt.Errorf("--debug-info: %w", err)
	}
	if on {
		s := takeOver(debugInfoNote{pid, ticks, address})
		if s == nil {
			memory.Close()
			return nil, nil
		}
		s.memory = memory
		return s, nil
	}
	s := &debugInfoSwitch{debugInfoNote: debugInfoNote{pid, ticks, address}, memory: memory}
	if err := s.write(); err != nil {
		return nil, fmt.Errorf("--debug-info: making a note of the flag that is switched: %w", err)
	}
	if err := writeByte(memory, address, 1); err != nil {
		s.forget()
		return nil, fmt.Errorf("--debug-info: switching %s on: %w", debugInfoFlag, err)
	}
	return s, nil
}

// switched tells whether gasm has switched the flag.
func (s *debugInfoSwitch) switched() bool { return s != nil }

// restore switches the flag off again, and removes the note.
func (s *debugInfoSwitch) restore() error {
	if processend.HasEnded(s.pid, s.ticks) {
		s.forget()
		return nil
	}
	err := writeByte(s.memory, s.address, 0)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !processend.HasEnded(s.pid, s.ticks) { // the JVM's memory is there
		s.memory.Close()
		s.lock.Close() // what is left is told of by the next gasm
		return fmt.Errorf("%s (%w)", s.left(), err)
	}
	s.forget()
	return nil
}

// left says that the flag is on, and what puts it back.
func (n debugInfoNote) left() string {
	return fmt.Sprintf("%s is still on in JVM %d, which only makes its compilers note more: `gasm attach --debug-info --length 1s %d` puts it back",
		debugInfoFlag, n.pid, n.pid)
}

// write makes the note.
func (s *debugInfoSwitch) write() (err error) {
	dirs := lockedfolder.TemporaryFolders()
	slices.Reverse(dirs) // the next gasm may have another TMPDIR
	for _, dir := range dirs {
		if s.dir, err = os.MkdirTemp(dir, debugInfoPattern); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if s.lock, err = lockedfolder.Make(s.dir); err == nil {
		text := fmt.Appendf(nil, "%d %d %d\n", s.pid, s.ticks, s.address)
		err = os.WriteFile(filepath.Join(s.dir, debugInfoFile), text, 0o600)
	}
	if err != nil {
		s.forget()
	}
	return err
}

// forget removes the note.
func (s *debugInfoSwitch) forget() {
	os.RemoveAll(s.dir)
	s.memory.Close()
	if s.lock != nil {
		s.lock.Close()
	}
}

// takeOver finds the note of a gasm that was killed, for a flag that is on; nil when gasm has
// not switched it on.
func takeOver(n debugInfoNote) (s *debugInfoSwitch) {
	eachDebugInfoNote(func(found debugInfoNote, dir string, l *lockedfolder.Lock) (kept bool) {
		if s != nil || found != n {
			return false
		}
		s = &debugInfoSwitch{debugInfoNote: n, dir: dir, lock: l}
		return true
	})
	return s
}

// eachDebugInfoNote calls see for each note that a killed gasm has left of a flag that is
// on, and holds its lock meanwhile, or longer when see says so. It removes all others.
func eachDebugInfoNote(see func(n debugInfoNote, dir string, l *lockedfolder.Lock) (kept bool)) {
	lockedfolder.EachLeft(debugInfoName, func(dir string, l *lockedfolder.Lock) bool {
		if n, ok := leftDebugInfo(dir, l); ok {
			return see(n, dir, l)
		}
		os.RemoveAll(dir)
		return false
	})
}

// leftDebugInfo reads the note in a folder that another gasm has left. It is false where
// there is none, or the JVM has ended, or its flag is off.
func leftDebugInfo(dir string, l *lockedfolder.Lock) (n debugInfoNote, ok bool) {
	text, err := regular.ReadFile(filepath.Join(dir, debugInfoFile), 1<<10)
	if err != nil || !l.SameBoot() {
		return n, false
	}
	if _, err := fmt.Sscanf(strings.TrimSpace(string(text)), "%d %d %d", &n.pid, &n.ticks, &n.address); err != nil || processend.HasEnded(n.pid, n.ticks) {
		return n, false
	}
	value, err := readByte(n.pid, n.address)
	return n, err != nil || value != 0
}

// LeftDebugInfo says of each JVM in which a killed gasm has left a flag on what puts it back.
func LeftDebugInfo() (left []string) {
	eachDebugInfoNote(func(n debugInfoNote, _ string, _ *lockedfolder.Lock) bool {
		left = append(left, n.left())
		return false
	})
	return left
}
