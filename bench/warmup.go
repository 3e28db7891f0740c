package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// compileSource is a program that runs javac, in the program's own JVM, on classes that the program generates.
const compileSource = "testdata/programs/Compile.java"

// perfasmFlags are the options that JMH's perfasm passes to the JVM, without the name of the log.
var perfasmFlags = strings.Fields(`
	-XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation -XX:+PrintAssembly -XX:+PrintInterpreter -XX:+PrintNMethods
	-XX:+PrintNativeNMethods -XX:+PrintSignatureHandlers -XX:+PrintAdapterHandlers -XX:+PrintStubCode`)

// A way is one of the ways to run the program, for example under gasm. It also has the results of all rounds.
type way struct {
	name string
	argv []string // the command up to java; java's options and the program follow
	goal string

	// Each slice has one element per round: the time in seconds from start to end, including the report; the time in
	// seconds that the program itself measured; and the size of the logs in bytes.
	whole, seconds, logs []float64
}

// measureWarmup measures the cost of a capture while HotSpot compiles a lot. The program runs javac, and is timed from
// the start of its JVM to its exit. Each round runs the program once in each way (see the method ways).
func measureWarmup(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	if err := needSampler(); err != nil {
		return nil, err
	}
	if err := s.needRoom(s.size(4e9, 1e9)); err != nil {
		return nil, err
	}
	var all []figure
	var tooOld error
	for _, j := range s.jdks {
		if j.feature < 17 {
			tooOld = missing("JDK %s: the program is for JDK 17 and newer", j.version)
			continue
		}
		figures, err := s.warmupOf(ctx, j)
		if err != nil {
			return all, err
		}
		all = append(all, figures...)
	}
	return all, tooOld
}

// warmupOf runs the program with one JDK, in each round once in each way.
func (s *setup) warmupOf(ctx context.Context, j installedJDK) ([]figure, error) {
	dir := filepath.Join(s.dir, fmt.Sprint("warmup-", j.feature))
	defer os.RemoveAll(dir)
	compile := []string{j.tool("javac"), "--release", "17", "-sourcepath", filepath.Dir(compileSource),
		"-d", dir, compileSource}
	if _, err := run(ctx, compile, nil); err != nil {
		return nil, err
	}
	logs, result := filepath.Join(dir, "logs"), filepath.Join(dir, "result")
	program := []string{fmt.Sprintf("-Dclasses=%d", s.size(200, 10)), "-Dresult=" + result, "-cp", dir, "Compile"}
	ways := s.ways(j.tool("java"), logs)
	checksum := ""
	for i := range s.rounds {
		for _, w := range ways {
			s.say("%s, round %d of %d, %s", j.label(), i+1, s.rounds, w.name)
			sum, err := w.round(ctx, program, logs, result)
			if err != nil {
				return nil, err
			}
			if checksum != "" && sum != checksum {
				return nil, fmt.Errorf("JDK %s, %s: the program's checksum is %s and was %s",
					j.version, w.name, sum, checksum)
			}
			checksum = sum
		}
	}
	return warmupFigures(j, ways), nil
}

// ways returns the ways to run a program with the given java command. All of them write their logs to the same
// directory.
func (s *setup) ways(java, logs string) []*way {
	profile := func(flags ...string) []string {
		return slices.Concat([]string{s.gasm, "profile", "--report", os.DevNull, "-o", logs}, flags,
			[]string{"--", java})
	}
	perfasm := slices.Concat([]string{java}, perfasmFlags,
		[]string{"-XX:LogFile=" + filepath.Join(logs, "asm-perfasm.log")})
	return []*way{
		{name: "plain", argv: []string{java}},
		{name: "gasm", argv: profile(), goal: "<= 1.15 x"},
		{name: "gasm --code print", argv: profile("--code", "print")},
		{name: "perfasm's flags", argv: perfasm},
	}
}

// round runs the program once and returns its checksum. It creates the directory for the logs and removes it
// afterwards.
func (w *way) round(ctx context.Context, program []string, logs, result string) (checksum string, err error) {
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return "", err
	}
	defer os.RemoveAll(logs)
	stdout := filepath.Join(filepath.Dir(logs), "stdout") // not in logs, which must be empty for gasm
	out, err := os.Create(stdout)
	if err != nil {
		return "", err
	}
	defer os.Remove(stdout)
	defer out.Close()
	argv := slices.Concat(w.argv, program)
	began := time.Now()
	if _, err := run(ctx, argv, out); err != nil {
		return "", err
	}
	whole := time.Since(began).Seconds()
	text, err := os.ReadFile(result)
	if err != nil {
		return "", fmt.Errorf("%s left no result: %w", strings.Join(argv, " "), err)
	}
	took, checksum, err := parseResult(string(text))
	if err != nil {
		return "", err
	}
	size := fileSize(stdout)
	files, _ := filepath.Glob(filepath.Join(logs, "asm-*.log")) // the pattern is valid
	for _, f := range files {
		size += fileSize(f)
	}
	w.whole, w.seconds, w.logs = append(w.whole, whole), append(w.seconds, took), append(w.logs, size)
	return checksum, os.Remove(result)
}

// parseResult parses the line that the program writes into its result file.
func parseResult(text string) (took float64, checksum string, err error) {
	var classes int
	if _, err := fmt.Sscanf(text, "classes %d seconds %f checksum %s", &classes, &took, &checksum); err != nil {
		return 0, "", fmt.Errorf("the program's result is %q: %w", text, err)
	}
	return took, checksum, nil
}

// warmupFigures returns the table's rows for one JDK. The first way is the baseline for the others.
func warmupFigures(j installedJDK, ways []*way) []figure {
	plain := ways[0]
	figures := []figure{{j.label() + ", plain", plain.whole, inSeconds, ""}}
	for _, w := range ways[1:] {
		figures = append(figures,
			figure{j.label() + ", " + w.name, w.whole, inSeconds, ""},
			figure{"  / plain", ratios(w.whole, plain.whole), asRatio, w.goal},
			figure{"  by the program's own clock", ratios(w.seconds, plain.seconds), asRatio, ""},
			figure{"  log", w.logs, inMB, ""})
	}
	return figures
}
