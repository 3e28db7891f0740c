package jcmd

import (
	"context"
	"strings"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// The commands below say in their text whether the JVM has done them, and never in the number of the answer. JDK 8 to 28:
//
//	JFR.start    Started recording 2. No limit specified, using maxsize=250MB as default.
//	             Could not find file '/none.jfc'
//	JFR.dump     Dumped recording "gasm", 1.2 MB written to:
//	             No recordings to dump from. Use JFR.start to start a recording.
//	JFR.stop     Stopped recording "gasm", 1.2 MB written to:
//	             Could not stop recording "none".
//	VM.log       nothing
//	             Error opening log file '/none/x.log': No such file or directory
//
// All paths are those of the JVM, which may have another root than gasm, and whose user must be able to read or write there.

// StartRecording has a JVM record into its repository, by the settings of a .jfc file. If the JVM ends before the recording does, it
// writes what it has into a file; nowhere, when the file is "".
func StartRecording(ctx context.Context, p *foreign.Process, name, settings, atExit string) error {
	onExit := ""
	if atExit != "" {
		onExit = "true"
	}
	command, err := withValues("JFR.start", "name", name, "settings", settings, "dumponexit", onExit, "filename", atExit)
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "Started recording ")
}

// DumpRecording has a JVM write what a recording has so far into a file, and go on.
func DumpRecording(ctx context.Context, p *foreign.Process, name, file string) error {
	command, err := withValues("JFR.dump", "name", name, "filename", file)
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "Dumped recording ")
}

// StopRecording ends a recording, and has the JVM write it into a file; nowhere, when the file is "".
func StopRecording(ctx context.Context, p *foreign.Process, name, file string) error {
	command, err := withValues("JFR.stop", "name", name, "filename", file)
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "Stopped recording ")
}

// StartLog has a JVM of JDK 9 or newer log into a file, too: what is as behind -Xlog: ("gc,safepoint=debug"), and so are the
// decorators ("tn,ti,tg") and the options ("filecount=0").
func StartLog(ctx context.Context, p *foreign.Process, file, what, decorators, options string) error {
	command, err := withValues("VM.log", "output", file, "what", what, "decorators", decorators, "output_options", options)
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "")
}

// StopLog ends what StartLog began. The JVM closes the file.
func StopLog(ctx context.Context, p *foreign.Process, file string) error {
	command, err := withValues("VM.log", "output", file, "what", "all=off")
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "")
}

// withValues puts names and their values behind a command. Those that are "" are left out.
func withValues(command string, values ...string) (string, error) {
	for i := 0; i < len(values); i += 2 {
		if values[i+1] == "" {
			continue
		}
		quoted, err := Quote(values[i+1])
		if err != nil {
			return "", err
		}
		command += " " + values[i] + "=" + quoted
	}
	return command, nil
}

// expect runs a command whose text has a line that begins so when it is done; or no text, when that is "".
func expect(ctx context.Context, p *foreign.Process, command, done string) error {
	text, err := Run(ctx, p, command)
	if err != nil {
		return err
	}
	if done == "" {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return &FailedError{p.PID(), command, text}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, done) {
			return nil
		}
	}
	return &FailedError{p.PID(), command, text}
}
