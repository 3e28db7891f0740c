// Command bench measures every performance figure that the project claims and
// prints it beside its goal:
//
//	make bench                                  all of them, for PERFORMANCE.md (30 minutes)
//	go run ./bench -only log-hsdis,log-hex      some
//	go run ./bench -only warmup -java HOME      with one JDK
//	go run ./bench -short                       whether all of them work (2 minutes)
//
// It is run from the root of the repository. Machines are noisy and differ, so
// what can be is a ratio of two runs, one right after the other. Figures are
// medians over the rounds, with the lowest and the highest beside them; a ratio
// is the median of the rounds' ratios. Nothing is asserted about time: a missed
// goal stands in the table and changes no exit code.
//
// The measurements:
//
//	log-hsdis  a report of a 400 MB log, text of hsdis, against wc -l
//	log-hex    the same of a log with code as hex
//	samples    reports of 10 million samples, as perf's and as DTrace's text
//	memory     what a report needs more for an hour of samples than for a minute
//	small      a report of a small capture, from start to exit
//	warmup     a compile-heavy program: plain, under gasm, and with the flags of JMH's perfasm
//	steady     the scores of two JMH benchmarks under gasm against those without
//	latency    from the last output of a JMH run under gasm to gasm's exit
//
// The table goes to stdout, what is being done to stderr. All files are in one
// temporary folder, which is removed at the end.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := bench(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	os.Exit(code)
}

// A measurement adds its figures to the table. Those it had before it failed
// stay.
type measurement struct {
	name string
	run  func(context.Context, *setup) ([]figure, error)
}

var measurements = []measurement{
	{"log-hsdis", logHsdis},
	{"log-hex", logHex},
	{"samples", samples},
	{"memory", memory},
	{"small", small},
	{"warmup", warmup},
	{"steady", steady},
	{"latency", latency},
}

// A setup is what the measurements share.
type setup struct {
	gasm, jar string
	jdks      []jdk
	rounds    int
	short     bool
	dir       string // the temporary folder
	progress  io.Writer
}

// say tells what is being done.
func (s *setup) say(format string, args ...any) {
	fmt.Fprintf(s.progress, "bench: "+format+"\n", args...)
}

// size is full, or short with -short.
func (s *setup) size(full, short int64) int64 {
	if s.short {
		return short
	}
	return full
}

// A missingError says what a measurement lacks on this machine.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

func missing(format string, args ...any) error { return &missingError{fmt.Sprintf(format, args...)} }

// bench runs one command line and gives the exit code: 1 when a measurement
// failed for another reason than that its needs are missing, 2 for wrong usage.
func bench(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	s := &setup{progress: stderr}
	picked, err := s.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	if s.dir, err = os.MkdirTemp("", "gasm-bench-"); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	defer os.RemoveAll(s.dir)

	code := 0
	var all []section
	for _, m := range picked {
		if ctx.Err() != nil {
			break
		}
		s.say("%s", m.name)
		figures, err := m.run(ctx, s)
		var lack *missingError
		if err != nil && !errors.As(err, &lack) {
			s.say("%s: %v", m.name, err)
			code = 1
		}
		all = append(all, section{m.name, figures, err})
	}
	out := bufio.NewWriter(stdout)
	writeHead(ctx, out, s)
	writeTable(out, all)
	if err := out.Flush(); err != nil || ctx.Err() != nil {
		return 1
	}
	return code
}

func (s *setup) parse(args []string) ([]measurement, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(s.progress)
	only := flags.String("only", "", "measure only these, `NAME[,NAME]`: "+strings.Join(names(), ", "))
	flags.IntVar(&s.rounds, "rounds", 5, "how many `rounds` a median is of")
	flags.StringVar(&s.gasm, "gasm", "bin/gasm", "the gasm that is measured, a `PATH`")
	java := flags.String("java", "", "JDKs to measure with, `HOME[,HOME]` (default: JAVA_HOME, that of java on the PATH, /usr/lib/jvm/*)")
	flags.BoolVar(&s.short, "short", false, "small inputs and one round: whether the measurements work")
	flags.StringVar(&s.jar, "jar", "testdata/benchmarks/target/benchmarks.jar", "`JAR` of JMH benchmarks")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if s.short {
		s.rounds = 1
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case s.rounds < 1:
		return nil, fmt.Errorf("-rounds %d: there must be one at least", s.rounds)
	}
	if _, err := os.Stat(s.gasm); err != nil {
		return nil, fmt.Errorf("-gasm: %w (make build makes bin/gasm)", err)
	}
	var err error
	if s.jdks, err = findJDKs(*java); err != nil {
		return nil, err
	}
	return pick(*only)
}

// pick finds measurements by their names, all for none.
func pick(only string) ([]measurement, error) {
	if only == "" {
		return measurements, nil
	}
	var picked []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.Index(names(), name)
		if i < 0 {
			return nil, fmt.Errorf("-only: there is no %q, there are %s", name, strings.Join(names(), ", "))
		}
		picked = append(picked, measurements[i])
	}
	return picked, nil
}

func names() []string {
	var all []string
	for _, m := range measurements {
		all = append(all, m.name)
	}
	return all
}
