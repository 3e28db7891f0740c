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
	"time"

	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// An eventNote is a folder with a note while a JVM logs or records events for gasm, or has its
// probes, so that a gasm that is killed leaves word of it, as of a flag (debugInfoSwitch).
type eventNote struct {
	pid      int
	ticks    uint64 // when the JVM started
	uid, gid int    // the JVM's user, whom the folder belongs to
	path     string // of the folder that it writes into, as it has it: of events, or of probes
	dir      string // of the note
	lock     *lockedfolder.Lock
	off      bool // all that was switched on is off again, and only the folder is left
}

// eventNoteFile is the name of the note in its folder. eventNotePattern and eventNoteName are for that one's name.
const (
	eventNoteFile    = "events"
	eventNotePattern = "gasm-events-"
)

var eventNoteName = regexp.MustCompile(`^` + eventNotePattern + `[0-9]+$`)

// leaveEventNote makes the note.
func leaveEventNote(pid int, ticks uint64, user foreign.User, jvmPath string) (n *eventNote, err error) {
	n = &eventNote{pid: pid, ticks: ticks, uid: user.UID, gid: user.GID, path: jvmPath}
	dirs := lockedfolder.TemporaryFolders()
	slices.Reverse(dirs) // the next gasm may have another TMPDIR
	for _, dir := range dirs {
		if n.dir, err = os.MkdirTemp(dir, eventNotePattern); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if n.lock, err = lockedfolder.Make(n.dir); err == nil {
		err = n.write("")
	}
	if err != nil {
		n.forget()
		return nil, err
	}
	return n, nil
}

// offWord stands after the rest of a note when all is off again.
const offWord = "off"

func (n *eventNote) write(state string) error {
	text := strings.TrimSpace(fmt.Sprintf("%d %d %d %d %s %s", n.pid, n.ticks, n.uid, n.gid, n.path, state))
	return os.WriteFile(filepath.Join(n.dir, eventNoteFile), []byte(text+"\n"), 0o600)
}

// switchedOff notes that all that was switched on is off again, and the folder is still to be removed.
func (n *eventNote) switchedOff() { _ = n.write(offWord) } // else the next gasm says that it may be on, and ends what is off

// forget removes the note.
func (n *eventNote) forget() {
	os.RemoveAll(n.dir)
	n.leave()
}

// leave ends the use of the note, which stays: the next gasm finds it.
func (n *eventNote) leave() {
	if n.lock != nil {
		n.lock.Close()
	}
}

// probes reports whether the note is of probes.
func (n *eventNote) probes() bool { return probe.IsFolder(n.path) }

// left says that the JVM may go on with what a gasm had it begin, and what ends that.
func (n *eventNote) left() string {
	does := "logs or records events for"
	if n.probes() {
		does = "counts for probes of"
	}
	return fmt.Sprintf("JVM %d still %s a gasm that has ended, into %s: `gasm attach` ends that as soon as the JVM answers", n.pid, does, n.path)
}

// ended says that the JVM has gone on until now.
func (n *eventNote) ended() string {
	did := "logged or recorded events for"
	if n.probes() {
		did = "counted for probes of"
	}
	return fmt.Sprintf("JVM %d still %s a gasm that has ended, into %s: it does not any more", n.pid, did, n.path)
}

// end has the JVM end what a gasm that has ended had it begin, and removes what is left of it. Some of it may not have
// begun.
func (n *eventNote) end(ctx context.Context) error {
	p, w, err := enter(ctx, n.pid)
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
	os.RemoveAll(n.dir)
	return nil
}

func (n *eventNote) switchOff(ctx context.Context, p *foreign.Process, w *foreign.World) error {
	if n.probes() {
		return probe.EndLeft(ctx, p, w, n.path)
	}
	if err := jcmd.StopRecording(ctx, p, path.Base(n.path), ""); !answered(err) {
		return err
	}
	if err := jcmd.StopLog(ctx, p, path.Join(n.path, toldLog)); !answered(err) {
		return err
	}
	return nil
}

// answered reports whether a JVM has done or refused a command.
func answered(err error) bool {
	var refused *jcmd.FailedError
	return err == nil || errors.As(err, &refused)
}

// removeFolder removes the folder that the note is of, as the JVM's user.
func (n *eventNote) removeFolder(w *foreign.World) {
	if n.probes() {
		probe.RemoveFolder(w, n.path)
		return
	}
	if f, err := openJVMFolder(w, n.path); err == nil {
		f.remove()
	}
}

// removeFolderHere removes the folder of a JVM that has ended, where it had the /tmp that this process has.
func (n *eventNote) removeFolderHere() {
	w, err := foreign.OwnWorld(context.Background(), foreign.User{UID: n.uid, GID: n.gid})
	if err != nil {
		return
	}
	defer w.Close()
	n.removeFolder(w)
}

// endLeftTime is how long one JVM may take to end what gasms that have ended had it begin, where nobody waits for it.
const endLeftTime = 5 * time.Second

// endNote ends what a note tells of, within that time.
func endNote(ctx context.Context, n *eventNote) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endLeftTime, fmt.Errorf("it did not answer within %s", endLeftTime))
	defer cancel()
	return n.end(ctx)
}

// EndLeft has the JVMs of this machine end what gasms that have ended had them begin: events and probes. It returns what was
// ended, and what was not, with the reason.
func EndLeft(ctx context.Context) (ended, left []string) {
	eachEventNote(func(n *eventNote) {
		switch err := endNote(ctx, n); {
		case err == nil:
			ended = append(ended, n.ended())
		case !errors.Is(err, foreign.ErrEnded):
			left = append(left, fmt.Sprintf("%s (%v)", n.left(), err))
		}
	})
	return ended, left
}

// endLeftEvents ends what gasms that have ended have left on in the JVM that started at a time.
func endLeftEvents(ctx context.Context, pid int, ticks uint64) {
	eachEventNote(func(n *eventNote) {
		if n.pid == pid && n.ticks == ticks {
			_ = n.end(ctx) // what is left shows when it is in the way, and in the next list
		}
	})
}

// eachEventNote calls see for each note that a gasm has left of a JVM that runs and may go on. It removes all others, with
// what these JVMs have written.
func eachEventNote(see func(n *eventNote)) {
	lockedfolder.EachLeft(eventNoteName, func(dir string, l *lockedfolder.Lock) bool {
		n, ok := readEventNote(dir)
		switch {
		case !ok:
			os.RemoveAll(dir)
		case !l.SameBoot() || processend.HasEnded(n.pid, n.ticks):
			n.removeFolderHere()
			os.RemoveAll(dir)
		case n.off && endNote(context.Background(), n) == nil:
		default:
			see(n)
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
	if _, err := fmt.Sscanf(note, "%d %d %d %d %s", &n.pid, &n.ticks, &n.uid, &n.gid, &n.path); err != nil {
		return nil, false
	}
	n.off = off
	return n, n.probes() || isJVMFolder(n.path)
}
