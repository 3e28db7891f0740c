package record

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/record/jvmevents"
)

// addRecordingFlag adds the options that make Flight Recorder record from the JVM's start. It adds them only if the
// command's JDK certainly starts with these options. Other JVMs are told to record as soon as they run their program;
// see package jvmevents.
func (r *Recording) addRecordingFlag(flags javaFlags) (javaFlags, error) {
	command := r.o.Command
	if len(r.o.Events.JFR) == 0 || runtime.GOOS != "linux" || !takesOptions(command) || namesOtherJVM(command) {
		return flags, nil
	}
	if slices.ContainsFunc(javaOptions(command), mayStartRecording) {
		return flags, nil
	}
	release := jdk.Release(command)
	pattern, err := r.folder.EventPattern()
	if release < jvmevents.OldestWithOption || !jdk.Has(command, "jdk.jfr") || err != nil {
		return flags, nil
	}
	dir := filepath.Dir(pattern)
	if hslog.CheckFolder(dir) != nil { // the options of Flight Recorder can't have such paths, either
		return flags, nil
	}
	r.recordingOption, err = jvmevents.NewRecordingOption(dir, release, &r.o.Events)
	if err != nil {
		return flags, err
	}
	flags.command = append(slices.Clip(flags.command), r.recordingOption.Options()...)
	return flags, nil
}

// mayStartRecording reports whether one of the user's options starts a recording of Flight Recorder, or is a file that
// may contain such an option. Then gasm must not add its own options. Otherwise the JVM would print a line about the
// user's recording on stdout, and the chunks of both recordings would be in one folder.
func mayStartRecording(option string) bool {
	return strings.HasPrefix(option, "-XX:StartFlightRecording") || strings.HasPrefix(option, "@")
}
