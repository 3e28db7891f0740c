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
	"github.com/gasm-profiler/gasm/record/folder"
)

// eventLogs are the logs that the command's JVMs write about their events.
//
// HotSpot's -Xlog can keep a JVM from starting. A JVM of JDK 8 does not start with -Xlog. A newer JVM does not start if
// it can't create the log's file, whereas with -XX:LogFile it would write the file elsewhere. So gasm puts -Xlog
//
//   - into JDK_JAVA_OPTIONS, which the java program reads from JDK 9 on, so JDK 8 does not see it. JVMs that JMH, a
//     script or a build tool starts with the java program get the option, too;
//   - into JAVA_TOOL_OPTIONS only if the command is another tool of such a JDK, such as javac, because these tools do
//     not read JDK_JAVA_OPTIONS.
//
// If the command is a script or a build tool, gasm sets the option only if the user has asked for events, because gasm
// does not know where, and as which user, its JVMs will run. The option is left out if a JVM might not start with it;
// see eventObstacle.
//
// Two other ways would be worse. The first is to switch the log on through the attach socket in each JVM that starts.
// That misses the JVM's first collections, and sends a signal to a JVM that may not handle it yet. The second is to
// make JAVA_TOOL_OPTIONS longer than 1023 bytes: JDK 8 ignores such a value, so the option would do no harm there, but
// JDK 8 would ignore the user's own options in the variable, too.
type eventLogs struct {
	logs *folder.Logs // nil if no JVM logs events
	note string       // why there are no logs; "" if there are
}

// addEventFlag adds the option that makes JVMs log their events. If the option can't be added, the recording goes on
// without the logs, and a note says why.
func (r *Recording) addEventFlag(flags javaFlags) javaFlags {
	release := jdk.Release(r.o.Command)
	tool := !startsJava(r.o.Command) && release >= hslog.OldestRelease
	if len(r.o.Events.Log) == 0 || !r.o.Events.Asked && !tool && !startsJava(r.o.Command) {
		return flags
	}
	if err := r.makeEventFolder(); err != nil {
		r.eventLogs.note = "HotSpot logged no events (garbage collections, safepoints): " + err.Error()
		return flags
	}
	option := hslog.Flag(r.o.Events.Log, r.eventLogs.logs.EventPattern())
	if tool {
		flags.tool = append(slices.Clip(flags.tool), option)
	} else {
		flags.launcher = append(slices.Clip(flags.launcher), option)
	}
	return flags
}

// makeEventFolder makes the folder for the logs. If HotSpot prints its code, it prints the code to files in the same
// folder.
func (r *Recording) makeEventFolder() error {
	if err := eventObstacle(r.o.Command); err != nil {
		return err
	}
	logs, err := r.folder.MakeLogs()
	if err != nil {
		return err
	}
	if logs.Closed != "" && !startsJava(r.o.Command) {
		return fmt.Errorf("a JVM of another user would not start, because it can't write to %s", logs.Describe())
	}
	if err := hslog.CheckFolder(logs.Path); err != nil {
		return err
	}
	r.eventLogs.logs = logs
	return nil
}

// rootChangers are programs that run other programs with a different root directory or different mounts. A JVM that
// they start may not find gasm's files.
var rootChangers = []string{"chroot", "unshare", "nsenter", "bwrap", "firejail", "proot", "docker", "podman", "systemd-nspawn", "systemd-run"}

// eventObstacle returns an error that says why JVMs of a command might not start with -Xlog, or nil if there is no such
// reason.
func eventObstacle(command []string) error {
	if startsJava(command) && 0 < jdk.Release(command) && jdk.Release(command) < hslog.OldestRelease {
		return fmt.Errorf("JDK %d can't log them with their times", jdk.Release(command))
	}
	for i, word := range command {
		words := strings.Fields(word) // sh -c "chroot /srv java …"
		at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(rootChangers, filepath.Base(w)) })
		if at >= 0 && !startsJava(command) {
			return fmt.Errorf("a JVM that %s starts may be unable to open its log, and would not start then", filepath.Base(words[at]))
		}
		if (word == "-jvm" || word == "--jvm") && i+1 < len(command) && jdk.Release(command[i+1:]) < hslog.OldestRelease {
			return fmt.Errorf("the JVM that %s names may be JDK 8, which does not start with -Xlog", word)
		}
	}
	return nil
}

// takeEvents moves the logs of events into the capture, and sets EventLog of each JVM to the JVM's log. The notes say
// which JVMs have no log, and why.
func (r *Recording) takeEvents(jvms []capture.JVM) (notes []string) {
	if r.eventLogs.note != "" {
		notes = append(notes, r.eventLogs.note)
	}
	if r.eventLogs.logs == nil {
		return notes
	}
	if err := r.folder.Gather(); err != nil {
		r.problem(err)
	}
	var without []string
	for i := range jvms {
		j := &jvms[i]
		switch _, err := os.Lstat(r.path(capture.EventLog(j.PID))); {
		case err == nil:
			j.EventLog = capture.EventLog(j.PID)
		case len(without) < maxWithout:
			without = append(without, jvmWithout(j))
		case len(without) == maxWithout:
			without = append(without, "others")
		}
	}
	if len(without) > 0 {
		notes = append(notes, "no events of "+strings.Join(without, ", "))
	}
	return notes
}

// maxWithout is the maximum number of JVMs without events that a note lists.
const maxWithout = 4

// jvmWithout returns the name of a JVM that has logged no events and the likely reason, as text for a note.
func jvmWithout(j *capture.JVM) string {
	name := fmt.Sprintf("JVM %d", j.PID)
	if release := jdk.Feature(j.Version); 0 < release && release < hslog.OldestRelease {
		return fmt.Sprintf("%s (JDK %d can't log them with their times)", name, release)
	}
	return name + " (not started by the java program, or with -Xlog:disable)"
}
