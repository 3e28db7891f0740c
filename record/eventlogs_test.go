package record

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/record/jvmevents"
)

func newTestFolder(t *testing.T) *Folder {
	t.Helper()
	folder, err := NewFolder(t.Context(), filepath.Join(t.TempDir(), "capture"))
	require.NoError(t, err)
	t.Cleanup(func() { folder.Keep() })
	return folder
}

// eventsFor returns a recording that logs events of some kinds, and the options that its JVMs get.
func eventsFor(t *testing.T, kinds []event.Kind, command ...string) (*Recording, javaFlags) {
	t.Helper()
	r := New(Options{Command: command, Folder: newTestFolder(t), Code: CodeCopy,
		Events: EventChoice{Log: kinds, Asked: true}})
	return r, r.addEventFlag(javaFlags{})
}

// TestEventFlags checks where the option -Xlog is put for a command, if anywhere. JDK 8 does not start with it, and
// no JVM does if it can't write the log.
func TestEventFlags(t *testing.T) {
	java17, java8 := fakeJDK(t, "17.0.15", "java"), fakeJDK(t, "1.8.0_504", "java")
	for _, c := range []struct {
		name          string
		command       []string
		own, launcher bool
		note          string
	}{
		{"java 17", []string{java17}, true, false, ""},
		{"a script", []string{"sh", "-c", "java X"}, false, true, ""},
		{"javac 17", []string{fakeJDK(t, "17.0.15", "javac")}, true, false, ""},
		{"javac 8", []string{fakeJDK(t, "1.8.0_504", "javac")}, false, true, ""},
		{"java 8", []string{java8}, false, false, "JDK 8 can't log them with their times"},
		{"JMH's forks of JDK 17", []string{java17, "-jar", "b.jar", "-jvm", java17}, true, false, ""},
		{"JMH's forks of JDK 8", []string{java17, "-jar", "b.jar", "-jvm", java8}, false, false,
			"the JVM that -jvm names may be JDK 8"},
		{"another root", []string{"chroot", "/srv", "java"}, false, false,
			"a JVM that chroot starts may be unable to open its log"},
		{"another root in a script", []string{"sh", "-c", "exec /usr/bin/unshare -m java X"}, false, false,
			"a JVM that unshare starts may be unable"},
		// docker is only an argument of the program
		{"java's own argument", []string{java17, "Main", "docker"}, true, false, ""},
	} {
		r, flags := eventsFor(t, jvmevents.DefaultKinds, c.command...)
		has := func(options []string) bool {
			return strings.Contains(strings.Join(options, " "), "-Xlog:gc,gc+start,safepoint:file=")
		}
		assert.Equal(t, c.own, has(flags.command), c.name)
		assert.Equal(t, c.launcher, has(flags.launcher), c.name)
		assert.Empty(t, flags.tool, c.name)
		assert.Contains(t, r.eventLogs.note, c.note, c.name)
		assert.Equal(t, c.note == "", r.eventLogs.note == "", "%s: %s", c.name, r.eventLogs.note)
	}
	// The JVMs of a script may be unable to write a log, so they get the option only if the user has asked for
	// events.
	r := New(Options{Command: []string{"sh"}, Folder: newTestFolder(t), Code: CodeCopy,
		Events: EventChoice{Log: jvmevents.DefaultKinds}})
	assert.Zero(t, r.addEventFlag(javaFlags{}))
	assert.False(t, r.logsEvents())
	r = New(Options{Command: []string{java17}, Folder: newTestFolder(t), Code: CodeCopy,
		Events: EventChoice{Log: jvmevents.DefaultKinds}})
	assert.Len(t, r.addEventFlag(javaFlags{}).command, 1, "by default, too")
	r, flags := eventsFor(t, nil, java17)
	assert.Zero(t, flags)
	assert.Nil(t, r.folder.Logs())
}

// TestAddToCommand checks that options on the command line come before the user's own, and that tools get them with
// -J.
func TestAddToCommand(t *testing.T) {
	flags := javaFlags{command: []string{"-Xa", "-Xb"}}
	assert.Equal(t, []string{"/jdk/bin/java", "-Xa", "-Xb", "-Xc", "Main"},
		flags.addToCommand([]string{"/jdk/bin/java", "-Xc", "Main"}))
	assert.Equal(t, []string{"javac", "-J-Xa", "-J-Xb", "A.java"}, flags.addToCommand([]string{"javac", "A.java"}))
	assert.Equal(t, []string{"sh"}, javaFlags{}.addToCommand([]string{"sh"}))
	script := fakeJDK(t, "17.0.15", "tool")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755))
	assert.False(t, takesOptions([]string{script}))
	assert.False(t, takesOptions([]string{"sh"}))
	assert.True(t, takesOptions([]string{fakeJDK(t, "17.0.15", "tool")}))
}

// TestEveryJVMLogsEvents checks that every JVM of this machine starts with the option that a script's JVMs get, and
// prints nothing on its stdout. All JVMs except JDK 8 must write a log. The option may be there twice, because JMH
// passes it on.
func TestEveryJVMLogsEvents(t *testing.T) {
	for _, j := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		for _, kinds := range [][]event.Kind{jvmevents.DefaultKinds, {event.GC, event.Safepoint, event.Compilation}} {
			r, flags := eventsFor(t, kinds, "sh")
			out, _ := java(t, flags, j.Java(), "-version")
			assert.Empty(t, out, j.Name())
			if j.Feature > 8 {
				out, _ = java(t, flags, j.Java(), flags.launcher[0], "-version")
				assert.Empty(t, out, "%s with the option twice", j.Name())
			}
			logs, err := filepath.Glob(strings.Replace(r.eventLogs.pattern, "%p", "*", 1))
			require.NoError(t, err)
			want := 2
			if j.Feature <= 8 {
				want = 0
			}
			assert.Len(t, logs, want, j.Name())
			for _, log := range logs {
				info, err := os.Stat(log)
				require.NoError(t, err)
				assert.Positive(t, info.Size())
			}
		}
	}
}

// TestGatherEvents checks that the full files of a log are moved to the capture together with the file that is being
// written.
func TestGatherEvents(t *testing.T) {
	r, _ := eventsFor(t, jvmevents.DefaultKinds, "sh")
	dir := filepath.Dir(r.eventLogs.pattern)
	for _, name := range []string{"ev-71.log", "ev-71.log.0", "ev-71.log.3", "ev-72.log", "ev-x.log", "ev-73.log.9"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("[1ns][1][gc] x\n"), 0o644))
	}
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "ev-74.log")))
	jvms := []capture.JVM{{PID: 71}, {PID: 72}, {PID: 75, Version: "1.8.0_504"}}
	notes := r.takeEvents(jvms)
	assert.Empty(t, notes)
	assert.Equal(t, "ev-71.log", jvms[0].EventLog)
	assert.Empty(t, jvms[2].EventLog)
	found, err := filepath.Glob(filepath.Join(r.folder.Path, "ev-*"))
	require.NoError(t, err)
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	assert.Equal(t, []string{"ev-71.log", "ev-71.log.0", "ev-71.log.3", "ev-72.log"}, found)
}

// TestRecordingFlag checks that gasm starts Flight Recorder with the JVM only if the user does not start a recording,
// too.
func TestRecordingFlag(t *testing.T) {
	java := fakeJDK(t, "21.0.8", "java")
	release := filepath.Join(filepath.Dir(filepath.Dir(java)), "release")
	require.NoError(t, os.WriteFile(release, []byte("JAVA_VERSION=\"21.0.8\"\nMODULES=\"java.base jdk.jfr\"\n"), 0o644))
	for _, c := range []struct {
		name    string
		command []string
		starts  bool
	}{
		{"java 21", []string{java, "Main"}, runtime.GOOS == "linux"},
		{"the user's recording", []string{java, "-XX:StartFlightRecording:filename=x.jfr", "Main"}, false},
		{"options in a file", []string{java, "@options", "Main"}, false},
		{"JMH's forks of another JVM", []string{java, "-jar", "b.jar", "-jvm", "/jdk8/bin/java"}, false},
		{"java 17", []string{fakeJDK(t, "17.0.15", "java"), "Main"}, false},
		{"a script", []string{"sh"}, false},
	} {
		r := New(Options{Command: c.command, Folder: newTestFolder(t), Code: CodeCopy,
			Events: EventChoice{JFR: []event.Kind{event.Alloc}, Asked: true}})
		flags, err := r.addRecordingFlag(javaFlags{})
		require.NoError(t, err)
		assert.Equal(t, c.starts, strings.Contains(strings.Join(flags.command, " "), "-XX:StartFlightRecording=name="),
			c.name)
		assert.Equal(t, c.starts, r.recordingOption != nil, c.name)
	}
}
