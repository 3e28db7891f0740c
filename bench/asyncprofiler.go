package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// stackFrequency is the approximate number of samples that each of the two profilers takes per second and CPU.
const stackFrequency = 499

// startAsyncProfiler loads async-profiler into a running JVM, and starts it. It samples the same event as gasm.
func (s *setup) startAsyncProfiler(ctx context.Context, j installedJDK, pid int) error {
	return s.askAsyncProfiler(ctx, j, pid, fmt.Sprintf("start,event=cpu,interval=%dus,cstack=vmx",
		1_000_000/stackFrequency))
}

// stopAsyncProfiler stops async-profiler, and returns what it has seen.
func (s *setup) stopAsyncProfiler(ctx context.Context, j installedJDK, pid int) (*profiledStacks, error) {
	file := filepath.Join(s.dir, "async-profiler.collapsed")
	if err := s.askAsyncProfiler(ctx, j, pid, "stop,ann,collapsed,file="+file); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseAnnotated(text)
}

// askAsyncProfiler sends a command to async-profiler.
func (s *setup) askAsyncProfiler(ctx context.Context, j installedJDK, pid int, command string) error {
	library := applicationPath("async-profiler", "linux-x64", "libasyncProfiler.so")
	// jcmd splits arguments at commas and equals signs
	r, err := run(ctx, []string{j.tool("jcmd"), strconv.Itoa(pid), "JVMTI.agent_load", library, `"` + command + `"`}, nil)
	if err == nil && !strings.Contains(r.stdout, "return code: 0") {
		err = fmt.Errorf("async-profiler does not %s: %s", command, strings.TrimSpace(r.stdout))
	}
	return err
}

// profiledStacks are the samples of a profiler.
type profiledStacks struct {
	samples []stackSample // those with Java methods
	all     int           // the number of all samples
	broken  int           // the number of samples whose stack the profiler did not walk to its end
}

// inlinedSuffix is what async-profiler's option ann adds to the names of inlined Java methods. javaSuffixes are the
// suffixes of all Java methods: inlined, compiled by C2, interpreted, compiled by C1.
const inlinedSuffix = "_[i]"

var javaSuffixes = []string{inlinedSuffix, "_[j]", "_[0]", "_[1]"}

// parseAnnotated reads the collapsed stacks that async-profiler writes with its option ann.
func parseAnnotated(text []byte) (*profiledStacks, error) {
	p := &profiledStacks{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		stack, number, ok := cutLast(lines.Text(), " ")
		count, err := strconv.Atoi(number)
		if !ok || err != nil {
			return nil, fmt.Errorf("async-profiler's line %.200q has no number of samples", lines.Text())
		}
		sample, broken := parseAnnotatedStack(stack)
		p.all += count
		if broken {
			p.broken += count
		}
		sample.broken = broken
		if len(sample.methods) > 0 {
			p.samples = append(p.samples, slices.Repeat([]stackSample{sample}, count)...)
		}
	}
	return p, lines.Err()
}

// parseAnnotatedStack parses a line of collapsed stacks, without the number of samples at its end. The result broken is
// true if frames are missing.
func parseAnnotatedStack(stack string) (sample stackSample, broken bool) {
	for frame := range strings.SplitSeq(stack, ";") {
		i := slices.IndexFunc(javaSuffixes, func(suffix string) bool { return strings.HasSuffix(frame, suffix) })
		switch {
		case i < 0:
			broken = broken || brokenFrame(frame)
			sample.inlined = 0
			continue
		case javaSuffixes[i] == inlinedSuffix:
			sample.inlined++
		default:
			sample.inlined = 0
		}
		sample.methods = append(sample.methods, normalName(strings.TrimSuffix(frame, javaSuffixes[i])))
	}
	return sample, broken
}

// brokenFrame reports whether a frame is one that async-profiler writes in place of frames that it could not find, such
// as "[unknown]" and "[break_compiled]".
func brokenFrame(frame string) bool {
	return strings.HasPrefix(frame, "[unknown") || strings.HasPrefix(frame, "[break_") ||
		strings.HasPrefix(frame, "[not_walkable") ||
		strings.HasPrefix(frame, "[no_Java_frame")
}

// cutLast cuts a text around the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
