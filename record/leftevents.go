package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// An eventNote is a folder with a note while a JVM logs or records events for gasm, or has its
// probes, so that a gasm that is killed leaves word of it, as of a flag (debugInfoSwitch).
type eventNote struct {
	pid   int
	ticks uint64 // when the JVM started
	path  string // of the folder that it writes into, as it has it: of events, or of probes
	dir   string // of the note
	lock  *lock
	off   bool // all that was switched on is off again, and only the folder is left
}

// eventNoteFile is the name of the note in its folder. eventNotePattern and eventNoteName are for that one's name.
const (
	eventNoteFile    = "events"
	eventNotePattern = "gasm-events-"
)

var eventNoteName = regexp.MustCompile(`^` + eventNotePattern + `[0-9]+$`)

// leaveEventNote makes the note.
func leaveEventNote(pid int, ticks uint64, jvmPath string) (n *eventNote, err error) {
	n = &eventNote{pid: pid, ticks: ticks, path: jvmPath}
	dirs := temporaryFolders()
	slices.Reverse(dirs) // the next gasm may have another TMPDIR
	for _, dir := range dirs {
		if n.dir, err = os.MkdirTemp(dir, eventNotePattern); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if n.lock, err = makeLock(n.dir); err == nil {
		err = n.write("")
	}
	if err != nil {
		n.forget()
		return nil, err
	}
	return n, nil
}

// offWord stands behind the rest of a note when all is off again.
const offWord = "off"

func (n *eventNote) write(state string) error {
	text := strings.TrimSpace(fmt.Sprintf("%d %d %s %s", n.pid, n.ticks, n.path, state))
	return os.WriteFile(filepath.Join(n.dir, eventNoteFile), []byte(text+"\n"), 0o600)
}

// switchedOff notes that all that was switched on is off again, and the folder is still to be removed.
func (n *eventNote) switchedOff() { _ = n.write(offWord) } // else the next gasm says that it may be on, and ends what is off

// forget removes the note.
func (n *eventNote) forget() {
	os.RemoveAll(n.dir)
	if n.lock != nil {
		n.lock.close()
	}
}

// probes tells whether the note is of probes.
func (n *eventNote) probes() bool { return probe.IsFolder(n.path) }

// left says what goes on in the JVM, and what ends it.
func (n *eventNote) left() string {
	if n.probes() {
		return fmt.Sprintf("JVM %d still counts for probes of a gasm that was killed, into %s: `gasm attach --events default --length 1s %d` ends it", n.pid, n.path, n.pid)
	}
	return fmt.Sprintf("JVM %d still logs or records events into %s: `gasm attach --events default --length 1s %d` ends it", n.pid, n.path, n.pid)
}

// end has the JVM end what a killed gasm had it begin. Some of it may not have begun.
func (n *eventNote) end(ctx context.Context) {
	if n.probes() {
		if probe.EndLeft(ctx, n.pid) == nil {
			os.RemoveAll(n.dir)
		}
		return
	}
	if !answered(jcmd.StopRecording(ctx, n.pid, path.Base(n.path), "")) || !answered(jcmd.StopLog(ctx, n.pid, path.Join(n.path, toldLog))) {
		return // it may go on
	}
	n.removeFolder()
	os.RemoveAll(n.dir)
}

// answered tells whether a JVM has done or refused a command.
func answered(err error) bool {
	var refused *jcmd.FailedError
	return err == nil || errors.As(err, &refused)
}

// removeFolder removes the folder in the /tmp of a JVM that runs.
func (n *eventNote) removeFolder() {
	root, err := jvmRoot(n.pid)
	if err != nil {
		return
	}
	defer root.Close()
	tmp, err := root.OpenRoot("tmp")
	if err != nil {
		return
	}
	defer tmp.Close()
	_ = tmp.RemoveAll(path.Base(n.path)) // what can't be removed is the JVM's own
}

// endLeftEvents ends what killed gasms have left on in the JVM that started at a time.
func endLeftEvents(ctx context.Context, pid int, ticks uint64) {
	eachEventNote(func(n *eventNote) {
		if n.pid == pid && n.ticks == ticks {
			n.end(ctx)
		}
	})
}

// eachEventNote calls see for each note that a gasm has left of a JVM that runs and may go on. It removes all others, with
// what these JVMs have written.
func eachEventNote(see func(n *eventNote)) {
	eachLeft(eventNoteName, func(dir string, l *lock) bool {
		n, ok := readEventNote(dir)
		switch {
		case ok && thisMoment().boot == l.began.boot && !hasEnded(n.pid, n.ticks):
			if !n.off {
				see(n)
				return false
			}
			n.removeFolder()
			os.RemoveAll(dir)
		default:
			switch { // where the JVM had the /tmp that this is
			case ok && n.probes():
				probe.RemoveFolder(n.path)
			case ok:
				os.RemoveAll(n.path)
			}
			os.RemoveAll(dir)
		}
		return false
	})
}

// readEventNote reads the note in a folder of this user's.
func readEventNote(dir string) (*eventNote, bool) {
	n := &eventNote{dir: dir}
	text, err := regular.ReadFile(filepath.Join(dir, eventNoteFile), 1<<12)
	if err != nil {
		return nil, false
	}
	note, off := strings.CutSuffix(strings.TrimSpace(string(text)), " "+offWord)
	if _, err := fmt.Sscanf(note, "%d %d %s", &n.pid, &n.ticks, &n.path); err != nil {
		return nil, false
	}
	n.off = off
	if n.probes() {
		return n, true
	}
	head := "/tmp/" + jvmFolderHead
	return n, strings.HasPrefix(n.path, head) && len(n.path) == len(head)+secretLength && !strings.Contains(n.path[len(head):], "/")
}

// LeftEvents says of each JVM that still logs or records for a gasm that was killed, or has its probes, what ends it.
func LeftEvents() (left []string) {
	eachEventNote(func(n *eventNote) { left = append(left, n.left()) })
	return left
}
