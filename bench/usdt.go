package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// measureUSDT measures what a USDT probe takes that is recorded: the difference of CPU time
// of the thread that reaches it.
func measureUSDT(ctx context.Context, s *setup) ([]figure, error) {
	if _, err := usdt.Allowed(""); err != nil {
		return nil, missing("%v", err)
	}
	var figures []figure
	for _, j := range s.jdks {
		if j.feature < 11 {
			continue // it has no probes, and runs no file of source
		}
		var yields, allocations []float64
		for i := range s.rounds {
			s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
			yield, allocation, err := s.probeCosts(ctx, j)
			if err != nil {
				return figures, err
			}
			yields, allocations = append(yields, yield), append(allocations, allocation)
		}
		figures = append(figures,
			figure{j.label() + ", an event (thread__yield)", yields, inNanos, "<= 634 ns"},
			figure{"  object__alloc, with its caller", allocations, inNanos, ""})
	}
	return figures, nil
}

// probeCosts runs ProbeCost once without and once with its probes recorded.
func (s *setup) probeCosts(ctx context.Context, j installedJDK) (yield, allocation float64, err error) {
	argv := []string{j.tool("java"), "-XX:+UseSerialGC", "-XX:+DTraceAllocProbes", gasmtest.Testdata("programs", "ProbeCost.java")}
	cmd := command(ctx, argv)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, commandError(argv, err, "")
	}
	defer func() {
		in.Close() // it ends then
		if waited := cmd.Wait(); err == nil && waited != nil {
			err = commandError(argv, waited, "")
		}
	}()
	lines := bufio.NewScanner(out)
	lines.Scan() // ready
	ask := func() (yield, allocation float64, err error) {
		if _, err := io.WriteString(in, "\n"); err != nil {
			return 0, 0, err
		}
		lines.Scan()
		_, err = fmt.Sscanf(lines.Text(), "%g %g", &yield, &allocation)
		return yield, allocation, err
	}
	plainYield, plainAllocation, err := ask()
	if err != nil {
		return 0, 0, err
	}
	recorder, err := usdt.Start(cmd.Process.Pid, usdt.Options{Patterns: []string{"hotspot:thread__yield", "hotspot:object__alloc"}, Text: io.Discard})
	if err != nil {
		return 0, 0, err
	}
	defer recorder.Stop()
	if yield, allocation, err = ask(); err != nil {
		return 0, 0, err
	}
	return (yield - plainYield) * 1e-9, (allocation - plainAllocation) * 1e-9, nil
}
