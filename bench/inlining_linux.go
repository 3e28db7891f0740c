package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/capture"
)

// measureInlining measures the cost of --events inlining. It records one javac that runs for a minute or more of CPU
// time, and counts the samples in Flight Recorder's code. A comparison with a javac without the events would not show
// the cost, because two equal runs differ by more.
func measureInlining(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	var all []figure
	var unknown error
	for _, j := range s.jdks {
		if j.feature < 17 {
			continue
		}
		figures, err := s.inliningOf(ctx, j)
		if err != nil {
			return all, err
		}
		if figures == nil {
			unknown = missing("JDK %s: its libjvm.so has no symbols, so its Flight Recorder can't be told apart", j.version)
		}
		all = append(all, figures...)
	}
	return all, unknown
}

// inliningOf returns the figures of a JDK, or nil if it can't recognize the samples of the JDK's Flight Recorder.
func (s *setup) inliningOf(ctx context.Context, j installedJDK) ([]figure, error) {
	dir := filepath.Join(s.dir, fmt.Sprint("inlining-", j.feature))
	defer os.RemoveAll(dir)
	compile := []string{j.tool("javac"), "--release", "17", "-sourcepath", filepath.Dir(compileSource), "-d", dir,
		compileSource}
	if _, err := run(ctx, compile, nil); err != nil {
		return nil, err
	}
	var cpu, share, posting, start, end, reading []float64
	for i := range s.rounds {
		s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
		r, read, err := s.inliningRound(ctx, j, dir)
		if err != nil {
			return nil, err
		}
		if r.posting == 0 {
			return nil, nil
		}
		steady := r.posting + r.writing + read
		cpu, share = append(cpu, r.all), append(share, steady/r.all)
		posting = append(posting, r.posting/r.all)
		start, end, reading = append(start, r.start), append(end, r.end), append(reading, read)
	}
	return []figure{
		{j.label() + ", CPU time of javac", cpu, inSeconds, ""},
		{"  steady: recorded, written and read", share, inShare, "<= 1 %"},
		{"    of it posting decisions", posting, inShare, ""},
		{"    of it gasm's reading", reading, inSeconds, ""},
		{"  once: the start of Flight Recorder", start, inSeconds, ""},
		{"  once: its end", end, inSeconds, ""},
	}, nil
}

// inliningRound records one run of javac under gasm. It returns the CPU times of the JVM and of Flight Recorder in it,
// and how many seconds of CPU time gasm's code needs to read the decisions.
func (s *setup) inliningRound(ctx context.Context, j installedJDK, dir string) (r recorderCost, read float64,
	err error) {
	logs, stacks := filepath.Join(dir, "logs"), filepath.Join(dir, "stacks")
	defer os.RemoveAll(logs)
	argv := []string{s.gasm, "profile", "--stacks=on", "--events", "default,inlining", "-o", logs, "--format", "collapsed",
		"--report", stacks, "--", j.tool("java"), fmt.Sprintf("-Dclasses=%d", s.size(1500, 30)), "-cp", dir, "Compile"}
	if _, err = run(ctx, argv, nil); err != nil {
		return r, 0, err
	}
	text, err := os.ReadFile(stacks)
	if err != nil {
		return r, 0, err
	}
	c, err := capture.Open(logs)
	if err != nil {
		return r, 0, err
	}
	defer c.Close()
	if r, err = recorderCostOf(string(text), float64(c.Frequency)); err != nil {
		return r, 0, err
	}
	before := cpuTime(unix.RUSAGE_SELF)
	c.ReadEvents()
	c.ReadInlining(func(_, id int) bool { return id%oneOf == 0 })
	return r, (cpuTime(unix.RUSAGE_SELF) - before).Seconds(), nil
}

// inliningRound reads the decisions of one compilation in oneOf. A report reads about as many: the JIT compilers make
// 6000 or more pieces of code when javac runs, and a report reads the decisions of 200.
const oneOf = 32

// A recorderCost has CPU times of a JVM, in seconds: that of the whole JVM, and those of Flight Recorder's parts.
type recorderCost struct {
	all     float64 // the whole JVM, without Flight Recorder's start and end
	start   float64 // Flight Recorder's start, until its Java code has begun the recording
	end     float64 // Flight Recorder's end, when the JVM ends and it copies the recording
	posting float64 // what the compilers take to post the events
	writing float64 // all other code of Flight Recorder, for example its own threads
}

// ofRecorder matches the functions of Flight Recorder, in C++ and Java, and its threads. The last two names are those
// of the functions with which the compilers post decisions about calls.
var ofRecorder = regexp.MustCompile(`Jfr|jdk\.jfr\.|^JFR |CompilerEvent::InlineEvent|EventCompilerInlining`)

// recorderCostOf computes the CPU times from the samples in collapsed stacks, which were taken at the given frequency
// in Hz.
func recorderCostOf(stacks string, frequency float64) (c recorderCost, err error) {
	for line := range strings.Lines(stacks) {
		stack, number, ok := cutLast(strings.TrimSpace(line), " ")
		n, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil {
			return c, fmt.Errorf("a line of collapsed stacks has no number of samples: %q", line)
		}
		seconds := n / frequency
		first := "" // the outermost frame of Flight Recorder
		for frame := range strings.SplitSeq(stack, ";") {
			if ofRecorder.MatchString(frame) {
				first = frame
				break
			}
		}
		switch {
		case strings.HasPrefix(first, "Jfr::on_create_vm"), strings.HasPrefix(stack, "Attach Listener;") && first != "":
			c.start += seconds
			continue
		case strings.HasPrefix(first, "JFR Shutdown"):
			c.end += seconds
			continue
		case strings.HasPrefix(first, "CompilerEvent::InlineEvent"), strings.HasPrefix(first, "EventCompilerInlining"):
			c.posting += seconds
		case first != "":
			c.writing += seconds
		}
		c.all += seconds
	}
	return c, nil
}
