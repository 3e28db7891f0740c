package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
)

// notForPeople lists the formats that are of no use on a terminal. The values say why, and become part of an error
// message.
var notForPeople = map[string]string{"pprof": "is binary", "html": "is a page for a browser", "perfetto": "is binary"}

// checkOutput returns an error if a report in one of the formats of notForPeople would go to a terminal. If shared is
// true, the profiled command writes to the same stdout, and checkOutput returns an error even if stdout is not a
// terminal.
func (f *reportFlags) checkOutput(out *os.File, shared bool) error {
	what, special := notForPeople[f.format]
	switch {
	case !special || f.file != "":
		return nil
	case shared:
		return usage("--format %s %s and would mix with the command's output; name a file for it: --report FILE", f.format,
			what)
	case layout.IsTerminal(out):
		return usage("--format %s %s, and not for a terminal; use --report FILE or a redirection", f.format, what)
	}
	return nil
}

// checkInputs returns an error if an output would overwrite an input. The inputs are the files that the arguments name,
// and all files in a capture folder that the arguments name.
func (f *reportFlags) checkInputs(args []string) error {
	for _, output := range []struct{ flag, path string }{{"report", f.file}, {"save-log", f.saveLog}} {
		if output.path != "" && slices.ContainsFunc(args, func(arg string) bool { return capture.Reads(arg, output.path) }) {
			return usage("--%s %s is an input file; name another one", output.flag, output.path)
		}
	}
	return nil
}

// writeReport writes the report and, with --save-log, the log. It says on stderr which sources were not found. If the
// profiles have no samples, it returns an error that says why.
func writeReport(s streams, f *reportFlags, src *sources, ps *profile.Profiles) error {
	defer src.close()
	ps.Capture.Notes.Add(src.notes(ps.Capture.JVMs)...)
	o := f.reportOptions(s.out)
	src.findLines(ps, &o.Code)
	src.findFiles(&o)
	f.askModel(ps)
	format := report.FormatOf(f.format) // check has accepted this format
	if err := f.write(s, func(w io.Writer) error { return format.Write(w, ps, o) }); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	src.sayMissing(s.err)
	if f.saveLog != "" {
		err := f.files.Write(f.saveLog, func(w io.Writer) error {
			return report.WriteLog(w, ps.Code(), f.syntax(),
				f.methods...)
		})
		if err != nil {
			return fmt.Errorf("saving the annotated log: %w", err)
		}
	}
	return ps.WhyEmpty()
}

// askModel asks the program that --mca names about the loops of all profiles. If a signal to stop comes, askModel
// returns, and the report is written without the missing answers.
func (f *reportFlags) askModel(ps *profile.Profiles) {
	if f.model == nil {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	f.model.Ask(ctx, ps)
}

// write lets a function write the report to the file that --report names. Without that flag, the report goes to a pager
// or to stdout.
func (f *reportFlags) write(s streams, write func(io.Writer) error) error {
	if f.file != "" {
		return f.files.Write(f.file, write)
	}
	if pager := f.pager(s.out); pager != "" {
		return page(s, pager, write)
	}
	return write(s.out)
}
