package jvmevents

import (
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

// A RecordingOption is an option that makes a JVM's Flight Recorder record from the start of the JVM. It records until
// the JVM ends or gasm stops the recording.
type RecordingOption struct {
	option  string // as in the JVM's arguments
	name    string // of the recording
	pattern string // the path to which the JVM writes the recording, with %p for the process id
}

// OldestWithOption is the oldest JDK with long-term support in which gasm can use a RecordingOption. JDK 17 does not
// replace %p in the recording's file name. JDK 11 always prints that a recording has started, and does not know the
// option that turns this off.
const OldestWithOption = 21

// settingsFile is the name of the file with the settings of Flight Recorder. It is in the capture, and JVMs read it
// when they start.
const settingsFile = "gasm.jfc"

// NewRecordingOption returns an option for JVMs of a JDK's feature release, which must have the module jdk.jfr. dir is
// the capture's folder. NewRecordingOption writes a file with the settings to dir, and the JVMs write their recordings
// to dir.
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
	o.option = fmt.Sprintf("-XX:StartFlightRecording=name=%s,settings=%s,filename=%s,dumponexit=true", o.name, settings,
		o.pattern)
	return o, nil
}

// Options returns all options that the JVMs need. Without the second one, they would print that a recording has
// started.
func (o *RecordingOption) Options() []string { return []string{o.option, "-Xlog:jfr+startup=error"} }

// maxArguments is an upper bound for the size of a process's arguments, in bytes (execve(2)).
const maxArguments = 8 << 20

// of reports whether a process was started with the option. A JVM that gasm did not start may also have it, because
// JMH passes the options of its own JVM on to its forks.
func (o *RecordingOption) of(p *foreign.Process) bool {
	if o == nil {
		return false
	}
	arguments, err := p.Read("cmdline", maxArguments)
	return err == nil && slices.Contains(strings.Split(string(arguments), "\x00"), o.option)
}

// file returns the path of the recording of the JVM with this process id.
func (o *RecordingOption) file(pid int) string { return pathOf(o.pattern, pid) }

// pathOf returns the path of a file that an option makes a JVM write. HotSpot replaces %p in the pattern with the
// process id that the JVM itself sees.
func pathOf(pattern string, pid int) string {
	return strings.Replace(pattern, "%p", strconv.Itoa(pid), 1)
}

// logsByOption reports whether the JVM has a log because of an option at its start. It is called when the JVM already
// runs its program.
func (r *recorder) logsByOption() bool {
	if r.o.LogPattern == "" {
		return false
	}
	_, err := os.Lstat(pathOf(r.o.LogPattern, r.ownPID))
	return err == nil
}

// inlining reports whether the recordings have the compilers' decisions about calls ([capture.JVM.Inlining]).
func (c *Choice) inlining() bool { return slices.Contains(c.JFR, event.Inlining) }

// startsUnasked reports whether the recordings have the starts of threads only because allocation samples need them
// ([capture.JVM.StartsUnasked]).
func (c *Choice) startsUnasked() bool {
	return slices.Contains(c.JFR, event.Alloc) && !slices.Contains(c.JFR, event.Thread)
}
