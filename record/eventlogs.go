package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/internal/jdk"
)

// eventLogs are the logs in which the command's JVMs report events, such as garbage collections.
//
// HotSpot's -Xlog can keep a JVM from starting. A JVM of JDK 8 does not know the option, and does not start with it. A
// newer JVM does not start if it can't create the log's file. So gasm has three ways to make a JVM log:
//
//   - If the command is the java program of JDK 9 or newer, or another tool of such a JDK, gasm adds the option to the
//     command's own options. The log is in the capture's folder, because the JVM has the same user and the same root
//     directory as gasm. The JVM prints nothing about the option.
//   - If the command is another program, such as a script or a build tool, the option is in JDK_JAVA_OPTIONS. The java
//     program reads that variable from JDK 9 on, so JDK 8 does not see it. gasm does this only if the user has asked
//     for events, because each java program prints a line about the variable on stderr, and because gasm does not know
//     where, and as which user, the JVMs will run. The option is left out if a JVM might not start with it; see
//     eventObstacle.
//   - JVMs that have started without the option get the command to log through their attach socket, as soon as they run
//     their program. That misses the JVM's first collections. If the command is another program, gasm does this only if
//     the user has asked for events.
//
// There would be another way to keep the option from JDK 8: JDK 8 ignores JAVA_TOOL_OPTIONS if it is longer than 1023
// bytes. But then JDK 8 would also ignore the user's own options in the variable.
type eventLogs struct {
	pattern string // the path of the logs that the option makes JVMs write, with %p for the process id; or ""
	note    string // why there are no logs, or why the option is left out; "" if there is no reason
}

// logsEvents reports whether the command's JVMs should log events.
func (r *Recording) logsEvents() bool {
	return len(r.o.Events.Log) > 0 && (r.o.Events.Asked || startsJava(r.o.Command) || takesOptions(r.o.Command)) &&
		!tooOldToLog(r.o.Command)
}

// tooOldToLog reports whether a command is the java program of JDK 8, which can't log events with their times.
func tooOldToLog(command []string) bool {
	release := jdk.Release(command)
	return startsJava(command) && 0 < release && release < hslog.OldestRelease
}

// addEventFlag adds the option that makes JVMs log their events. If it can't add the option, the recording continues
// without it, and a note says why.
func (r *Recording) addEventFlag(flags javaFlags) javaFlags {
	if !r.logsEvents() {
		if r.o.Events.NeedsLog() && tooOldToLog(r.o.Command) {
			r.eventLogs.note =
				fmt.Sprintf("HotSpot logged no events (garbage collections, safepoints): JDK %d can't log them with their times",
					jdk.Release(r.o.Command))
		}
		return flags
	}
	err := eventObstacle(r.o.Command)
	own := takesOptions(r.o.Command) && jdk.Release(r.o.Command) >= hslog.OldestRelease
	var pattern string
	switch {
	case err != nil:
	case own:
		pattern, err = r.folder.EventPattern()
	case r.o.Events.Asked:
		pattern, err = r.sharedPattern()
	default:
		return flags
	}
	if err == nil {
		err = hslog.CheckFolder(filepath.Dir(pattern))
	}
	if err != nil {
		r.eventLogs.note =
			"HotSpot logged its events (garbage collections, safepoints) only after a JVM had begun to take commands, some tenths of a second after its start. " +
				"No option made it log them from the start: " + err.Error()
		return flags
	}
	r.eventLogs.pattern = pattern
	option := hslog.Flag(r.o.Events.Log, pattern)
	if own {
		flags.command = append(slices.Clip(flags.command), option)
	} else {
		flags.launcher = append(slices.Clip(flags.launcher), option)
	}
	return flags
}

// sharedPattern makes a folder for the logs of JVMs that may run as another user, and returns the pattern of the logs'
// paths. If HotSpot prints its code, the files with the code are in the same folder.
func (r *Recording) sharedPattern() (string, error) {
	logs, err := r.folder.MakeLogs()
	if err != nil {
		return "", err
	}
	if logs.Closed != "" && !startsJava(r.o.Command) {
		return "", fmt.Errorf("a JVM of another user would not start, because it can't write to %s", logs.Describe())
	}
	return logs.EventPattern(), nil
}

// rootChangers are programs that run other programs with a different root directory or different mounts. A JVM that is
// started by them may not find gasm's files.
var rootChangers = []string{"chroot", "unshare", "nsenter", "bwrap", "firejail", "proot", "docker", "podman",
	"systemd-nspawn", "systemd-run"}

// eventObstacle returns an error that says why JVMs of a command might not start with -Xlog, or nil if it finds no
// reason.
func eventObstacle(command []string) error {
	for i, word := range command {
		words := strings.Fields(word) // sh -c "chroot /srv java …"
		at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(rootChangers, filepath.Base(w)) })
		if at >= 0 && !startsJava(command) {
			return fmt.Errorf("a JVM that %s starts may be unable to open its log, and would not start then",
				filepath.Base(words[at]))
		}
		if (word == "-jvm" || word == "--jvm") && i+1 < len(command) && jdk.Release(command[i+1:]) < hslog.OldestRelease {
			return fmt.Errorf("the JVM that %s names may be JDK 8, which does not start with -Xlog", word)
		}
	}
	return nil
}

// takeEvents moves the logs of events into the capture. It sets EventLog of each JVM that has such a log. The notes say
// what is missing.
func (r *Recording) takeEvents(jvms []capture.JVM) (notes []string) {
	if r.eventLogs.note != "" {
		notes = append(notes, r.eventLogs.note)
	}
	if r.eventLogs.pattern == "" {
		return notes
	}
	if err := r.folder.Gather(); err != nil {
		r.problem(err)
	}
	for i := range jvms {
		log := capture.EventLog(jvms[i].PID)
		if _, err := os.Lstat(r.path(log)); err == nil {
			jvms[i].EventLog = log
		}
	}
	return notes
}
