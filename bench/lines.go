package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/printassembly/safepoints/oracle"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// allRecords are the JVM options with which HotSpot also records the frames of instructions between safepoints.
const allRecords = "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"

// A linesProgram is a program for which measureLines compares guessed lines with the lines that HotSpot recorded.
type linesProgram struct {
	name   string
	module string // the module of the JDK that the program needs, or ""
	args   []string
}

var linesPrograms = []linesProgram{
	{"JRuby", "", []string{"org.jruby.Main", gasmtest.Testdata("applications", "src", "main", "ruby", "work.rb")}},
	{"javac", "jdk.compiler", []string{"-Dclasses=20000", "Compile"}},
	{"Scala's compiler", "", []string{"org.acme.build.CompileScala",
		gasmtest.Testdata("applications", "target", "scala")}},
	{"H2", "", []string{"-Dsec=100000", "Database"}},
}

// jmhName is the name of the program that profileJMH runs: JMH's benchmarks, which run in forks of their own.
const jmhName = "JMH"

// measureLines measures how often package safepoints guesses methods and lines right. It has to guess them if a JVM
// runs without DebugNonSafepoints, because HotSpot then records them at safepoints only. Here the JVMs run with this
// flag. bench hides the records between safepoints, guesses them by two rules, and compares the guesses with the
// records. One rule takes the next record by address; the other follows the flow of control.
func measureLines(ctx context.Context, s *setup) ([]figure, error) {
	if err := needApplications(); err != nil {
		return nil, err
	}
	classes, err := s.compilePrograms(ctx)
	if err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		if strings.Contains(jmhName, s.application) {
			if all, err = s.addLines(all, j, jmhName, func(dir string) error { return s.profileJMH(ctx, j, dir) }); err != nil {
				return all, err
			}
		}
		for _, p := range linesPrograms {
			if !strings.Contains(p.name, s.application) || p.module != "" && !j.has(ctx, p.module) {
				continue
			}
			if all, err = s.addLines(all, j, p.name, func(dir string) error {
				return s.attachTo(ctx, j, p, classes,
					dir)
			}); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// compilePrograms compiles the programs that are not part of testdata/applications, for all JDKs. It returns the
// directory of their classes.
func (s *setup) compilePrograms(ctx context.Context) (string, error) {
	for _, j := range s.jdks {
		if _, err := os.Stat(j.tool("javac")); err != nil {
			continue
		}
		dir := filepath.Join(s.dir, "classes")
		programs := gasmtest.Testdata("programs")
		_, err := run(ctx, []string{j.tool("javac"), "--release", "17", "-d", dir, "-sourcepath", programs,
			filepath.Join(programs, "Database.java"), filepath.Join(programs, "Compile.java")}, nil)
		return dir, err
	}
	return "", missing("no JDK with javac was found; -java HOME,HOME names several")
}

// has reports whether a JDK has a module.
func (j installedJDK) has(ctx context.Context, module string) bool {
	r, err := run(ctx, []string{j.tool("java"), "--list-modules"}, nil)
	return err == nil && strings.Contains(r.stdout, module+"@")
}

// profileJMH profiles JMH's benchmarks during their measured iterations.
func (s *setup) profileJMH(ctx context.Context, j installedJDK, dir string) error {
	n := strconv.FormatInt(s.size(4, 1), 10)
	_, err := run(ctx, []string{s.gasm, "profile", "--code", "copy", "--events", "none", "-o", dir, "--report", os.DevNull,
		"--skip-asm", "--",
		j.tool("java"), "-jar", s.jar, "-f", "1", "-wi", n, "-w", "1", "-i", n, "-r", "1", "-jvmArgs", allRecords}, nil)
	return err
}

// attachTo starts a program, and attaches gasm to it once it has run for a while.
func (s *setup) attachTo(ctx context.Context, j installedJDK, p linesProgram, classes, dir string) error {
	separator := string(filepath.ListSeparator)
	classPath := strings.Join([]string{applicationPath("classes"), applicationPath("lib", "*"), classes}, separator)
	argv := append([]string{j.tool("java"), "-Xmx1g", "-cp", classPath}, strings.Fields(allRecords)...)
	program, err := start(ctx, append(argv, p.args...))
	if err != nil {
		return err
	}
	defer program.stop()
	go func() { _, _ = io.Copy(io.Discard, program.stdout) }() // until the program's end
	select {
	case <-time.After(time.Duration(s.size(40, 5)) * time.Second): // until most of its code is compiled
	case <-ctx.Done():
		return ctx.Err()
	}
	// gasm uses at most 4 % of a CPU for copying methods. The methods have many debug records here, so in a shorter
	// time gasm would not copy all of them.
	_, err = run(ctx, []string{s.gasm, "attach", "--stacks", "off", "--events", "none", "--length",
		fmt.Sprintf("%ds", s.size(100, 3)),
		"-o", dir, "--report", os.DevNull, "--skip-asm", strconv.Itoa(program.cmd.Process.Pid)}, nil)
	return err
}

// addLines records a program in each round, and adds the figures about its lines.
func (s *setup) addLines(all []figure, j installedJDK, name string, record func(dir string) error) ([]figure, error) {
	var next, flow, recorded, others, certain, lineNext, lineFlow, nameless, samples, left []float64
	reasons := map[oracle.Reason][]float64{}
	for i := range s.rounds {
		s.say("%s, %s, round %d of %d", name, j.label(), i+1, s.rounds)
		dir := filepath.Join(s.dir, "lines")
		if s.differences != "" {
			dir = filepath.Join(s.differences, strings.ToLower(strings.Fields(name)[0])+"-"+strconv.Itoa(j.feature)+".capture")
			if err := os.RemoveAll(dir); err != nil { // the folder of an earlier round
				return all, err
			}
		}
		err := record(dir)
		var c linesScore
		if err == nil {
			c, err = scoreLines(dir)
		}
		if s.differences == "" {
			os.RemoveAll(dir)
		}
		if err != nil {
			return all, fmt.Errorf("%s, %s: %w", name, j.label(), err)
		}
		next, flow = append(next, wrong(&c.byAddress, c.byAddress.Method)), append(flow, wrong(&c.byFlow, c.byFlow.Method))
		recorded = append(recorded, wrong(&c.recordedFlow, c.recordedFlow.Method)/wrong(&c.recordedAddress,
			c.recordedAddress.Method))
		lineNext, lineFlow = append(lineNext, wrong(&c.byAddress, c.byAddress.Line)), append(lineFlow,
			wrong(&c.byFlow, c.byFlow.Line))
		certain = append(certain, 1-wrong(&c.byFlow, c.byFlow.Certain))
		others = append(others, wrong(&c.otherFlow, c.otherFlow.Method)/wrong(&c.otherAddress, c.otherAddress.Method))
		all := max(1, float64(c.recordedFlow.Samples))
		for _, r := range untold {
			reasons[r] = append(reasons[r], float64(c.untold[r])/all)
		}
		nameless = append(nameless, float64(c.nameless)/all)
		samples = append(samples, float64(c.recordedFlow.Samples))
		left = append(left, float64(c.left)/(float64(c.left)+all))
	}
	return append(all,
		figure{name + ", " + j.label() + ", wrong method by address", next, inShare, ""},
		figure{"  by the flow of control", flow, inShare, ""},
		figure{"  flow / address", ratios(flow, next), asRatio, "<= 0.5 x"},
		figure{"  the same, with the records of other code", recorded, asRatio, ""},
		figure{"  the same, without counters and the frame", others, asRatio, ""},
		figure{"  no record: late inlining", reasons[oracle.LateInlining], inShare, ""},
		figure{"  no record: counters", reasons[oracle.Counter], inShare, ""},
		figure{"  wrong line by address", lineNext, inShare, ""},
		figure{"  wrong line by the flow of control", lineFlow, inShare, ""},
		figure{"  certain, and right", certain, inShare, ">= 99 %"},
		figure{"  in methods that no record mentions", nameless, inShare, ""},
		figure{"  samples", samples, inNumber, ""},
		figure{"  left out, in excerpts", left, inShare, ""}), nil
}

// wrong returns the share of samples that were guessed wrong, given the number of samples that were guessed right.
func wrong(s *oracle.Score, right int) float64 {
	return float64(s.Samples-right) / float64(max(1, s.Samples))
}

// untold are the reasons for which the comparison leaves samples out.
var untold = []oracle.Reason{oracle.LateInlining, oracle.Counter}

// A linesScore says how often the guesses for a capture are right, by each of the two rules.
type linesScore struct {
	byAddress, byFlow             oracle.Score
	recordedAddress, recordedFlow oracle.Score          // compared with all HotSpot records
	otherAddress, otherFlow       oracle.Score          // only those whose record is unchanged; see oracle.Sampled
	untold                        map[oracle.Reason]int // number of samples that are missing in byAddress and byFlow
	nameless                      int                   // number of samples in inlined methods that no record mentions
	left                          int                   // number of samples in methods with only an excerpt
}

// scoreLines compares what the two rules guess (see measureLines) with what HotSpot recorded, for all samples of a
// capture.
func scoreLines(dir string) (linesScore, error) {
	score := linesScore{untold: map[oracle.Reason]int{}}
	c, err := capture.Open(dir)
	if err != nil {
		return score, err
	}
	defer c.Close()
	o := choice.DefaultOptions()
	o.Locations, o.SkipLines = true, true
	all, err := profile.Of(c, o)
	if err != nil {
		return score, err
	}
	type method struct{ pid, id int }
	samples := map[method]map[uint64]int{}
	for i := range all.Trials {
		for _, l := range all.Trials[i].Locations {
			m := method{l.PID, l.CompileID}
			if samples[m] == nil {
				samples[m] = map[uint64]int{}
			}
			samples[m][l.PC] += int(l.Counts[0])
		}
	}
	for i := range c.JVMs {
		j := &c.JVMs[i]
		if j.Log == nil {
			continue
		}
		for k := range j.Log.Blobs {
			b := &j.Log.Blobs[k]
			if sampled := samples[method{j.PID, b.ID}]; b.Kind == printassembly.NMethod && len(sampled) > 0 {
				if err := score.add(j.Log, b, sampled); err != nil {
					return score, err
				}
			}
		}
	}
	return score, nil
}

// add compares what the two rules guess (see measureLines) with what HotSpot recorded, for the samples of one method.
func (c *linesScore) add(log *printassembly.Log, b *printassembly.Blob, samples map[uint64]int) error {
	insts, err := log.Code(b, disasm.ATT)
	if err != nil {
		return err
	}
	compared := oracle.Compare(b, insts, &log.Bodies, samples, func(s *oracle.Sampled) {
		c.recordedAddress.Add(s.Samples, s.Recorded, s.ByAddress)
		c.recordedFlow.Add(s.Samples, s.Recorded, s.ByFlow)
		if s.Nameless {
			c.nameless += s.Samples
		}
		if s.Reason != "" {
			c.untold[s.Reason] += s.Samples
			return
		}
		if len(s.Record) == len(s.Recorded) {
			c.otherAddress.Add(s.Samples, s.Record, s.ByAddress)
			c.otherFlow.Add(s.Samples, s.Record, s.ByFlow)
		}
		c.byAddress.Add(s.Samples, s.Record, s.ByAddress)
		c.byFlow.Add(s.Samples, s.Record, s.ByFlow)
	})
	if !compared {
		for _, n := range samples {
			c.left += n
		}
	}
	return nil
}
