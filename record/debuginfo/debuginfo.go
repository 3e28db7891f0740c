// Package debuginfo switches HotSpot's flag DebugNonSafepoints on in a running JVM, and off again. The flag is the
// only thing that gasm ever writes into a JVM's memory.
//
// While the flag is on, a note about it is in a locked folder. If gasm is killed, the next gasm process learns from
// the note that the flag is still on. The folder's name differs from the names of temporary folders, because every
// gasm process removes temporary folders that are no longer needed.
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

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// flagName is the name of a HotSpot flag. If the flag is on, compiled code has debug info for more instructions than
// those at which the JVM can stop a thread. HotSpot reads the flag whenever it compiles a method.
const flagName = "DebugNonSafepoints"

// A Switch represents the flag in a running JVM, after gasm has switched it on there.
type Switch struct {
	note
	dir    string
	lock   *lockedfolder.Lock
	memory *os.File // memory of the JVM; if the process executes another program, writes fail
}

// A note is the content of a note file: in which JVM the flag is on.
type note struct {
	pid     int
	ticks   uint64 // when the process started
	address uint64 // address of the flag, a byte that was 0 before
}

// noteFile is the name of the note in its folder. The folder's name begins with notePattern, and noteName matches it.
const (
	noteFile    = "flag"
	notePattern = "gasm-debug-info-"
)

var noteName = regexp.MustCompile(`^` + notePattern + `[0-9]+$`)

// SwitchOn switches the flag on in the process pid that started at ticks (processend.StartTicks). If the flag is on
// because a killed gasm process left it on, SwitchOn takes over that process's note, and Restore will switch the flag
// off. If the flag is on for any other reason, SwitchOn returns nil without an error.
func SwitchOn(ctx context.Context, pid int, ticks uint64) (*Switch, error) {
	memory, err := openMemory(pid) // opened first: if the process executes another program later, this memory is gone
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

// SwitchOnFor switches the flag on in a JVM that gasm's own command has started, for as long as the JVM runs. vm is the
// JVM of the process. If the flag is on already, or if the JVM's user has set it, SwitchOnFor changes nothing and
// returns false. It makes no note, because nobody needs to switch the flag off again: the flag only makes the JVM's
// compilers record more.
//
// The process may be hostile, and execute a program of another user at any time. So the address of the flag is read
// from the same memory to which the flag is written. This memory never belongs to another program.
func SwitchOnFor(ctx context.Context, pid int, vm *vmstructs.VM) (switched bool, err error) {
	memory, err := openMemory(pid)
	if err != nil {
		return false, fmt.Errorf("opening the memory of the JVM: %w", err)
	}
	defer memory.Close()
	flag, err := flagOf(ctx, vm.Through(memory))
	if err != nil || flag.Value != 0 || flag.Given {
		return false, err
	}
	return true, writeByte(ctx, memory, flag.Address, 1)
}

// Switched reports whether gasm has switched the flag. It returns false for a nil Switch.
func (s *Switch) Switched() bool { return s != nil }

// Restore switches the flag off again, and removes the note. It does so even if ctx is done. If the flag can't be
// switched off, Restore keeps the note, so that the next gasm process tells the user about the flag.
func (s *Switch) Restore(ctx context.Context) error {
	if processend.HasEnded(s.pid, s.ticks) {
		s.forget()
		return nil
	}
	err := writeByte(context.WithoutCancel(ctx), s.memory, s.address, 0)
	// The write has failed although the JVM's memory still exists, so the flag is still on.
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !processend.HasEnded(s.pid, s.ticks) {
		s.memory.Close()
		s.lock.Close() // the next gasm reports the flag
		return fmt.Errorf("%s (%w)", s.left(), err)
	}
	s.forget()
	return nil
}

// left returns a message that tells the user that the flag is still on, and which command switches it off.
func (n note) left() string {
	return fmt.Sprintf("%s is still on in JVM %d, which only makes its compilers note more: `gasm attach --debug-info --length 1s %d` puts it back",
		flagName, n.pid, n.pid)
}

// write writes the note into a new, locked folder.
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

// forget removes the note and its folder, and closes the memory and the lock.
func (s *Switch) forget() {
	os.RemoveAll(s.dir)
	s.memory.Close()
	s.lock.Close()
}

// takeOver is called if the flag is already on. It looks for a note with the content n, which a killed gasm process
// may have left, and takes the note over. It returns nil if there is no such note. Then somebody else has switched the
// flag on, for example the user.
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

// eachNote calls see(n, dir, l) for each note n that a killed gasm process left about a flag that is still on. dir is
// the folder of the note, and l is its lock. If see returns true, the lock stays open, and the caller of eachNote must
// close it later. eachNote removes the notes about flags that are no longer on.
func eachNote(ctx context.Context, see func(n note, dir string, l *lockedfolder.Lock) (kept bool)) {
	lockedfolder.EachLeft(lockedfolder.NoteFolders(), noteName, func(dir string, l *lockedfolder.Lock) bool {
		if n, ok := readNote(ctx, dir, l); ok {
			return see(n, dir, l)
		}
		os.RemoveAll(dir)
		return false
	})
}

// readNote reads the note in a folder that another gasm process has left. ok is false if there is no note, if the JVM
// has ended, or if the flag is off.
func readNote(ctx context.Context, dir string, l *lockedfolder.Lock) (n note, ok bool) {
	text, err := regular.ReadFile(filepath.Join(dir, noteFile), 1<<10)
	if err != nil || !l.SameBoot() {
		return n, false
	}
	if _, err := fmt.Sscanf(strings.TrimSpace(string(text)), "%d %d %d", &n.pid, &n.ticks, &n.address); err != nil ||
		processend.HasEnded(n.pid, n.ticks) {
		return n, false
	}
	value, err := readByte(ctx, n.pid, n.address)
	if processend.HasEnded(n.pid, n.ticks) { // the byte may be that of a later process with the same id
		return n, false
	}
	return n, err != nil || value != 0
}

// EachLeft calls see(dir, text) for each JVM in which a killed gasm process left the flag on. dir is the folder of the
// note. text tells the user which command switches the flag off.
func EachLeft(ctx context.Context, see func(dir, text string)) {
	eachNote(ctx, func(n note, dir string, _ *lockedfolder.Lock) bool {
		see(dir, n.left())
		return false
	})
}
