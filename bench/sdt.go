package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// callsSource is a program that measures the calls of two of its own methods, step and mix.
const callsSource = "testdata/programs/WatchedCost.java"

// measureSDT measures the cost of a call of a method that other tracers could watch, while no tracer watches it.
func measureSDT(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	if err := needSampler(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		figures, err := s.sdtOf(ctx, j)
		if err != nil {
			return all, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

// sdtOf runs the program with one JDK under gasm, alternately without and with probes.
func (s *setup) sdtOf(ctx context.Context, j installedJDK) ([]figure, error) {
	dir := filepath.Join(s.dir, fmt.Sprint("sdt-", j.feature))
	defer os.RemoveAll(dir)
	if _, err := run(ctx, []string{j.tool("javac"), "-d", dir, callsSource}, nil); err != nil {
		return nil, err
	}
	var step, mix [2][]float64 // without probes and with them
	for i := range s.rounds {
		for k, flags := range [][]string{nil, {"--probe-sdt", "WatchedCost::step", "--probe-sdt", "WatchedCost::mix"}} {
			s.say("%s, round %d of %d, %d probed methods", j.label(), i+1, s.rounds, len(flags)/2)
			argv := slices.Concat([]string{s.gasm, "profile", "--report", os.DevNull}, flags,
				[]string{"--", j.tool("java"), "-cp", dir, "WatchedCost", fmt.Sprint(s.size(40, 10))})
			r, err := run(ctx, argv, nil)
			if err != nil {
				return nil, err
			}
			var a, b float64
			if _, err := fmt.Sscanf(r.stdout, "step %g mix %g", &a, &b); err != nil {
				return nil, fmt.Errorf("%s: %q has no times: %w", callsSource, r.stdout, err)
			}
			step[k], mix[k] = append(step[k], a*1e-9), append(mix[k], b*1e-9)
		}
	}
	return []figure{
		{what: j.label() + ", a call of step", values: step[0], unit: callTime},
		{what: "  with two probes", values: differences(step[1], step[0]), unit: moreTime, goal: "<= 1 ns"},
		{what: j.label() + ", a call of mix", values: mix[0], unit: callTime},
		{what: "  with two probes", values: differences(mix[1], mix[0]), unit: moreTime, goal: "<= 1 ns"},
	}, nil
}

// differences returns a minus b for each round.
func differences(a, b []float64) (all []float64) {
	for i := range a {
		all = append(all, a[i]-b[i])
	}
	return all
}

var (
	callTime = unit{"%.2f ns", 1e9}
	moreTime = unit{"%+.2f ns", 1e9}
)
