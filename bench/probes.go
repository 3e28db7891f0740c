package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// measureProbes measures the cost of a call of a probed method. The program has two identical methods, and only one of
// them is probed.
func measureProbes(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	if err := needTool("javac"); err != nil {
		return nil, err
	}
	classes := filepath.Join(s.dir, "probes")
	source := filepath.Join("testdata", "programs", "CallCost.java")
	compile := exec.CommandContext(ctx, "javac", "--release", "8", "-Xlint:-options", "-d", classes, source)
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling %s: %w\n%s", source, err, out)
	}
	var all []figure
	for _, j := range s.jdks {
		var counted, other, plain, clock []float64
		for i := range s.rounds {
			s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
			command := []string{j.tool("java"), "-cp", classes, "CallCost"}
			without, err := s.callCost(ctx, command)
			if err != nil {
				return all, err
			}
			with, err := s.callCost(ctx, append([]string{s.gasm, "profile", "--report",
				filepath.Join(s.dir, "report.txt"), "--probe", "CallCost::counted", "--"}, command...))
			if err != nil {
				return all, err
			}
			counted, other = append(counted, with.counted-without.counted), append(other, with.other)
			plain, clock = append(plain, without.other), append(clock, without.clock)
		}
		ns := unit{"%.2f ns", 1}
		all = append(all, figure{j.label() + ", a call that is counted, more", counted, ns, "<= 60 ns"},
			figure{"  two looks at the clock are of it, each", clock, ns, ""},
			figure{"  a call of a method beside it", other, ns, ""}, figure{"  the same without probes", plain, ns, ""})
	}
	return all, nil
}

// callCosts are times in ns per call: of the probed method, of another method of the same program, and of
// System.nanoTime.
type callCosts struct{ counted, other, clock float64 }

// callCost runs the program CallCost and returns the times that it prints.
func (s *setup) callCost(ctx context.Context, argv []string) (c callCosts, err error) {
	r, err := run(ctx, argv, nil)
	if err != nil {
		return c, err
	}
	line, _, _ := strings.Cut(r.stdout, "\n")
	if _, err := fmt.Sscanf(line, "counted %g other %g clock %g", &c.counted, &c.other, &c.clock); err != nil {
		return c, fmt.Errorf("CallCost printed %q: %w", line, err)
	}
	return c, nil
}
