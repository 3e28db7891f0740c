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

// probeTurns is the number of turns in a round. In each turn, a JVM measures itself four times, each time with its
// probes watched in a different way. The speed of a machine changes within seconds, so only measurements of the same
// turn are compared.
const probeTurns = 12

// measureUSDT measures the cost of a USDT probe: how much more CPU time a thread needs when the probe that it reaches
// is watched. The kernel runs one of three programs at the probe: a program that does nothing, a program that counts,
// or gasm's program.
func measureUSDT(ctx context.Context, s *setup) ([]figure, error) {
	if _, err := usdt.Allowed(ctx, ""); err != nil {
		return nil, missing("%v", err)
	}
	var figures []figure
	for _, j := range s.jdks {
		if j.feature < 11 {
			continue // this JDK has no probes, or can't run a source file
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

// probeCosts runs ProbeCost in four ways, one after the other: its probes are not watched, or the kernel runs a program
// that does nothing, a program that counts, or gasm's program. It returns five medians in seconds. The first three are
// the costs of a yield with the three programs. The fourth is how much more a yield costs with gasm's program than with
// the program that counts. The last is the cost of an allocation with gasm's program.
func (s *setup) probeCosts(ctx context.Context, j installedJDK) (costs [5]float64, err error) {
	argv := []string{j.tool("java"), "-XX:+UseSerialGC", "-XX:+DTraceAllocProbes",
		gasmtest.Testdata("programs", "ProbeCost.java")}
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
		in.Close() // this ends the program
		if waited := cmd.Wait(); err == nil && waited != nil {
			err = commandError(argv, waited, "")
		}
	}()
	lines := bufio.NewScanner(out)
	lines.Scan() // the line "ready"
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

// A probedCost is a running ProbeCost, with its stdin and the lines of its stdout.
type probedCost struct {
	pid     int
	library string
	in      io.Writer
	lines   *bufio.Scanner
}

// ask makes the program measure itself. It returns the CPU time of a yield and of an allocation in ns.
func (p *probedCost) ask() (yield, allocation float64, err error) {
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		return 0, 0, err
	}
	p.lines.Scan()
	_, err = fmt.Sscanf(p.lines.Text(), "%g %g", &yield, &allocation)
	return yield, allocation, err
}

// watched makes ProbeCost measure itself while the kernel runs an eBPF program at its probes. If counts is true, the
// eBPF program counts; otherwise it does nothing.
func (p *probedCost) watched(counts bool) (yield float64, err error) {
	stop, err := countProbes(p.pid, p.library, "hotspot:thread__yield", counts)
	if err != nil {
		return 0, err
	}
	defer stop()
	yield, _, err = p.ask()
	return yield, err
}

// turn makes ProbeCost measure itself once in each of the four ways. It returns the five costs that probeCosts
// describes, but in nanoseconds.
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
	patterns := []string{"hotspot:thread__yield", "hotspot:object__alloc"}
	recorder, err := usdt.Start(ctx, p.pid, usdt.Options{Patterns: patterns, Text: io.Discard})
	if err != nil {
		return costs, err
	}
	defer recorder.Stop()
	yield, allocation, err := p.ask()
	return [5]float64{nothing - plainYield, counted - plainYield, yield - plainYield, yield - counted,
		allocation - plainAllocation}, err
}
