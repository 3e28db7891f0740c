package jvmevents

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
)

// A RecordingOption is an option with which a JVM's Flight Recorder records from the start of the JVM, until the JVM ends
// or gasm stops the recording.
type RecordingOption struct {
	option  string // as in the JVM's arguments
	name    string // of the recording
	pattern string // the path to which the JVM writes the recording, with %p for the process id
}

// OldestWithOption is the first JDK with long support whose Flight Recorder can be started silently by an option, and
// replaces %p in the name of the recording. JDK 17 does not replace it. JDK 11 prints that a recording has started, and
// does not know the option that turns this off.
const OldestWithOption = 21

// settingsFile is the name of the file in the capture with the settings of Flight Recorder. JVMs read it when they start.
const settingsFile = "gasm.jfc"

// NewRecordingOption returns an option for JVMs of a JDK's feature release, which must have the module jdk.jfr. dir is
// the capture's folder. NewRecordingOption writes a file with the settings there, and the JVMs write their recordings
// there.
func NewRecordingOption(dir string, feature int, c *Choice) (*RecordingOption, error) {
	text, err := jfr.Settings(feature, c.JFR, c.Own...)
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, settingsFile)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the settings of Flight Recorder: %w", err)
	}
	o := &RecordingOption{name: jvmfolder.RecordingName()}
	o.pattern = filepath.Join(dir, strings.Replace(capture.RecordingFile(0, 0), "0", "%p", 1))
	o.option = fmt.Sprintf("-XX:StartFlightRecording=name=%s,settings=%s,filename=%s,dumponexit=true", o.name, settings, o.pattern)
	return o, nil
}

// Options returns all options that the JVMs need. Without the last one, they would print that a recording has started.
func (o *RecordingOption) Options() []string { return []string{o.option, "-Xlog:jfr+startup=error"} }

// maxArguments is an upper bound for the size of a process's arguments, in bytes (execve(2)).
const maxArguments = 8 << 20

// of reports whether a process was started with the option. JMH passes its own JVM's options on to its forks, so a JVM
// may have the option although gasm did not start it.
func (o *RecordingOption) of(p *foreign.Process) bool {
	if o == nil {
		return false
	}
	arguments, err := p.Read("cmdline", maxArguments)
	return err == nil && slices.Contains(strings.Split(string(arguments), "\x00"), o.option)
}

// file returns the path of the recording of one JVM.
func (o *RecordingOption) file(pid int) string {
	return strings.Replace(o.pattern, "%p", strconv.Itoa(pid), 1)
}

// takeOwnRecording names the recording that a JVM has written into the capture itself, if there is one.
func (r *recorder) takeOwnRecording(j *capture.JVM) {
	name := capture.RecordingFile(r.pid, 0)
	switch _, err := wholeRecording(r.o.path(name)); {
	case err == nil:
		j.Recordings, j.StartsUnasked = []string{name}, r.o.Choice.startsUnasked()
	case !errors.Is(err, jvmfolder.ErrNotThere):
		r.o.Problem(fmt.Errorf("taking the recording of JVM %d: %w", r.pid, err))
	}
}

// startsUnasked is [capture.JVM.StartsUnasked].
func (c *Choice) startsUnasked() bool {
	return slices.Contains(c.JFR, event.Alloc) && !slices.Contains(c.JFR, event.Thread)
}

// wholeRecording returns the size of a recording that a JVM has written into the capture itself. It removes what is not a
// regular file, is empty, or is too large. An empty file is from a JVM that was killed, so the error is ErrNotThere.
func wholeRecording(file string) (size int64, err error) {
	info, err := os.Lstat(file)
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
	return 0, errors.Join(err, os.Remove(file))
}
