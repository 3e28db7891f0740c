package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/progress"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
)

func reportCommand(s streams) *cobra.Command {
	var flags reportFlags
	var recordings []string
	cmd := &cobra.Command{
		Use:   "report [flags] DIR... | SAMPLES ASMLOG...",
		Short: "Report from saved captures, or from a sampler's text and HotSpot's logs",
		Long: `Report from files: a folder that 'gasm profile -o DIR' kept, or the text of
'perf script --ns -F comm,pid,tid,time,event,ip,sym,dso' or of dtrace's probe,
and the logs that HotSpot wrote under -XX:+PrintAssembly -XX:+LogVMOutput (JMH's
perfasm and dtraceasm can save both).

Several folders, of many hosts or times, become one report: JVMs of the same
program and JDK have one profile, equal code is one region, and a table says
which host differs from all others. Other programs and JDKs have profiles of
their own.`,
		Example: `  gasm report capture
  gasm report --format json --report report.json capture
  gasm report host-a host-b host-c
  gasm report samples.txt asm-4711.log`,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("report: name a capture folder, or a samples file and at least one assembly log")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			if len(flags.methods) > 0 && flags.saveLog == "" {
				return usage("report: --method is for --save-log: it says which methods' code is saved")
			}
			src, err := openSources(flags.sourcePaths)
			if err != nil {
				return err
			}
			if err := errors.Join(flags.checkOutput(s.out, false), flags.checkInputs(args)); err != nil {
				return err
			}
			return runReport(s, &flags, src, args, recordings)
		},
	}
	flags.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&flags.methods, "method", nil,
		"have --save-log write only the code of what matches `PATTERN`, such as java.util.HashMap::*; may be given several times")
	registerRecordings(cmd.Flags(), &recordings)
	return cmd
}

// registerRecordings registers --jfr, the flag for recordings that are not part of the capture.
func registerRecordings(flags *pflag.FlagSet, recordings *[]string) {
	flags.StringArrayVar(recordings, "jfr", nil,
		"take the events of a JVM of the capture from `FILE`, which you have recorded yourself with Flight Recorder; may be given several times")
}

// addRecordings adds the recordings that --jfr names to a capture. chosen reports whether the flags choose a JVM.
func addRecordings(c *capture.Capture, recordings []string, chosen func(*capture.JVM) bool) error {
	for _, path := range recordings {
		if err := c.AddRecording(path, chosen); err != nil {
			return fmt.Errorf("--jfr: %w", err)
		}
	}
	return nil
}

func runReport(s streams, flags *reportFlags, src *sources, args, recordings []string) error {
	c, err := openArguments(args)
	if err != nil {
		return err
	}
	defer c.Close()
	o := flags.profileOptions()
	if err := addRecordings(c, recordings, o.Chooses); err != nil {
		return err
	}
	ps, err := profileOf(s, c, "reading the samples", o)
	if err != nil {
		return err
	}
	return writeReport(s, flags, src, ps)
}

// openArguments opens the capture named by the arguments of the command `gasm report`.
func openArguments(args []string) (*capture.Capture, error) {
	for _, arg := range args {
		if err := looseShare(arg); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(args[0])
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening the capture: %w", err)
	case info.IsDir():
		return openFolders(args)
	case len(args) == 1:
		return nil, usage("report: %s is a file; after the samples file name at least one assembly log", args[0])
	}
	return capture.OpenFiles(args[0], args[1:])
}

// openFolders opens one capture folder, or several as one capture.
func openFolders(paths []string) (*capture.Capture, error) {
	for _, path := range paths[1:] {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return nil, usage("report: %s is a capture folder, and %s is a file; name folders only, or a samples file and assembly logs",
				paths[0], path)
		}
	}
	return capture.OpenAll(paths)
}

// looseShare returns an error for an argument that is a share and not a file. The 5% in "--tree 5%" is such an
// argument, because --tree takes a value only after an equals sign.
func looseShare(arg string) error {
	if !strings.HasSuffix(arg, "%") || (new(share)).Set(arg) != nil {
		return nil
	}
	if _, err := os.Stat(arg); err == nil {
		return nil
	}
	return usage("report: %s is not a file; a share of --tree comes after an equals sign: --tree=%s", arg, arg)
}

// profileOf makes the profiles of a capture. It says which logs could not be read. On a terminal, it also shows its
// progress, after a text such as "reading the samples".
func profileOf(s streams, c *capture.Capture, doing string, o choice.Options) (*profile.Profiles, error) {
	for _, err := range c.Unread {
		say(s.err, "gasm: %v", err)
	}
	bar := progress.New(s.err, doing, c.SamplesSize())
	defer bar.Done()
	c.Progress = bar.Add
	return profile.Of(c, o)
}
