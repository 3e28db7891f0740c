// Command bench measures every performance figure that the project claims, and prints each next to its goal:
//
//	make bench                                  all of them, for PERFORMANCE.md (35 minutes)
//	go run ./bench -only log-hsdis,log-hex      some of them
//	go run ./bench -only warmup -java HOME      with one JDK
//	go run ./bench -short                       to see whether all of them work (2 minutes)
//
// It must be run in the root of the repository. Machines are noisy and differ, so a figure is the ratio of two
// consecutive runs where that is possible. Each figure is the median over the rounds, next to the lowest and the
// highest value. A ratio is the median of the rounds' ratios. A missed goal is visible in the table and does not
// change the exit code.
//
// The measurements:
//
//	log-hsdis  a report of a 400 MB log with hsdis's text, compared with wc -l of the log
//	log-hex    the same for a log that has the code as bytes
//	samples    reports of 10 million samples, in perf's and in DTrace's text
//	memory     how much more memory a report of an hour's samples needs than a report of a minute's
//	small      a report of a small capture, from gasm's start to its exit
//	page       the HTML page of a 100 MB log
//	warmup     a program with many compilations: plain, under gasm, and with the flags of JMH's perfasm
//	sampling   the CPU time of sampling a JMH run, compared with that of perf record and perf script
//	steady     the scores of two JMH benchmarks under gasm, compared with the scores without it
//	sdt        the cost of a call of a method that other tracers could watch (--probe-sdt)
//	latency    the time from the last output of a JMH run under gasm to gasm's exit
//	walks      gasm's CPU time with call stacks, and what they cost the program that is sampled
//	wall       what --wall costs with 5000 threads, and with threads that switch all the time
//	probes     the cost of a call of a probed method, and of a method next to it
//	usdt       the cost of a USDT probe that gasm records
//	fleet      what 10, 100 and 1000 hosts with gasm watch send to a server: requests, bytes, series
//	stacks     how many call stacks of large programs are whole, and how far they agree with async-profiler's; only if
//	           -only names it, because it fetches these programs ('make applications') and takes a minute for each
//	lines      how often methods and lines are right without DebugNonSafepoints; only if -only names it, for the same
//	           reasons
//	inlining   the share of a long javac's CPU time that --events inlining takes; only if -only names it
//	wall-tools  what gasm attach --wall, async-profiler's wall mode and Flight Recorder say about threads that know what
//	           they do, and how many signals they send; only if -only names it, because it needs the applications
//	wall-latency  how long a server takes to answer with and without --wall; only if -only names it, for the same reason
//
// The table is written to stdout, and progress messages to stderr. All files are in one temporary directory, which is
// removed at the end.
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

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func main() {
	// ProtectTmp makes /tmp look as well protected as on users' machines. Otherwise, gasm would have HotSpot print the
	// code instead of copying it.
	gasmtest.ProtectTmp()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := bench(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	os.Exit(code)
}

// A measurement measures some figures of the table. If it fails, the table shows the figures that it returned with the
// error.
type measurement struct {
	name    string
	measure func(context.Context, *setup) ([]figure, error)
	apart   bool // it is only made if -only names it
}

var measurements = []measurement{
	{"log-hsdis", measureHsdisLog, false},
	{"log-hex", measureHexLog, false},
	{"samples", measureSamples, false},
	{"memory", measureMemory, false},
	{"small", measureSmall, false},
	{"page", measurePage, false},
	{"warmup", measureWarmup, false},
	{"sampling", measureSampling, false},
	{"steady", measureSteady, false},
	{"latency", measureLatency, false},
	{"walks", measureWalks, false},
	{"wall", measureWall, false},
	{"sdt", measureSDT, false},
	{"probes", measureProbes, false},
	{"usdt", measureUSDT, false},
	{"fleet", measureFleet, false},
	{"stacks", measureStacks, true},
	{"inlining", measureInlining, true},
	{"lines", measureLines, true},
	{"wall-tools", measureWallTools, true},
	{"wall-latency", measureWallLatency, true},
}

// A setup contains what the measurements share: the flags, the JDKs and the temporary directory.
type setup struct {
	gasm, jar string // paths
	jdks      []installedJDK
	rounds    int
	short     bool
	dir       string // the temporary directory
	// Three flags of the measurements "stacks" and "lines", each of which may be "". application restricts them to some
	// programs, options are more options for the JVMs of "stacks", and differences is a folder in which to keep what is
	// compared.
	application, options, differences string
	progress                          io.Writer
}

// say writes a progress message.
func (s *setup) say(format string, args ...any) {
	fmt.Fprintf(s.progress, "bench: "+format+"\n", args...)
}

// size returns the size of an input: the short one with the flag -short, and the full one otherwise.
func (s *setup) size(full, short int64) int64 {
	if s.short {
		return short
	}
	return full
}

// A missingError is the error of a measurement that needs something this machine does not have.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

func missing(format string, args ...any) error { return &missingError{fmt.Sprintf(format, args...)} }

// bench makes the measurements that the arguments ask for, and returns the exit code: 2 for wrong usage, and 1 if a
// measurement failed or bench was interrupted. A measurement that needs something this machine does not have is left
// out, which is not a failure.
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
		figures, err := m.measure(ctx, s)
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

// parse reads the flags and returns the measurements to run.
func (s *setup) parse(args []string) ([]measurement, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(s.progress)
	only := flags.String("only", "", "measure only these, `NAME[,NAME]`: "+strings.Join(names(), ", "))
	flags.IntVar(&s.rounds, "rounds", 5, "take the median of so many rounds, a `NUMBER`")
	flags.StringVar(&s.gasm, "gasm", "bin/gasm", "the `PATH` of the gasm to measure")
	java := flags.String("java", "", "the JDKs to measure with, `HOME[,HOME]` "+
		"(default: JAVA_HOME, the JDK of java on PATH, and /usr/lib/jvm/*)")
	flags.BoolVar(&s.short, "short", false, "small inputs and one round, "+
		"to see whether the measurements work: the figures mean nothing")
	flags.StringVar(&s.jar, "jar", "testdata/benchmarks/target/benchmarks.jar", "the `JAR` with the JMH benchmarks")
	flags.StringVar(&s.application, "application", "",
		"of the measurements stacks and lines, only the programs whose name has this `TEXT`")
	flags.StringVar(&s.options, "options", "",
		"of the measurement stacks, further `OPTIONS` of the JVMs, separated by blanks")
	flags.StringVar(&s.differences, "differences", "",
		"keep what the measurements stacks and lines compare in the existing `FOLDER`")
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
		return nil, fmt.Errorf("-rounds is %d; there must be at least one", s.rounds)
	}
	if _, err := os.Stat(s.gasm); err != nil {
		return nil, fmt.Errorf("-gasm: %w ('make build' makes bin/gasm)", err)
	}
	var err error
	if s.jdks, err = findJDKs(*java); err != nil {
		return nil, err
	}
	return pick(*only)
}

// pick returns the measurements in a comma-separated list of names. For an empty list, it returns all measurements
// except those whose field apart is true.
func pick(only string) ([]measurement, error) {
	if only == "" {
		return slices.DeleteFunc(slices.Clone(measurements), func(m measurement) bool { return m.apart }), nil
	}
	var picked []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.Index(names(), name)
		if i < 0 {
			return nil, fmt.Errorf("-only: there is no measurement %q; there are %s", name, strings.Join(names(), ", "))
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
