package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const compileSource = "testdata/programs/Compile.java"

// perfasmFlags are what JMH's perfasm gives to the JVM, but for the name of the
// log.
var perfasmFlags = strings.Fields(`-XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation -XX:+PrintAssembly -XX:+PrintInterpreter
	-XX:+PrintNMethods -XX:+PrintNativeNMethods -XX:+PrintSignatureHandlers -XX:+PrintAdapterHandlers -XX:+PrintStubCode`)

// A way is a way to run the program, and what came of it.
type way struct {
	name string
	argv []string // what stands before the program
	goal string

	seconds, logs []float64 // of the java process alone; bytes
}

// warmup measures what a capture costs while HotSpot compiles: javac, from the
// JVM's start to its own end, run in all ways in turn.
func warmup(ctx context.Context, s *setup) ([]figure, error) {
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
		if j.major < 17 {
			tooOld = missing("%s: it needs 17", j.name)
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

func (s *setup) warmupOf(ctx context.Context, j jdk) ([]figure, error) {
	dir := filepath.Join(s.dir, fmt.Sprint("warmup-", j.major))
	defer os.RemoveAll(dir)
	if _, err := run(ctx, []string{j.tool("javac"), "--release", "17", "-sourcepath", filepath.Dir(compileSource), "-d", dir, compileSource}, nil); err != nil {
		return nil, err
	}
	logs, result := filepath.Join(dir, "logs"), filepath.Join(dir, "result")
	program := []string{fmt.Sprintf("-Dclasses=%d", s.size(200, 10)), "-Dresult=" + result, "-cp", dir, "Compile"}
	java := j.tool("java")
	profile := []string{s.gasm, "profile", "--report", os.DevNull, "-o", logs}
	perfasm := append([]string{java}, perfasmFlags...)
	perfasm = append(perfasm, "-XX:LogFile="+filepath.Join(logs, "asm-perfasm.log"))
	ways := []*way{
		{name: "plain", argv: []string{java}},
		{name: "gasm", argv: append(profile[:len(profile):len(profile)], "--", java), goal: "<= 2 x"},
		{name: "gasm --code copy", argv: append(profile[:len(profile):len(profile)], "--code", "copy", "--", java)},
		{name: "gasm --code print", argv: append(profile[:len(profile):len(profile)], "--code", "print", "--", java)},
		{name: "perfasm's flags", argv: perfasm},
	}
	checksum := ""
	for i := range s.rounds {
		for _, w := range ways {
			s.say("%s, round %d of %d, %s", j.label(), i+1, s.rounds, w.name)
			sum, err := w.round(ctx, program, logs, result)
			if err != nil {
				return nil, err
			}
			if checksum != "" && sum != checksum {
				return nil, fmt.Errorf("%s, %s: the checksum is %s and was %s", j.name, w.name, sum, checksum)
			}
			checksum = sum
		}
	}
	return warmupFigures(j, ways), nil
}

// round runs the program once and returns its checksum. The logs go to a folder
// that is new each time.
func (w *way) round(ctx context.Context, program []string, logs, result string) (string, error) {
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return "", err
	}
	defer os.RemoveAll(logs)
	stdout := filepath.Join(filepath.Dir(logs), "stdout") // not among the logs: gasm wants its folder empty
	out, err := os.Create(stdout)
	if err != nil {
		return "", err
	}
	defer os.Remove(stdout)
	defer out.Close()
	argv := append(w.argv[:len(w.argv):len(w.argv)], program...)
	if _, err := run(ctx, argv, out); err != nil {
		return "", err
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return "", fmt.Errorf("%s left no result: %w", strings.Join(argv, " "), err)
	}
	took, sum, err := parseResult(string(text))
	if err != nil {
		return "", err
	}
	size := fileSize(stdout)
	files, _ := filepath.Glob(filepath.Join(logs, "asm-*.log")) // the pattern is right
	for _, f := range files {
		size += fileSize(f)
	}
	w.seconds, w.logs = append(w.seconds, took), append(w.logs, size)
	return sum, os.Remove(result)
}

// parseResult reads the line that the program prints.
func parseResult(text string) (took float64, sum string, err error) {
	var classes int
	if _, err := fmt.Sscanf(text, "classes %d seconds %f checksum %s", &classes, &took, &sum); err != nil {
		return 0, "", fmt.Errorf("the program's result is %q: %w", text, err)
	}
	return took, sum, nil
}

func warmupFigures(j jdk, ways []*way) []figure {
	plain := ways[0]
	figures := []figure{{j.label() + ", plain", plain.seconds, seconds, ""}}
	for _, w := range ways[1:] {
		figures = append(figures,
			figure{j.label() + ", " + w.name, w.seconds, seconds, ""},
			figure{"  / plain", ratios(w.seconds, plain.seconds), times, w.goal},
			figure{"  log", w.logs, megabytes, ""})
	}
	return figures
}
