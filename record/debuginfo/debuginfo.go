// Package debuginfo switches HotSpot's flag DebugNonSafepoints on in a JVM that runs, and off again. It is the only
// thing that gasm ever writes into a JVM's memory.
//
// While the flag is on, there is a locked folder with a note, so that the next gasm knows of a flag that a gasm which
// was killed has left on. The folder's name differs from those of temporary folders, which any gasm removes when they
// are not needed any more.
package debuginfo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// flagName is HotSpot's flag for debug info of more places than those in which the JVM can stop a thread. HotSpot looks
// at the flag whenever it compiles a method.
const flagName = "DebugNonSafepoints"

// A Switch is the flag in a running JVM that gasm has switched on.
type Switch struct {
	note
	dir    string
	lock   *lockedfolder.Lock
	memory *os.File // of the JVM, and of no later program of this process
}

// A note is what the folder's file says.
type note struct {
	pid     int
	ticks   uint64 // when the process started
	address uint64 // of the flag, a byte that was 0
}

// noteFile is the name of the note in its folder. The folder's name is made from notePattern, and matches noteName.
const (
	noteFile    = "flag"
	notePattern = "gasm-debug-info-"
)

var noteName = regexp.MustCompile(`^` + notePattern + `[0-9]+$`)

// SwitchOn switches the flag on in the process that started at a time. It returns nil where the flag was on already. If
// a gasm that was killed has left the flag on, SwitchOn takes it over, so that Restore switches it off.
func SwitchOn(ctx context.Context, pid int, ticks uint64) (*Switch, error) {
	memory, err := openMemory(pid) // first: what is found later is in this memory, or this memory is gone
	if err != nil {
		return nil, fmt.Errorf("--debug-info: opening the memory of the JVM: %w", err)
	}
	address, on, err := findFlag(ctx, pid)
	if err != nil {
		memory.Close()
		return nil, fmt.Errorf("--debug-info: %w", err)
	}
	if on {
		s := takeOver(ctx, note{pid, ticks, address})
		if s == nil {
			memory.Close()
			return nil, nil
		}
		s.memory = memory
		return s, nil
	}
	s := &Switch{note: note{pid, ticks, address}, memory: memory}
	if err := s.write(); err != nil {
		return nil, fmt.Errorf("--debug-info: making a note of the flag that is switched: %w", err)
	}
	if err := writeByte(ctx, memory, address, 1); err != nil {
		s.forget()
		return nil, fmt.Errorf("--debug-info: switching %s on: %w", flagName, err)
	}
	return s, nil
}

// Switched reports whether gasm has switched the flag. It returns false for a nil Switch.
func (s *Switch) Switched() bool { return s != nil }

// Restore switches the flag off again, and removes the note. It does so even if ctx is done.
func (s *Switch) Restore(ctx context.Context) error {
	if processend.HasEnded(s.pid, s.ticks) {
		s.forget()
		return nil
	}
	err := writeByte(context.WithoutCancel(ctx), s.memory, s.address, 0)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !processend.HasEnded(s.pid, s.ticks) { // the JVM's memory is there
		s.memory.Close()
		s.lock.Close() // the next gasm reports the flag
		return fmt.Errorf("%s (%w)", s.left(), err)
	}
	s.forget()
	return nil
}

// left says that the flag is on, and what puts it back.
func (n note) left() string {
	return fmt.Sprintf("%s is still on in JVM %d, which only makes its compilers note more: `gasm attach --debug-info --length 1s %d` puts it back",
		flagName, n.pid, n.pid)
}

// write makes the note.
func (s *Switch) write() (err error) {
	for _, dir := range lockedfolder.NoteFolders() {
		if s.dir, err = os.MkdirTemp(dir, notePattern); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if s.lock, err = lockedfolder.Make(s.dir); err == nil {
		text := fmt.Appendf(nil, "%d %d %d\n", s.pid, s.ticks, s.address)
		err = os.WriteFile(filepath.Join(s.dir, noteFile), text, 0o600)
	}
	if err != nil {
		s.forget()
	}
	return err
}

// forget removes the note.
func (s *Switch) forget() {
	os.RemoveAll(s.dir)
	s.memory.Close()
	s.lock.Close()
}

// takeOver takes over the note that a gasm which was killed has left of a flag that is on. It returns nil when there is
// none, because the user has switched the flag on.
func takeOver(ctx context.Context, n note) (s *Switch) {
	eachNote(ctx, func(found note, dir string, l *lockedfolder.Lock) (kept bool) {
		if s != nil || found != n {
			return false
		}
		s = &Switch{note: n, dir: dir, lock: l}
		return true
	})
	return s
}

// eachNote calls the function see for each note that a gasm which was killed has left of a flag that is
// on. The note's lock is held during the call; if see returns true, it has taken over the lock.
// eachNote removes all other notes.
func eachNote(ctx context.Context, see func(n note, dir string, l *lockedfolder.Lock) (kept bool)) {
	lockedfolder.EachLeft(lockedfolder.NoteFolders(), noteName, func(dir string, l *lockedfolder.Lock) bool {
		if n, ok := readNote(ctx, dir, l); ok {
			return see(n, dir, l)
		}
		os.RemoveAll(dir)
		return false
	})
}

// readNote reads the note in a folder that another gasm has left. ok is false where there is no note, or the JVM has
// ended, or the flag is off.
func readNote(ctx context.Context, dir string, l *lockedfolder.Lock) (n note, ok bool) {
	text, err := regular.ReadFile(filepath.Join(dir, noteFile), 1<<10)
	if err != nil || !l.SameBoot() {
		return n, false
	}
	if _, err := fmt.Sscanf(strings.TrimSpace(string(text)), "%d %d %d", &n.pid, &n.ticks, &n.address); err != nil || processend.HasEnded(n.pid, n.ticks) {
		return n, false
	}
	value, err := readByte(ctx, n.pid, n.address)
	if processend.HasEnded(n.pid, n.ticks) { // another process may have its id, and was read
		return n, false
	}
	return n, err != nil || value != 0
}

// EachLeft calls the function see for each JVM in which a gasm that was killed has left the flag on,
// with the note's folder and a text that says what puts the flag back.
func EachLeft(ctx context.Context, see func(dir, text string)) {
	eachNote(ctx, func(n note, dir string, _ *lockedfolder.Lock) bool {
		see(dir, n.left())
		return false
	})
}
