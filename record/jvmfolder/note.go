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

// A Note is there while a JVM logs or records events for gasm, or has its probes. If that gasm is killed, another one
// finds the note, and ends what the JVM does. It is a file in a locked folder of its own, not in the JVM's folder.
type Note struct {
	Path string // of the JVM's folder for events or for probes, as the JVM has it
	Dir  string // of the note

	pid      int
	ticks    uint64 // when the JVM started
	uid, gid int    // the JVM's user, to whom the folder belongs
	lock     *lockedfolder.Lock
	off      bool // all that was switched on is off again, and only the folder is left
}

// noteFile is the name of the note in its folder. The folder's name is made from notePattern, and matches noteName.
const (
	noteFile    = "events"
	notePattern = "gasm-events-"
)

var noteName = regexp.MustCompile(`^` + notePattern + `[0-9]+$`)

// Leave makes a note of the folder with a path in a JVM. The JVM is named by its process id, and when it started
// (processend.StartTicks).
func Leave(pid int, ticks uint64, user foreign.User, jvmPath string) (n *Note, err error) {
	n = &Note{pid: pid, ticks: ticks, uid: user.UID, gid: user.GID, Path: jvmPath}
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

// offWord is at the end of a note when all is off again.
const offWord = "off"

func (n *Note) write(state string) error {
	text := strings.TrimSpace(fmt.Sprintf("%d %d %d %d %s %s", n.pid, n.ticks, n.uid, n.gid, n.Path, state))
	return os.WriteFile(filepath.Join(n.Dir, noteFile), []byte(text+"\n"), 0o600)
}

// SwitchedOff notes that all that was switched on is off again, and only the folder is still to be removed. If that
// can't be noted, the next gasm ends what is off already.
func (n *Note) SwitchedOff() { _ = n.write(offWord) }

// Forget removes the note.
func (n *Note) Forget() {
	os.RemoveAll(n.Dir)
	n.Close()
}

// Close ends the use of the note, which stays for the next gasm.
func (n *Note) Close() { n.lock.Close() }

// probes reports whether the note is about probes.
func (n *Note) probes() bool { return probe.IsFolder(n.Path) }

// Left says that the JVM may go on with what a gasm had it begin, and what ends that.
func (n *Note) Left() string {
	does := "logs or records events for"
	if n.probes() {
		does = "counts for probes of"
	}
	return fmt.Sprintf("JVM %d still %s a gasm that has ended, into %s: `gasm attach` ends that as soon as the JVM answers", n.pid, does, n.Path)
}

// ended says that the JVM had gone on until now.
func (n *Note) ended() string {
	did := "logged or recorded events for"
	if n.probes() {
		did = "counted for probes of"
	}
	return fmt.Sprintf("JVM %d still %s a gasm that has ended, into %s: it does not any more", n.pid, did, n.Path)
}

// end has the JVM end what a gasm that has ended had it begin, and removes what is left. Some of it may not have begun.
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
	os.RemoveAll(n.Dir)
	return nil
}

func (n *Note) switchOff(ctx context.Context, p *foreign.Process, w *foreign.World) error {
	if n.probes() {
		return probe.EndLeft(ctx, p, w, n.Path)
	}
	name, _ := names(n.Path)
	if err := jcmd.StopRecording(ctx, p, name, ""); !Answered(err) {
		return err
	}
	if err := jcmd.StopLog(ctx, p, path.Join(n.Path, LogFile)); !Answered(err) {
		return err
	}
	return nil
}

// Answered reports whether a JVM has done or refused a command, by the error of that command.
func Answered(err error) bool {
	var refused *jcmd.FailedError
	return err == nil || errors.As(err, &refused)
}

// removeFolder removes the JVM's folder, as the JVM's user.
func (n *Note) removeFolder(w *foreign.World) {
	if n.probes() {
		probe.RemoveFolder(w, n.Path)
		return
	}
	remove(w, n.Path)
}

// removeFolderHere removes the folder of a JVM that has ended, if the JVM's /tmp was that of this process.
func (n *Note) removeFolderHere(ctx context.Context) {
	w, err := foreign.OwnWorld(ctx, foreign.User{UID: n.uid, GID: n.gid})
	if err != nil {
		return
	}
	defer w.Close()
	n.removeFolder(w)
}

// endTime is how long one JVM may take to end what other gasms had it begin.
const endTime = 5 * time.Second

// endSoon is end with a limit of time.
func (n *Note) endSoon(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endTime, fmt.Errorf("it did not answer within %s", endTime))
	defer cancel()
	return n.end(ctx)
}

// EndLeft has the JVMs of this machine end what gasms that have ended had them begin: events and probes. It returns
// what was ended, and what was not, with the reason.
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

// EndLeftOf ends what gasms that have ended have left on in one JVM, which started at a time. What can't be ended is
// reported when it is in the way, and by the next EndLeft.
func EndLeftOf(ctx context.Context, pid int, ticks uint64) {
	EachLeft(ctx, func(n *Note) {
		if n.pid == pid && n.ticks == ticks {
			_ = n.end(ctx)
		}
	})
}

// EachLeft calls see for each note that a gasm has left, if its JVM runs and may go on. It removes all other notes,
// with what their JVMs have written.
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

// readNote reads the note in a folder of this user's.
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
	return n, n.probes() || isFolder(n.Path)
}
