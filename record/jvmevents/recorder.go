package jvmevents

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
	"github.com/gasm-profiler/gasm/record/jvmfolder"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A recorder has one running JVM log events, and record them, into a folder of its own in the JVM's /tmp. It does so by
// commands over the JVM's attach socket. All of it is ended again, also when gasm is stopped. A note is left of what a
// gasm that is killed has begun (package jvmfolder).
type recorder struct {
	o           *Options
	pid, ownPID int
	ticks       uint64 // when it started: another process may get its id

	process *foreign.Process // nil where it could not be opened, as when it has ended
	world   *foreign.World   // its files; nil before they are used

	folder     *jvmfolder.Folder
	note       *jvmfolder.Note
	logs       bool // it logs
	records    bool // it records
	repository *repository
	// recordingMono is when the recording had begun; 0 before.
	recordingMono int64
	feature       int // of its JDK; 0 when unknown
	notes         []string
	problems      []error
	begun         chan struct{} // closed when it has been told what to do, or can't be told
}

func newRecorder(pid, ownPID int, o *Options) *recorder {
	r := &recorder{o: o, pid: pid, ownPID: ownPID, ticks: processend.StartTicks(pid), begun: make(chan struct{})}
	r.process, _ = foreign.Open(pid) // start says that it has ended
	return r
}

// start waits until the JVM takes commands, and has it log and record. It gives up when the context
// begin is done. The JVM's files are used until the context reach is done.
func (r *recorder) start(begin, reach context.Context) {
	defer close(r.begun)
	if !r.awaitStart(begin) {
		r.notes = append(r.notes, fmt.Sprintf("JVM %d ended before it could be told to record events", r.pid))
		return
	}
	if err := r.prepare(begin, reach); err != nil {
		r.refused("", err)
		return
	}
	if len(r.o.Choice.Log) > 0 && !r.startLog(begin) {
		return
	}
	if len(r.o.Choice.JFR) > 0 && begin.Err() == nil {
		r.startRecording(begin)
	}
}

// startPause is the time between two looks whether a JVM runs its program. If that can't be found out,
// the JVM is taken to run its program after surelyUp.
const (
	startPause = 5 * time.Millisecond
	surelyUp   = 2 * time.Second
)

// awaitStart waits until the JVM runs its program. Before, the JVM does not take commands, and may end because of the
// signal that asks it to take them. awaitStart returns false when the JVM ends, or ctx is done.
func (r *recorder) awaitStart(ctx context.Context) bool {
	looked := time.Now()
	for {
		if r.process == nil || processend.HasEnded(r.pid, r.ticks) {
			return false
		}
		started, known := attach.Started(ctx, r.process)
		if started || !known && time.Since(looked) > surelyUp {
			if seen, err := attach.Look(ctx, r.pid); err == nil {
				r.feature = jdk.Feature(seen.Version)
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

// prepare makes the note and the folder. Wherever there is the folder, there is the note.
func (r *recorder) prepare(begin, reach context.Context) (err error) {
	jvmfolder.EndLeftOf(begin, r.pid, r.ticks)
	if r.world, err = r.process.World(reach); err != nil {
		return err
	}
	if r.note, err = jvmfolder.Leave(r.pid, r.ticks, r.world.User(), jvmfolder.NewPath()); err != nil {
		return err
	}
	if r.folder, err = jvmfolder.New(r.world, r.note.Path); err != nil {
		r.note.Forget()
	}
	return err
}

// close ends the use of the process.
func (r *recorder) close() {
	r.repository.close()
	if r.world != nil {
		r.world.Close()
	}
	if r.process != nil {
		r.process.Close()
	}
}

// startLog returns false when the JVM takes no commands at all.
func (r *recorder) startLog(ctx context.Context) (told bool) {
	if 0 < r.feature && r.feature < hslog.OldestRelease {
		r.notes = append(r.notes, fmt.Sprintf("JVM %d logged no events: JDK %d can't log them with their times (--events-from jfr)", r.pid, r.feature))
		return true
	}
	err := jcmd.StartLog(ctx, r.process, path.Join(r.folder.Path, jvmfolder.LogFile), hslog.Tags(r.o.Choice.Log), hslog.Decorators, "")
	r.logs = mayDo(err)
	var notTold *jcmd.NotToldError
	switch {
	case errors.As(err, &notTold):
		r.refused("", err)
		return false
	case err != nil:
		r.refused(" from the log", err)
	}
	return true
}

// mayDo reports whether a JVM may do what it was told. It does not when it has refused, or was not told; any other
// answer may have been lost.
func mayDo(err error) bool {
	var refused *jcmd.FailedError
	var notTold *jcmd.NotToldError
	return !errors.As(err, &refused) && !errors.As(err, &notTold)
}

func (r *recorder) startRecording(ctx context.Context) {
	text, err := jfr.Settings(r.feature, r.o.Choice.JFR, r.o.Choice.Own...)
	if err == nil {
		err = r.folder.Write(jvmfolder.SettingsFile, text)
	}
	if err != nil {
		r.refused(fromRecording, err)
		return
	}
	shared := r.openChunk() != "" // the user records already
	err = jcmd.StartRecording(ctx, r.process, r.folder.Name, path.Join(r.folder.Path, jvmfolder.SettingsFile), path.Join(r.folder.Path, jvmfolder.RecordingFile))
	r.records = mayDo(err)
	refused := (*jcmd.FailedError)(nil)
	switch {
	case errors.As(err, &refused):
		if strings.Contains(refused.Reply, "Unknown diagnostic command") {
			err = errors.New("it has no Flight Recorder (JDK 9, 10 and early 8 have none, nor has a runtime without the module jdk.jfr)")
		}
		fallthrough
	case err != nil:
		r.refused(fromRecording, err)
		return
	}
	r.recordingMono = monotonic.Nanos()
	if chunk := r.openChunk(); chunk != "" {
		r.repository = openRepository(r.world, path.Dir(chunk), shared)
	}
}

const fromRecording = " from a recording"

// refused notes why there are no events of the JVM, or none from one source.
func (r *recorder) refused(from string, err error) {
	var notTold *jcmd.NotToldError
	why := err.Error()
	switch {
	case processend.HasEnded(r.pid, r.ticks):
		why = "it ended before that had begun"
	case errors.Is(err, context.Canceled), errors.Is(err, patience.ErrStopped):
		why = "gasm was stopped, or the JVM ended, before that had begun"
	case errors.As(err, &notTold):
		why = "it takes no commands: " + notTold.Err.Error()
	}
	r.notes = append(r.notes, fmt.Sprintf("no events of JVM %d%s: %s", r.pid, from, why))
}

// end has the JVM end what it does. What the JVM does not end is a problem. end returns false where the JVM still has
// not answered to what it was told at the beginning. The recorder must not be used any more then, and the next gasm
// finds the note.
func (r *recorder) end(ctx context.Context) bool {
	select {
	case <-r.begun:
	case <-ctx.Done():
		return false
	}
	r.endBegun(ctx)
	return true
}

func (r *recorder) endBegun(ctx context.Context) {
	if r.folder == nil || processend.HasEnded(r.pid, r.ticks) {
		return
	}
	switch err := r.switchOff(ctx); {
	case err == nil:
		r.note.SwitchedOff()
	case !processend.HasEnded(r.pid, r.ticks):
		r.problems = append(r.problems, fmt.Errorf("JVM %d still logs or records events: `gasm attach` ends that as soon as it answers (%w)", r.pid, err))
		r.note.Close()
	}
}

// switchOff ends the recording and the log. If the JVM does not answer to the first command, there is no second one.
func (r *recorder) switchOff(ctx context.Context) (err error) {
	if r.records {
		err = jcmd.StopRecording(ctx, r.process, r.folder.Name, path.Join(r.folder.Path, jvmfolder.RecordingFile))
	}
	if !r.logs || !jvmfolder.Answered(err) {
		return err
	}
	return cmp.Or(err, jcmd.StopLog(ctx, r.process, path.Join(r.folder.Path, jvmfolder.LogFile)))
}

// release removes the folder and then the note, unless the JVM may still write there.
func (r *recorder) release() {
	switch {
	case r.folder == nil:
	case r.problems != nil:
		r.folder.Close()
	default:
		r.folder.Remove()
		r.note.Forget()
	}
}

// discard removes what the JVM has written, when there is to be no capture.
func (r *recorder) discard() {
	if processend.HasEnded(r.pid, r.ticks) {
		r.repository.remove()
	}
	r.release()
	r.close()
}

// take moves what the JVM has written into the capture.
func (r *recorder) take(j *capture.JVM, startedMonoNanos int64) (notes []string) {
	defer r.close()
	if r.folder == nil {
		return r.notes
	}
	defer r.release()
	if r.logs {
		j.EventLog = r.takeLog()
	}
	if r.records {
		j.Recordings = r.takeRecordings()
		j.StartsUnasked = slices.Contains(r.o.Choice.JFR, event.Alloc) && !slices.Contains(r.o.Choice.JFR, event.Thread)
		switch late := time.Duration(r.recordingMono - max(j.StartMonoNanos, startedMonoNanos)); {
		case r.recordingMono == 0: // a note says why
		case len(j.Recordings) == 0:
			r.notes = append(r.notes, fmt.Sprintf("no events of JVM %d from a recording: it has left none", r.pid))
		case late > noteworthy:
			r.notes = append(r.notes, fmt.Sprintf("the recording of JVM %d began %.1f s after its start: what happened before is not in it", r.pid, late.Seconds()))
		}
	}
	return r.notes
}

// noteworthy is how late a recording must begin to be noted.
const noteworthy = 100 * time.Millisecond

// takeLog moves the log and its rotated files into the capture. It returns the log's name, or "" if there is none.
func (r *recorder) takeLog() (name string) {
	for i, suffix := range append([]string{""}, hslog.Rotated("")...) {
		to := capture.EventLog(r.pid) + suffix
		switch err := r.folder.Take(jvmfolder.LogFile+suffix, r.o.path(to), maxEventLog); {
		case err == nil && i == 0:
			name = to
		case errors.Is(err, jvmfolder.ErrNotThere) && (i > 0 || r.problems != nil): // the log may not have begun, and a problem says so
		case err != nil:
			r.o.Problem(fmt.Errorf("taking the events of JVM %d: %w", r.pid, err))
		}
	}
	return name
}

// Flight Recorder drops the oldest chunks of a recording that is larger than this.
const keptRecording, chunkSize = 250 << 20, 16 << 20

// takeRecordings takes the recording, or what a JVM that was killed has left of it.
func (r *recorder) takeRecordings() (names []string) {
	name := capture.RecordingFile(r.pid, 0)
	size, err := r.takeWhole(r.o.path(name))
	if err == nil {
		if size > keptRecording-chunkSize {
			r.notes = append(r.notes, fmt.Sprintf("the recording of JVM %d may lack what happened first: Flight Recorder keeps 250 MiB", r.pid))
		}
		return []string{name}
	}
	if !errors.Is(err, jvmfolder.ErrNotThere) {
		r.o.Problem(fmt.Errorf("taking the recording of JVM %d: %w", r.pid, err))
	}
	taken, err := r.repository.takeChunks(func(number int) string { return r.o.path(capture.RecordingFile(r.pid, number)) })
	if err != nil {
		r.o.Problem(fmt.Errorf("taking the recording of JVM %d: %w", r.pid, err))
	}
	for number := range taken {
		names = append(names, capture.RecordingFile(r.pid, number))
	}
	if processend.HasEnded(r.pid, r.ticks) {
		r.repository.remove()
	}
	return names
}

// takeWhole takes the recording that the JVM writes when the recording is stopped. An empty file is not a recording:
// Flight Recorder makes the file when a recording begins, and a JVM that was killed has not written it.
func (r *recorder) takeWhole(to string) (size int64, err error) {
	if err = r.folder.Take(jvmfolder.RecordingFile, to, maxRecording); err != nil {
		return 0, err
	}
	info, err := os.Stat(to)
	if err == nil && info.Size() == 0 {
		err = errors.Join(jvmfolder.ErrNotThere, os.Remove(to))
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// maxEventLog is an upper bound for each file of a log, in bytes. HotSpot begins another file at 20 MB, unless a single
// event is larger.
const maxEventLog = 1 << 28

// openChunk returns the file that a JVM's Flight Recorder writes into, which is a .part with JDK 11; "" when it does
// not record.
func (r *recorder) openChunk() string {
	for _, file := range r.process.OpenFiles() {
		if chunkName.MatchString(path.Base(file)) && isRepository(path.Dir(file), r.ownPID) {
			return file
		}
	}
	return ""
}
