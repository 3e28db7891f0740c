package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/folder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A toldJVM is a running JVM that is told by its attach socket to log events, and to record
// them, into a folder of its own in its /tmp. All of it is ended again, also when gasm is
// stopped; of a gasm that is killed there is a note (leftevents.go).
type toldJVM struct {
	pid, ownPID int
	ticks       uint64 // when it started: another process may get its id
	choice      *EventChoice
	patience    *patience

	process *foreign.Process // nil where it could not be opened, as of one that has ended
	world   *foreign.World   // its files; nil before

	folder     *jvmFolder
	note       *eventNote
	logs       bool // it logs
	records    bool // it records
	repository *jvmRepository
	// recordingMono is when the recording had begun; 0 before.
	recordingMono int64
	feature       int // of its JDK; 0 when unknown
	notes         []string
	problems      []error
	begun         chan struct{} // closed when it has been told, or can't be
}

// Names in a JVM's folder. The recording has the name of the folder, so that each gasm ends its own.
const (
	toldLog       = "events.log"
	toldRecording = "events.jfr"
	toldSettings  = "gasm.jfc"
)

func newToldJVM(pid, ownPID int, choice *EventChoice, wait *patience) *toldJVM {
	t := &toldJVM{pid: pid, ownPID: ownPID, ticks: processend.StartTicks(pid), choice: choice, patience: wait, begun: make(chan struct{})}
	t.process, _ = foreign.Open(pid) // start says that it has ended
	return t
}

// start waits until the JVM can be told anything, and tells it.
func (t *toldJVM) start(ctx context.Context) {
	defer close(t.begun)
	if !t.awaitStart(ctx) {
		t.notes = append(t.notes, fmt.Sprintf("JVM %d ended before it could be told to record events", t.pid))
		return
	}
	if err := t.prepare(ctx); err != nil {
		t.refused("", err)
		return
	}
	if len(t.choice.Log) > 0 && !t.startLog(ctx) {
		return
	}
	if len(t.choice.JFR) > 0 && ctx.Err() == nil {
		t.startRecording(ctx)
	}
}

// How long to wait until a JVM runs its program: how often it is looked at, and how long of one that does not tell.
const (
	startPause = 5 * time.Millisecond
	surelyUp   = 2 * time.Second
)

// awaitStart waits until the JVM runs its program. One that has not come so far does not take commands, and may end
// because of the signal that asks it to. It is false when the JVM ends, or ctx is done.
func (t *toldJVM) awaitStart(ctx context.Context) bool {
	looked := time.Now()
	for {
		if t.process == nil || processend.HasEnded(t.pid, t.ticks) {
			return false
		}
		started, known := attach.Started(t.process)
		if started || !known && time.Since(looked) > surelyUp {
			if seen, err := attach.Look(t.pid); err == nil {
				t.feature = jdk.Feature(seen.Version)
				return true
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(startPause):
		}
	}
}

// prepare makes the note and the folder. While there is the one, there is the other.
func (t *toldJVM) prepare(ctx context.Context) (err error) {
	endLeftEvents(ctx, t.pid, t.ticks)
	if t.world, err = t.process.World(t.patience.reach); err != nil {
		return err
	}
	if t.note, err = leaveEventNote(t.pid, t.ticks, t.world.User(), jvmFolderPath()); err != nil {
		return err
	}
	if t.folder, err = newJVMFolder(t.world, t.note.path); err != nil {
		t.note.forget()
	}
	return err
}

// close ends the use of the process.
func (t *toldJVM) close() {
	t.repository.close()
	if t.world != nil {
		t.world.Close()
	}
	if t.process != nil {
		t.process.Close()
	}
}

// startLog is false when the JVM takes no commands at all.
func (t *toldJVM) startLog(ctx context.Context) (told bool) {
	if 0 < t.feature && t.feature < hslog.OldestRelease {
		t.notes = append(t.notes, fmt.Sprintf("JVM %d logged no events: JDK %d can't log them with their times (--events-from jfr)", t.pid, t.feature))
		return true
	}
	err := jcmd.StartLog(ctx, t.process, path.Join(t.folder.path, toldLog), hslog.Tags(t.choice.Log), hslog.Decorators, "")
	t.logs = mayDo(err)
	var notTold *jcmd.NotToldError
	switch {
	case errors.As(err, &notTold):
		t.refused("", err)
		return false
	case err != nil:
		t.refused(" from the log", err)
	}
	return true
}

// mayDo tells whether a JVM may do what it was told. It has said no, or was not told; any other answer may be lost.
func mayDo(err error) bool {
	var refused *jcmd.FailedError
	var notTold *jcmd.NotToldError
	return !errors.As(err, &refused) && !errors.As(err, &notTold)
}

func (t *toldJVM) startRecording(ctx context.Context) {
	text, err := jfr.Settings(t.feature, t.choice.JFR, t.choice.Own...)
	if err == nil {
		err = t.folder.write(toldSettings, text)
	}
	if err != nil {
		t.refused(fromRecording, err)
		return
	}
	own := t.openChunk() != "" // the user's
	err = jcmd.StartRecording(ctx, t.process, t.folder.name, path.Join(t.folder.path, toldSettings), path.Join(t.folder.path, toldRecording))
	t.records = mayDo(err)
	refused := (*jcmd.FailedError)(nil)
	switch {
	case errors.As(err, &refused):
		if strings.Contains(refused.Reply, "Unknown diagnostic command") {
			err = errors.New("it has no Flight Recorder (JDK 9, 10 and early 8 have none, nor has a runtime without the module jdk.jfr)")
		}
		fallthrough
	case err != nil:
		t.refused(fromRecording, err)
		return
	}
	t.recordingMono = monotonic.Nanos()
	if chunk := t.openChunk(); chunk != "" {
		t.repository = openJVMRepository(t.world, path.Dir(chunk), own)
	}
}

const fromRecording = " from a recording"

// refused notes what the JVM did not do: all, or what is from one source.
func (t *toldJVM) refused(from string, err error) {
	var notTold *jcmd.NotToldError
	why := err.Error()
	switch {
	case processend.HasEnded(t.pid, t.ticks):
		why = "it ended before that had begun"
	case errors.Is(err, context.Canceled), errors.Is(err, errStopped):
		why = "gasm was stopped, or the JVM ended, before that had begun"
	case errors.As(err, &notTold):
		why = "it can't be told anything: " + notTold.Err.Error()
	}
	t.notes = append(t.notes, fmt.Sprintf("no events of JVM %d%s: %s", t.pid, from, why))
}

// end has the JVM end what it does. What it does not end is a problem. It is false where the JVM still has not answered to
// what it was told at the beginning: then nobody may use t any more, and the next gasm finds the note.
func (t *toldJVM) end(ctx context.Context) bool {
	select {
	case <-t.begun:
	case <-ctx.Done():
		return false
	}
	t.endBegun(ctx)
	return true
}

func (t *toldJVM) endBegun(ctx context.Context) {
	if t.folder == nil || processend.HasEnded(t.pid, t.ticks) {
		return
	}
	switch err := t.switchOff(ctx); {
	case err == nil:
		t.note.switchedOff()
	case !processend.HasEnded(t.pid, t.ticks):
		t.problems = append(t.problems, fmt.Errorf("JVM %d still logs or records events: `gasm attach` ends that as soon as it answers (%w)", t.pid, err))
		t.note.leave()
	}
}

// switchOff ends the recording and the log. A JVM that does not answer is asked once.
func (t *toldJVM) switchOff(ctx context.Context) (err error) {
	if t.records {
		err = jcmd.StopRecording(ctx, t.process, t.folder.name, path.Join(t.folder.path, toldRecording))
	}
	if !t.logs || !answered(err) {
		return err
	}
	return cmp.Or(err, jcmd.StopLog(ctx, t.process, path.Join(t.folder.path, toldLog)))
}

// release removes the folder and then the note, unless the JVM may go on to write there.
func (t *toldJVM) release() {
	switch {
	case t.folder == nil:
	case t.problems != nil:
		t.folder.close()
	default:
		t.folder.remove()
		t.note.forget()
	}
}

// discard removes what is there for a capture that is not to be.
func (t *toldJVM) discard() {
	if processend.HasEnded(t.pid, t.ticks) {
		t.repository.remove()
	}
	t.release()
	t.close()
}

// take moves what the JVM has written into the capture.
func (t *toldJVM) take(s *session, j *capture.JVM) (notes []string) {
	defer t.close()
	if t.folder == nil {
		return t.notes
	}
	defer t.release()
	if t.logs {
		j.EventLog = t.takeLog(s)
	}
	if t.records {
		j.Recordings = t.takeRecordings(s)
		j.StartsUnasked = slices.Contains(t.choice.JFR, event.Alloc) && !slices.Contains(t.choice.JFR, event.Thread)
		switch late := time.Duration(t.recordingMono - max(j.StartMonoNanos, s.startedMonoNanos)); {
		case t.recordingMono == 0: // a note says why
		case len(j.Recordings) == 0:
			t.notes = append(t.notes, fmt.Sprintf("no events of JVM %d from a recording: it has left none", t.pid))
		case late > tellLate:
			t.notes = append(t.notes, fmt.Sprintf("the recording of JVM %d began %.1f s after its start: what happened before is not in it", t.pid, late.Seconds()))
		}
	}
	return t.notes
}

// tellLate is how late a recording must begin for a note.
const tellLate = 100 * time.Millisecond

// takeLog takes the log, and the full files that HotSpot has kept of it.
func (t *toldJVM) takeLog(s *session) (name string) {
	for i, suffix := range append([]string{""}, hslog.Rotated("")...) {
		to := capture.EventLog(t.pid) + suffix
		switch err := t.folder.take(toldLog+suffix, s.path(to), folder.MaxEventLog); {
		case err == nil && i == 0:
			name = to
		case errors.Is(err, errNotThere) && (i > 0 || t.problems != nil): // it may not have begun, which the problem says
		case err != nil:
			s.problem(fmt.Errorf("taking the events of JVM %d: %w", t.pid, err))
		}
	}
	return name
}

// Flight Recorder drops the oldest chunks of a recording that is larger than this.
const keptRecording, chunkSize = 250 << 20, 16 << 20

// takeRecordings takes the recording, or what a JVM that was killed has left of it.
func (t *toldJVM) takeRecordings(s *session) (names []string) {
	name := capture.RecordingFile(t.pid, 0)
	size, err := t.takeWhole(s.path(name))
	if err == nil {
		if size > keptRecording-chunkSize {
			t.notes = append(t.notes, fmt.Sprintf("the recording of JVM %d may lack what happened first: Flight Recorder keeps 250 MB", t.pid))
		}
		return []string{name}
	}
	if !errors.Is(err, errNotThere) {
		s.problem(fmt.Errorf("taking the recording of JVM %d: %w", t.pid, err))
	}
	taken, err := t.repository.takeChunks(func(number int) string { return s.path(capture.RecordingFile(t.pid, number)) })
	if err != nil {
		s.problem(fmt.Errorf("taking the recording of JVM %d: %w", t.pid, err))
	}
	for number := range taken {
		names = append(names, capture.RecordingFile(t.pid, number))
	}
	if processend.HasEnded(t.pid, t.ticks) {
		t.repository.remove()
	}
	return names
}

// takeWhole takes the recording that the JVM writes when it is stopped. It is not there where its file is empty: Flight
// Recorder makes it when a recording begins, and a JVM that was killed has not written it.
func (t *toldJVM) takeWhole(to string) (size int64, err error) {
	if err = t.folder.take(toldRecording, to, maxRecording); err != nil {
		return 0, err
	}
	info, err := os.Stat(to)
	if err == nil && info.Size() == 0 {
		err = errors.Join(errNotThere, os.Remove(to))
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
