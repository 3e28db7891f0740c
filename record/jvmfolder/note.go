package jvmfolder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A Note is a file that exists while a JVM logs or records events for gasm, or while it has gasm's probes. If gasm is
// killed, the next gasm process finds the note and makes the JVM stop. The file is in a locked folder of its own, not
// in the JVM's folder.
type Note struct {
	Path string // of the JVM's folder for events or for probes, as the JVM sees it
	Dir  string // the folder of the note

	pid      int
	ticks    uint64 // when the JVM started (processend.StartTicks)
	uid, gid int    // the JVM's user, to whom the folder belongs
	started  string // the name of a recording that has run since the JVM's start; "" if there is none
	lock     *lockedfolder.Lock
	off      bool // the JVM has switched everything off again, and only its folder is left
}

// noteFile is the name of the note in its folder. The folder's name is made from notePattern, and noteName matches it.
const (
	noteFile    = "events"
	notePattern = "gasm-events-"
)

var noteName = regexp.MustCompile(`^` + notePattern + `[0-9]+$`)

// Leave writes a note about a JVM's folder. jvmPath is the folder's path as the JVM sees it. The process id and the
// start time (processend.StartTicks) identify the JVM. The parameter started is the name of the recording that began
// with the JVM's start (see RecordingName), or "" if there is none. A recording that gasm starts later has the name of
// the folder.
func Leave(pid int, ticks uint64, user foreign.User, jvmPath, started string) (n *Note, err error) {
	n = &Note{pid: pid, ticks: ticks, uid: user.UID, gid: user.GID, Path: jvmPath, started: started}
	for _, dir := range lockedfolder.NoteFolders() {
		if n.Dir, err = os.MkdirTemp(dir, notePattern); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if n.lock, err = lockedfolder.Make(n.Dir); err == nil {
		err = n.write("")
	}
	if err != nil {
		n.Forget()
		return nil, err
	}
	return n, nil
}

// offWord is the last word of a note for which SwitchedOff was called.
const offWord = "off"

func (n *Note) write(state string) error {
	text := strings.Join(strings.Fields(fmt.Sprintf("%d %d %d %d %s %s %s", n.pid, n.ticks, n.uid, n.gid, n.Path,
		n.started, state)), " ")
	return os.WriteFile(filepath.Join(n.Dir, noteFile), []byte(text+"\n"), 0o600)
}

// SwitchedOff writes into the note that everything is switched off again, and that only the folder must still be
// removed. It ignores errors: without this entry, the next gasm process switches everything off a second time, which
// does no harm.
func (n *Note) SwitchedOff() { _ = n.write(offWord) }

// Forget removes the note.
func (n *Note) Forget() {
	os.RemoveAll(n.Dir)
	n.Close()
}

// Done removes the note after everything is switched off and the folder is removed. But if the World has ended, the
// folder may still exist. Then Done keeps the note, and writes into it that only the folder is left. The next gasm
// process removes the folder.
func (n *Note) Done(w *foreign.World) {
	if w.Err() == nil {
		n.Forget()
		return
	}
	n.SwitchedOff()
	n.Close()
}

// Close releases the lock of the note. The note itself stays for the next gasm process.
func (n *Note) Close() { n.lock.Close() }

// probes reports whether the note is about probes.
func (n *Note) probes() bool { return probe.IsFolder(n.Path) }

// Left returns a message for the user. It says that the JVM may still be working for a gasm process that has ended,
// and how to stop that.
func (n *Note) Left() string {
	does := "logs or records events for"
	if n.probes() {
		does = "counts for probes of"
	}
	return fmt.Sprintf("JVM %d still %s a gasm that has ended, into %s: `gasm attach` ends that as soon as the JVM answers", n.pid, does, n.Path)
}

// ended returns a message for the user. It says that the JVM was still working for a gasm process that has ended, and
// has now stopped.
func (n *Note) ended() string {
	did := "logged or recorded events for"
	if n.probes() {
		did = "counted for probes of"
	}
	return fmt.Sprintf("JVM %d still %s a gasm that has ended, into %s: it does not any more", n.pid, did, n.Path)
}

// end makes the JVM stop whatever it still does for a gasm process that has ended, and then removes the JVM's folder
// and the note. If the JVM answers that there is no recording or log, that is not an error: the gasm process may have
// been killed before it started them.
func (n *Note) end(ctx context.Context) error {
	p, w, err := Enter(ctx, n.pid)
	if err != nil {
		return err
	}
	defer p.Close()
	defer w.Close()
	if stat, err := p.Stat(); err != nil || stat.StartTicks != n.ticks {
		return foreign.ErrEnded
	}
	if !n.off {
		if err := n.switchOff(ctx, p, w); err != nil {
			return err
		}
	}
	if err := jcmd.RemoveTrigger(ctx, p); err != nil {
		return err
	}
	n.removeFolder(w)
	if err := w.Err(); err != nil {
		return err
	}
	os.RemoveAll(n.Dir)
	return nil
}

func (n *Note) switchOff(ctx context.Context, p *foreign.Process, w *foreign.World) error {
	if n.probes() {
		return probe.EndLeft(ctx, p, w, n.Path)
	}
	name, _ := names(n.Path)
	if n.started != "" {
		name = n.started
	}
	if err := jcmd.StopRecording(ctx, p, name, ""); !Answered(err) {
		return err
	}
	if err := jcmd.StopLog(ctx, p, path.Join(n.Path, LogFile)); !Answered(err) {
		return err
	}
	return nil
}

// Answered reports whether a JVM has executed or refused a command. err is the result of the command.
func Answered(err error) bool {
	var refused *jcmd.FailedError
	return err == nil || errors.As(err, &refused)
}

// removeFolder removes the JVM's folder, with the rights of the JVM's user.
func (n *Note) removeFolder(w *foreign.World) {
	if n.probes() {
		probe.RemoveFolder(w, n.Path)
		return
	}
	remove(w, n.Path)
}

// removeFolderHere removes the folder of a JVM that has ended. It finds the folder only if the JVM had the same /tmp as
// this process.
func (n *Note) removeFolderHere(ctx context.Context) {
	w, err := foreign.OwnWorld(ctx, foreign.User{UID: n.uid, GID: n.gid})
	if err != nil {
		return
	}
	defer w.Close()
	n.removeFolder(w)
}

// endTime limits how long gasm waits for one JVM to stop its work for killed gasm processes.
const endTime = 5 * time.Second

// endSoon calls end with the time limit endTime.
func (n *Note) endSoon(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endTime, fmt.Errorf("it did not answer within %s", endTime))
	defer cancel()
	return n.end(ctx)
}

// EndLeft makes the JVMs of this machine switch off the events and probes of gasm processes that were killed. The
// result ended has a message for each JVM that did so, and the result left has a message with the reason for each JVM
// that did not. A JVM that has exited gets no message.
func EndLeft(ctx context.Context) (ended, left []string) {
	EachLeft(ctx, func(n *Note) {
		switch err := n.endSoon(ctx); {
		case err == nil:
			ended = append(ended, n.ended())
		case !errors.Is(err, foreign.ErrEnded):
			left = append(left, fmt.Sprintf("%s (%v)", n.Left(), err))
		}
	})
	return ended, left
}

// EndLeftOf is like EndLeft, but only for the JVM with the given process id and start time. It ignores errors: if the
// JVM does not stop, a later EndLeft reports that.
func EndLeftOf(ctx context.Context, pid int, ticks uint64) {
	EachLeft(ctx, func(n *Note) {
		if n.pid == pid && n.ticks == ticks {
			_ = n.end(ctx)
		}
	})
}

// EachLeft looks at the notes that killed gasm processes have left behind. If the JVM of a note still runs, and may
// still work for the killed process, EachLeft calls see(note). Otherwise it removes the note and the JVM's folder.
func EachLeft(ctx context.Context, see func(n *Note)) {
	lockedfolder.EachLeft(lockedfolder.NoteFolders(), noteName, func(dir string, l *lockedfolder.Lock) bool {
		n, ok := readNote(dir)
		switch {
		case !ok:
			os.RemoveAll(dir)
		case !l.SameBoot() || processend.HasEnded(n.pid, n.ticks):
			n.removeFolderHere(ctx)
			os.RemoveAll(dir)
		case n.off && n.endSoon(ctx) == nil:
		default:
			see(n)
		}
		return false
	})
}

// readNote reads the note in a folder that belongs to this user. It returns false if there is no valid note.
func readNote(dir string) (*Note, bool) {
	n := &Note{Dir: dir}
	text, err := regular.ReadFile(filepath.Join(dir, noteFile), 1<<12)
	if err != nil {
		return nil, false
	}
	note, off := strings.CutSuffix(strings.TrimSpace(string(text)), " "+offWord)
	if _, err := fmt.Sscanf(note, "%d %d %d %d %s", &n.pid, &n.ticks, &n.uid, &n.gid, &n.Path); err != nil {
		return nil, false
	}
	n.off = off
	if words := strings.Fields(note); len(words) > 5 {
		n.started = words[5]
	}
	return n, n.probes() || isFolder(n.Path) && (n.started == "" || isRecording(n.started))
}
