package jvmevents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
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

// A recorder makes one running JVM log events, and record events with Flight Recorder. It sends commands over the JVM's
// attach socket. The JVM writes into a folder that the recorder has made in the JVM's /tmp. At the end, and also if
// gasm is stopped, the recorder switches everything off again. It also leaves a note (package jvmfolder). If gasm is
// killed, a later gasm process finds the note and switches everything off.
type recorder struct {
	o           *Options
	pid, ownPID int
	ticks       uint64 // start time of the process; distinguishes it from a later process with the same id

	process *foreign.Process // nil if it could not be opened, for example because it has ended
	world   *foreign.World   // the JVM's files; nil before prepare

	folder     *jvmfolder.Folder
	note       *jvmfolder.Note
	logs       bool // the JVM may be logging events
	unanswered bool // logs is true only because the JVM's answer was lost, for example because the JVM ended
	records    bool // the JVM may be recording events
	byOption   bool // the JVM has recorded since its start, because of Options.Started
	kept       jcmd.Kept
	repository *repository
	// recordingMono is the time at which the JVM answered that its recording had begun. It is 0 until then.
	recordingMono int64
	feature       int    // feature release of the JVM's JDK; 0 if unknown
	early         bool   // the JVM, or the sampling, ended before the JVM took commands
	why           string // why the JVM records no events, if it refused to; it is also in a note
	notes         []string
	problems      []error
	begun         chan struct{} // closed when start has finished, whether it succeeded or not
}

func newRecorder(pid, ownPID int, o *Options) *recorder {
	r := &recorder{o: o, pid: pid, ownPID: ownPID, ticks: processend.StartTicks(pid), begun: make(chan struct{})}
	r.process, _ = foreign.Open(pid) // if this fails, start notes that the JVM has ended
	r.byOption = r.process != nil && pid == ownPID && o.Started.of(r.process)
	return r
}

// start waits until the JVM accepts commands, and then makes it log and record events. It gives up when the context
// begin is done. When the context reach is done, gasm no longer accesses the JVM's files.
func (r *recorder) start(begin, reach context.Context) {
	defer close(r.begun)
	if r.byOption { // the JVM may already be recording, so there must be a note for the next gasm process
		if !r.prepared(begin, reach) {
			return
		}
		r.records = true
	}
	if !r.awaitStart(begin) {
		r.early = true
		return
	}
	needsLog := len(r.o.Choice.Log) > 0 && !r.logsByOption()
	if !needsLog && len(r.o.Choice.JFR) == 0 || !r.prepared(begin, reach) {
		return
	}
	if needsLog && !r.startLog(begin) {
		return
	}
	switch {
	case len(r.o.Choice.JFR) == 0 || begin.Err() != nil:
	case r.byOption:
		r.findRepository(false)
	default:
		r.startRecording(begin)
	}
}

// startPause is the time between two checks whether a JVM has begun to run its program. If gasm can't find that out,
// it assumes after surelyUp that the program runs.
const (
	startPause = 5 * time.Millisecond
	surelyUp   = 2 * time.Second
)

// awaitStart waits until the JVM runs its program. Earlier, the JVM does not accept commands, and the signal that asks
// it to open its attach socket may kill it. awaitStart returns false if the JVM ends or ctx is done.
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

// prepared calls prepare, unless that was done before. If prepare fails, a note is added, and the result is false.
func (r *recorder) prepared(begin, reach context.Context) bool {
	if r.folder != nil {
		return true
	}
	err := r.prepare(begin, reach)
	if err != nil {
		r.refused("", err)
	}
	return err == nil
}

// prepare writes the note first and then makes the folder, so that there is never a folder without a note.
func (r *recorder) prepare(begin, reach context.Context) (err error) {
	jvmfolder.EndLeftOf(begin, r.pid, r.ticks)
	if r.world, err = r.process.World(reach); err != nil {
		return err
	}
	started := ""
	if r.byOption {
		started = r.o.Started.name
	}
	if r.note, err = jvmfolder.Leave(r.pid, r.ticks, r.world.User(), jvmfolder.NewPath(), started); err != nil {
		return err
	}
	if r.folder, err = jvmfolder.New(r.world, r.note.Path); err != nil {
		r.note.Done(r.world)
	}
	return err
}

// close closes the process, its files and its repository.
func (r *recorder) close() {
	r.repository.close()
	if r.world != nil {
		r.world.Close()
	}
	if r.process != nil {
		r.process.Close()
	}
}

// startLog makes the JVM log events. It returns false if the JVM accepts no commands.
func (r *recorder) startLog(ctx context.Context) (told bool) {
	if 0 < r.feature && r.feature < hslog.OldestRelease {
		r.notes =
			append(r.notes, fmt.Sprintf("JVM %d logged no events: JDK %d can't log them with their times (--events-from jfr)",
				r.pid, r.feature))
		return true
	}
	err := jcmd.StartLog(ctx, r.process, path.Join(r.folder.Path, jvmfolder.LogFile), hslog.Tags(r.o.Choice.Log),
		hslog.Decorators, "")
	r.logs, r.unanswered = mayDo(err), err != nil
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

// mayDo reports whether a JVM may have executed a command. err is the result of sending the command. If err says that
// the JVM refused the command or never got it, mayDo returns false. After any other error, the JVM may have executed
// the command, and only its answer was lost.
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
	shared := r.openChunk() != "" // the user already has a recording in this JVM
	err = jcmd.StartRecording(ctx, r.process, r.folder.Name, path.Join(r.folder.Path, jvmfolder.SettingsFile),
		path.Join(r.folder.Path, jvmfolder.RecordingFile), r.kept)
	r.records = mayDo(err)
	refused := (*jcmd.FailedError)(nil)
	switch {
	case errors.As(err, &refused):
		if strings.Contains(refused.Reply, "Unknown diagnostic command") {
			err =
				errors.New("it has no Flight Recorder (JDK 9, 10 and early 8 have none, nor has a runtime without the module jdk.jfr)")
		}
		fallthrough
	case err != nil:
		r.refused(fromRecording, err)
		return
	}
	r.recordingMono = monotonic.Nanos()
	r.findRepository(shared)
}

// findRepository finds the folder with the JVM's chunks. shared is true if the folder also has chunks of a recording
// that the user started.
func (r *recorder) findRepository(shared bool) {
	if chunk := r.openChunk(); chunk != "" {
		r.repository = openRepository(r.world, path.Dir(chunk), shared)
	}
}

const fromRecording = " from a recording"

// refused adds a note that says why there are no events of the JVM. The parameter from is the source of the missing
// events, such as " from the log", or "" for all events.
func (r *recorder) refused(from string, err error) {
	var notTold *jcmd.NotToldError
	why := err.Error()
	switch ended := processend.HasEnded(r.pid, r.ticks); {
	case ended && r.o.LogPattern != "" && !r.o.Choice.Asked:
		r.early = true // treat the JVM as if it had ended before it took commands; see Take
		return
	case ended:
		why = "it ended before that had begun"
	case errors.Is(err, context.Canceled), errors.Is(err, patience.ErrStopped):
		why = "gasm was stopped, or the JVM ended, before that had begun"
	case errors.As(err, &notTold):
		why = "it takes no commands: " + notTold.Err.Error()
	}
	r.why = why
	r.notes = append(r.notes, fmt.Sprintf("no events of JVM %d%s: %s", r.pid, from, why))
}

// end makes the JVM end its log and its recording. If the JVM does not do so, end adds a problem. The result is false
// if r.start is still waiting for an answer of the JVM. The recorder must then not be used any more; the next gasm
// process finds the note.
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
		r.problems = append(r.problems,
			fmt.Errorf("JVM %d still logs or records events: `gasm attach` ends that as soon as it answers (%w)", r.pid, err))
		r.note.Close()
	}
}

// switchOff ends the recording and then the log. If the JVM does not answer the first command, switchOff does not send
// the second one.
func (r *recorder) switchOff(ctx context.Context) (err error) {
	switch {
	case r.byOption && r.records:
		err = jcmd.StopRecording(ctx, r.process, r.o.Started.name, r.o.Started.file(r.ownPID))
	case r.records:
		err = jcmd.StopRecording(ctx, r.process, r.folder.Name, path.Join(r.folder.Path, jvmfolder.RecordingFile))
	}
	if !r.logs || !jvmfolder.Answered(err) {
		return err
	}
	return cmp.Or(err, jcmd.StopLog(ctx, r.process, path.Join(r.folder.Path, jvmfolder.LogFile)))
}

// release removes the folder and then the note. It keeps both if the JVM may still write to the folder.
func (r *recorder) release() {
	switch {
	case r.folder == nil:
	case r.problems != nil:
		r.folder.Close()
	default:
		r.folder.Remove()
		r.note.Done(r.world)
	}
}

// discard removes the files that the JVM has written. It is called if no capture will be made.
func (r *recorder) discard() {
	if processend.HasEnded(r.pid, r.ticks) {
		r.repository.remove()
	}
	r.release()
	r.close()
}

// take moves the files that the JVM has written into the capture, and sets their names in j. The notes say which events
// are missing.
func (r *recorder) take(j *capture.JVM, startedMonoNanos int64) (notes []string) {
	defer r.close()
	if r.folder == nil {
		if r.byOption { // the JVM writes these recordings directly into the capture
			j.Recordings, j.StartsUnasked, j.Inlining = r.takeRecordings(), r.o.Choice.startsUnasked(), r.o.Choice.inlining()
		}
		return r.notes
	}
	defer r.release()
	if r.logs {
		j.EventLog = r.takeLog()
	}
	if r.records {
		j.Recordings = r.takeRecordings()
		j.StartsUnasked, j.Inlining = r.o.Choice.startsUnasked(), r.o.Choice.inlining()
		if r.byOption {
			r.recordingMono = j.StartMonoNanos
		}
		switch late := time.Duration(r.recordingMono - max(j.StartMonoNanos, startedMonoNanos)); {
		case r.recordingMono == 0: // the recording did not begin, and a note says why
		case len(j.Recordings) == 0:
			r.notes = append(r.notes, fmt.Sprintf("no events of JVM %d from a recording: it has left none", r.pid))
		case late > noteworthy:
			j.RecordingFromMonoNanos, j.RecordingLateNanos = r.recordingMono, int64(late)
			r.notes =
				append(r.notes, fmt.Sprintf("Flight Recorder began %.1f s after the start of JVM %d: tables of events lack what happened before", late.Seconds(), r.pid))
		}
	}
	return r.notes
}

// noteworthy is the longest delay that needs no note. It applies to the start of a recording by Flight Recorder, and to
// the setting of USDT probes.
const noteworthy = 100 * time.Millisecond

// takeLog moves the log and its older, full files into the capture. It returns the log's name, or "" if there is no
// log.
func (r *recorder) takeLog() (name string) {
	for i, suffix := range append([]string{""}, hslog.Rotated("")...) {
		to := capture.EventLog(r.pid) + suffix
		switch err := r.folder.Take(jvmfolder.LogFile+suffix, r.o.path(to), maxEventLog); {
		case err == nil && i == 0:
			name = to
		case errors.Is(err, jvmfolder.ErrNotThere) && (i > 0 || r.unanswered || r.problems != nil):
			// The log may not have begun. Then a note or a problem says so.
		case err != nil:
			r.o.Problem(fmt.Errorf("taking the events of JVM %d: %w", r.pid, err))
		}
	}
	return name
}

// Flight Recorder writes a recording in chunks. When the recording gets larger than keptRecording, Flight Recorder
// drops the oldest chunks. No chunk is larger than chunkSize. Both sizes are in bytes.
const keptRecording, chunkSize = 250 << 20, 16 << 20

// takeRecordings moves the recording into the capture. If the JVM was killed, it takes the chunks that the JVM has left
// behind. It returns the names of the files in the capture.
func (r *recorder) takeRecordings() (names []string) {
	name := capture.RecordingFile(r.pid, 0)
	size, err := r.takeWhole(r.o.path(name))
	if err == nil {
		if size > keptRecording-chunkSize {
			r.notes =
				append(r.notes, fmt.Sprintf("the recording of JVM %d may lack what happened first: Flight Recorder keeps 250 MiB",
					r.pid))
		}
		return []string{name}
	}
	if !errors.Is(err, jvmfolder.ErrNotThere) {
		r.o.Problem(fmt.Errorf("taking the recording of JVM %d: %w", r.pid, err))
	}
	taken, err := r.repository.takeChunks(func(number int) string {
		return r.o.path(capture.RecordingFile(r.pid,
			number))
	})
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

// takeWhole takes the file to which the JVM writes the whole recording when the recording is stopped. It copies this
// file into the capture, unless the JVM has written it there itself. It returns the file's size in bytes. If the file
// is empty, the error is ErrNotThere: Flight Recorder creates the file when the recording begins, so a JVM that was
// killed leaves an empty file. takeWhole removes the capture's file if it is empty, not a regular file, or too large.
func (r *recorder) takeWhole(to string) (size int64, err error) {
	if !r.byOption {
		if err = r.folder.Take(jvmfolder.RecordingFile, to, maxRecording); err != nil {
			return 0, err
		}
	}
	info, err := os.Lstat(to)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, jvmfolder.ErrNotThere
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case info.Size() == 0:
		err = jvmfolder.ErrNotThere
	case info.Size() > maxRecording:
		err = fmt.Errorf("it has %d bytes, and gasm takes %d", info.Size(), maxRecording)
	default:
		return info.Size(), nil
	}
	return 0, errors.Join(err, os.Remove(to))
}

// maxEventLog is the maximum size of a log file in bytes. HotSpot begins a new file at 20 MB, so only a single, very
// long event can make a file much larger.
const maxEventLog = 1 << 28

// openChunk returns the path of the chunk that the JVM's Flight Recorder is writing, or "" if Flight Recorder is not
// recording. The chunk's name ends in .jfr, or in .part with JDK 11.
func (r *recorder) openChunk() string {
	for _, file := range r.process.OpenFiles() {
		if chunkName.MatchString(path.Base(file)) && isRepository(path.Dir(file), r.ownPID) {
			return file
		}
	}
	return ""
}
