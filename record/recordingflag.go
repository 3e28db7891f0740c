package record

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/record/jvmevents"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
)

// oldestByOption is the first JDK with a long life whose Flight Recorder can be started silently by an option, with the
// process id in the name of the recording. JDK 17 does not replace %p in that name. JDK 11 prints that a recording has
// started, and the option that turns this off, -Xlog:jfr+startup, is not known to it.
const oldestByOption = 21

// settingsFile is the name of the file in the capture with the settings of Flight Recorder. JVMs read it when they start.
const settingsFile = "gasm.jfc"

// addRecordingFlag adds the options that make Flight Recorder record from the JVM's start. It does that only for commands
// whose JDK is known to start with these options. All other JVMs are told to record as soon as they run their program; see
// package jvmevents.
func (r *Recording) addRecordingFlag(flags javaFlags) (javaFlags, error) {
	command, kinds := r.o.Command, r.o.Events.JFR
	if len(kinds) == 0 || runtime.GOOS != "linux" || !takesOptions(command) || namesOtherJVM(command) || !jdk.Has(command, "jdk.jfr") {
		return flags, nil
	}
	release := jdk.Release(command)
	pattern, err := r.folder.EventPattern()
	if release < oldestByOption || err != nil || hslog.CheckFolder(filepath.Dir(pattern)) != nil {
		return flags, nil
	}
	text, err := jfr.Settings(release, kinds, r.o.Events.Own...)
	if err != nil {
		return flags, err
	}
	dir := filepath.Dir(pattern)
	settings := filepath.Join(dir, settingsFile)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return flags, fmt.Errorf("writing the settings of Flight Recorder: %w", err)
	}
	name := jvmfolder.RecordingName()
	file := strings.TrimSuffix(pattern, filepath.Ext(pattern)) + filepath.Ext(capture.RecordingFile(0, 0))
	start := fmt.Sprintf("-XX:StartFlightRecording=name=%s,settings=%s,filename=%s,dumponexit=true", name, settings, file)
	r.recordingOption = &jvmevents.RecordingOption{Option: start, Name: name, File: file}
	flags.command = append(slices.Clip(flags.command), start, "-Xlog:jfr+startup=error")
	return flags, nil
}
