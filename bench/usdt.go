package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/usdt"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// probeTurns is how often a JVM is asked for its costs in a round, by turns with each way to watch its probes: the speed of a
// machine changes within seconds, and differences are taken of neighbours.
const probeTurns = 12

// measureUSDT measures what a USDT probe takes, by the difference of CPU time of the thread that reaches it: when the kernel runs a
// program that does nothing, one that counts, and gasm's.
func measureUSDT(ctx context.Context, s *setup) ([]figure, error) {
	if _, err := usdt.Allowed(ctx, ""); err != nil {
		return nil, missing("%v", err)
	}
	var figures []figure
	for _, j := range s.jdks {
		if j.feature < 11 {
			continue // it has no probes, and runs no file of source
		}
		var all [5][]float64
		for i := range s.rounds {
			s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
			costs, err := s.probeCosts(ctx, j)
			if err != nil {
				return figures, err
			}
			for k, c := range costs {
				all[k] = append(all[k], c)
			}
		}
		figures = append(figures,
			figure{j.label() + ", a probe, nothing done", all[0], inNanos, ""},
			figure{"  counted", all[1], inNanos, ""},
			figure{"  recorded", all[2], inNanos, "<= 634 ns"},
			figure{"  recorded - counted", all[3], inNanos, "<= 192 ns"},
			figure{"  object__alloc, recorded", all[4], inNanos, ""})
	}
	return figures, nil
}

// probeCosts runs ProbeCost, by turns without its probes watched, with a program that does nothing, that counts, and that is
// gasm's. It gives the medians of these three for a yield, of the difference of the last two, and of an allocation by gasm's.
func (s *setup) probeCosts(ctx context.Context, j installedJDK) (costs [5]float64, err error) {
	argv := []string{j.tool("java"), "-XX:+UseSerialGC", "-XX:+DTraceAllocProbes", gasmtest.Testdata("programs", "ProbeCost.java")}
	cmd := command(ctx, argv)
	in, err := cmd.StdinPipe()
	if err != nil {
		return costs, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return costs, err
	}
	if err := cmd.Start(); err != nil {
		return costs, commandError(argv, err, "")
	}
	defer func() {
		in.Close() // it ends then
		if waited := cmd.Wait(); err == nil && waited != nil {
			err = commandError(argv, waited, "")
		}
	}()
	lines := bufio.NewScanner(out)
	lines.Scan() // ready
	p := probedCost{pid: cmd.Process.Pid, in: in, lines: lines}
	if p.library, err = libjvmOf(p.pid); err != nil {
		return costs, err
	}
	var all [5][]float64
	for range s.size(probeTurns, 1) {
		turn, err := p.turn(ctx)
		if err != nil {
			return costs, err
		}
		for k, c := range turn {
			all[k] = append(all[k], c)
		}
	}
	for k := range costs {
		slices.Sort(all[k])
		costs[k] = all[k][len(all[k])/2] * 1e-9
	}
	return costs, nil
}

// A probedCost is a run of ProbeCost.
type probedCost struct {
	pid     int
	library string
	in      io.Writer
	lines   *bufio.Scanner
}

// ask has the program measure itself.
func (p *probedCost) ask() (yield, allocation float64, err error) {
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		return 0, 0, err
	}
	p.lines.Scan()
	_, err = fmt.Sscanf(p.lines.Text(), "%g %g", &yield, &allocation)
	return yield, allocation, err
}

// watched asks while a way to watch the probes is on.
func (p *probedCost) watched(counts bool) (yield float64, err error) {
	stop, err := countProbes(p.pid, p.library, "hotspot:thread__yield", counts)
	if err != nil {
		return 0, err
	}
	defer stop()
	yield, _, err = p.ask()
	return yield, err
}

// turn asks once with each, in nanoseconds: see probeCosts.
func (p *probedCost) turn(ctx context.Context) (costs [5]float64, err error) {
	plainYield, plainAllocation, err := p.ask()
	if err != nil {
		return costs, err
	}
	nothing, err := p.watched(false)
	if err != nil {
		return costs, err
	}
	counted, err := p.watched(true)
	if err != nil {
		return costs, err
	}
	recorder, err := usdt.Start(ctx, p.pid, usdt.Options{Patterns: []string{"hotspot:thread__yield", "hotspot:object__alloc"}, Text: io.Discard})
	if err != nil {
		return costs, err
	}
	defer recorder.Stop()
	yield, allocation, err := p.ask()
	return [5]float64{nothing - plainYield, counted - plainYield, yield - plainYield, yield - counted, allocation - plainAllocation}, err
}
