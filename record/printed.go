package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/record/folder"
)

// printedCode is the codeSource that makes HotSpot print its code into logs.
type printedCode struct {
	r        *Recording
	logs     *folder.Logs
	options  *optionsFile // nil unless the command is java itself
	mappings *mappingWatch
	// logsCompilation is true if gasm has switched on HotSpot's LogCompilation in the JVMs.
	logsCompilation bool
}

func (p *printedCode) kind() string { return capture.CodePrinted }

// javaFlags returns the options that make the command's JVMs print their code. It makes the folder and the files that
// these options need.
func (p *printedCode) javaFlags() (flags javaFlags, err error) {
	if name, cause := OverridingVariable(); name != "" {
		return flags, fmt.Errorf("%s: unset %s", cause, name)
	}
	if p.logs, err = p.r.folder.MakeLogs(); err != nil {
		return flags, err
	}
	sel, err := p.r.o.selection(p.logs.Files)
	if err != nil {
		return flags, err
	}
	p.logsCompilation = !sel.All()
	logFile := p.logs.Pattern()
	if sel.DirectivesFile == "" {
		flags.tool = printassembly.CaptureFlags(logFile, sel)
		flags.launcher = flags.tool
	} else {
		flags.tool = printassembly.CaptureFlags(logFile, printassembly.Selection{})
		flags.launcher = printassembly.SelectingFlags(logFile, sel)
	}
	switch {
	case namesOtherJVM(p.r.o.Command): // that JVM may be of JDK 8, which does not start with QuietLog
	case !startsJava(p.r.o.Command) && jdk.Release(p.r.o.Command) >= printassembly.OldestKnown:
		flags.tool = append(slices.Clip(flags.tool), printassembly.QuietLog) // javac does not read JDK_JAVA_OPTIONS
	default:
		flags.launcher = append(slices.Clip(flags.launcher), printassembly.QuietLog)
	}
	if hasCaptureFlags(p.r.o.Command) {
		flags.launcher = append(flags.launcher, printassembly.RefuseUnknownFlags)
	}
	if !startsJava(p.r.o.Command) {
		return flags, nil
	}
	if p.options, err = newOptionsFile(p.logs.Files, flags.launcher, printassembly.QuietFlags()); err != nil {
		return flags, fmt.Errorf("a file for java can't be written: %w", err)
	}
	p.r.output.OnJMHProbe(p.options.quieten)
	flags.launcher = []string{p.options.option()}
	return flags, nil
}

// mapped reports a JVM to r.events as soon as the JVM maps libjvm.so. That is earlier than foundJVM could report it,
// because foundJVM waits for the JVM's log. mapped is called only if the sampler reports mappings.
func (p *printedCode) mapped(ctx context.Context, m native.Mapping) {
	if isLibJVM(m) {
		p.r.events.Found(ctx, m.PID)
	}
}

func (p *printedCode) begin(ctx context.Context, s sampling, _ int) error {
	p.mappings = watchMappings(p.logs, s.resolver() == nil, func(log folder.Log) { p.foundJVM(ctx, log) })
	return nil
}

// pause does nothing, because HotSpot can't stop printing.
func (p *printedCode) pause()  {}
func (p *printedCode) resume() {}

// foundJVM is called once for each JVM, when it has begun to write its log.
func (p *printedCode) foundJVM(ctx context.Context, log folder.Log) {
	p.r.clocks.found[log.PID] = capture.ReadClock()
	p.r.jmhFiles.FollowJVM(p.r.patience.Reach(ctx), log.PID)
	p.r.events.Found(ctx, log.PID)
}

func (p *printedCode) end(context.Context) *native.Resolver { return p.mappings.stop() }

func (p *printedCode) finish() (jvms []capture.JVM, notes []string, err error) {
	if err := p.r.folder.Gather(); err != nil {
		p.r.problem(err)
	}
	jvms, err = p.jvms()
	return jvms, nil, err
}

// jvms returns descriptions of the JVMs whose logs can be read, in the order of their start. If there are no such JVMs,
// it returns an error.
func (p *printedCode) jvms() ([]capture.JVM, error) {
	paths, err := capture.Logs(p.r.folder.Path)
	if err != nil {
		return nil, fmt.Errorf("looking for the JVMs' logs: %w", err)
	}
	switch {
	case len(paths) > 0:
	case p.r.Interrupted() || p.r.exitCode != 0:
		return nil, fmt.Errorf("%s ended with exit code %d before a JVM had printed any code: %w", p.r.o.Command[0],
			p.r.exitCode, ErrNoJVM)
	default:
		return nil, fmt.Errorf("%s started no JVM that HotSpot's PrintAssembly could be switched on in: %w "+
			"(is JAVA_TOOL_OPTIONS cleared on the way, has the JVM a -XX:LogFile of its own, does it run as another user or in another "+
			"root directory, where it can't write to %s, or is it not HotSpot?)", p.r.o.Command[0], ErrNoJVM, p.logs.Describe())
	}
	var jvms []capture.JVM
	var unread []error
	for _, path := range paths {
		j, err := readHead(path)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if start := j.Log.StartWallMillis; start > 0 {
			j.StartMonoNanos = p.r.clocks.jvmStart(j.PID, start*1e6)
		}
		j.Log = nil // only the head was read; the capture opens the whole log later
		jvms = append(jvms, j)
		if p.logsCompilation {
			folder.RemoveCompilerLogs(j.PID)
		}
	}
	if len(jvms) == 0 {
		return nil, errors.Join(unread...)
	}
	for _, err := range unread {
		p.r.problem(err)
	}
	sortByStart(jvms)
	return jvms, nil
}
