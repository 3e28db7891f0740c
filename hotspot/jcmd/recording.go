package jcmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// The functions below find out from the text of the JVM's answer whether a command worked, because the number in the
// answer can be 0 even if the command failed. JDK 8 to 28 print this on success and on failure:
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
// All paths are resolved in the JVM, whose root folder may differ from gasm's, and the JVM's user must have access to
// the files.

// StartRecording makes a JVM record into its repository. settings is the path of a .jfc file. If the JVM ends before
// the recording is stopped, the JVM writes the recording to the file whose path is in atExit. If atExit is "", the
// recording is lost in this case. The JVM removes the oldest chunks when the recording exceeds the limits in kept.
func StartRecording(ctx context.Context, p *foreign.Process, name, settings, atExit string, kept Kept) error {
	onExit := ""
	if atExit != "" {
		onExit = "true"
	}
	command, err := withValues("JFR.start", "name", name, "settings", settings, "dumponexit", onExit,
		"filename", atExit, "maxage", kept.age(), "maxsize", kept.size())
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "Started recording ")
}

// A Kept limits how much of a running recording a JVM keeps. Only whole chunks are removed, so the limits are exceeded
// by up to a chunk. A chunk has about 12 MB, or what was recorded between two dumps. The zero Kept stands for the JVM's
// own limit, which is 250 MB.
type Kept struct {
	Age   time.Duration // in whole seconds; 0 for no limit
	Bytes int64
}

func (k Kept) age() string {
	if k.Age == 0 {
		return ""
	}
	return fmt.Sprintf("%ds", int64(k.Age/time.Second))
}

func (k Kept) size() string {
	if k.Bytes == 0 {
		return ""
	}
	return strconv.FormatInt(k.Bytes, 10)
}

// DumpRecording makes a JVM write what it has recorded so far to a file. The recording goes on.
func DumpRecording(ctx context.Context, p *foreign.Process, name, file string) error {
	command, err := withValues("JFR.dump", "name", name, "filename", file)
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "Dumped recording ")
}

// StopRecording ends a recording. The JVM writes the recording to a file, or discards it if the argument file is "".
func StopRecording(ctx context.Context, p *foreign.Process, name, file string) error {
	command, err := withValues("JFR.stop", "name", name, "filename", file)
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "Stopped recording ")
}

// StartLog makes a JVM of JDK 9 or newer log to a file, in addition to what it logs already. The last three parameters
// are parts of the option -Xlog, for example "gc,safepoint=debug", "tn,ti,tg" and "filecount=0".
func StartLog(ctx context.Context, p *foreign.Process, file, what, decorators, options string) error {
	command, err := withValues("VM.log", "output", file, "what", what, "decorators", decorators,
		"output_options", options)
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "")
}

// StopLog ends the logging to a file that StartLog started. The JVM closes the file.
func StopLog(ctx context.Context, p *foreign.Process, file string) error {
	command, err := withValues("VM.log", "output", file, "what", "all=off")
	if err != nil {
		return err
	}
	return expect(ctx, p, command, "")
}

// withValues appends names and their values to a command. It leaves out values that are "".
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

// expect runs a command whose output should begin with the text in done, such as "Started recording ". If done is "",
// the command should print nothing. If the command prints something else, the error is a *FailedError.
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
