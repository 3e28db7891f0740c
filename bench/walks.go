package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// deepSource is a program whose call stacks have 30 frames. It prints how much it has done whenever it is asked.
const deepSource = "testdata/programs/Expressions.java"

// measureWalks measures what call stacks cost: gasm itself, and the program that is sampled.
func measureWalks(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	if err := needSampler(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		figures, err := s.stacksOf(ctx, j)
		if err != nil {
			return all, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

// stackPairs is the number of pairs of recordings in a round. One recording of a pair has stacks.
const stackPairs = 4

// stacksOf attaches to one JVM of a JDK again and again, alternately without and with stacks. So all figures are about
// the same compiled code. Another JVM may compile the program differently.
func (s *setup) stacksOf(ctx context.Context, j installedJDK) ([]figure, error) {
	dir := filepath.Join(s.dir, fmt.Sprint("walks-", j.feature))
	defer os.RemoveAll(dir)
	if _, err := run(ctx, []string{j.tool("javac"), "-d", dir, deepSource}, nil); err != nil {
		return nil, err
	}
	program, err := start(ctx, []string{j.tool("java"), "-cp", dir, "Expressions"})
	if err != nil {
		return nil, err
	}
	defer program.stop()
	if _, err := s.rest(ctx, program, s.size(10, 2)); err != nil { // until most of it is compiled
		return nil, err
	}
	var own, slower, end [2][]float64 // without stacks and with them
	for i := range s.rounds {
		s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
		var cpu, samples, took [2]float64
		var speeds [2][]float64
		for range stackPairs {
			for k, stacks := range []string{"off", "on"} {
				r, err := s.attachDeep(ctx, program, stacks)
				if err != nil {
					return nil, err
				}
				cpu[k] += r.cpu
				samples[k] += r.samples
				took[k] += r.end / stackPairs
				speeds[k] = append(speeds[k], r.speed)
			}
		}
		plain, err := s.rest(ctx, program, s.size(5, 1))
		if err != nil {
			return nil, err
		}
		for k := range own {
			own[k] = append(own[k], cpu[k]/samples[k])
			end[k] = append(end[k], took[k])
			slower[k] = append(slower[k], plain/median(speeds[k])-1)
		}
		slower[1][i] = median(speeds[0])/median(speeds[1]) - 1
	}
	return []figure{
		{j.label() + ", gasm's CPU time for a sample", own[0], inMicros, ""},
		{"  with stacks", own[1], inMicros, ""},
		{"  the program with samples", slower[0], inPercent, ""},
		{"  with stacks / with samples", slower[1], inPercent, "<= 1 %"},
		{"  from the end to the report", end[0], inSeconds, ""},
		{"  with stacks - without", differences(end[1], end[0]), inSeconds, "<= 0.2 s"},
	}, nil
}

var inMicros = unit{"%.0f us", 1e6}

// roundsOf returns the number of rounds that the program has done, and the CPU time that they took, in seconds.
func roundsOf(p *running) (rounds, cpu float64, err error) {
	if _, err = p.stdin.Write([]byte("\n")); err != nil {
		return 0, 0, err
	}
	line, err := p.stdout.ReadString('\n')
	if err == nil {
		_, err = fmt.Sscanf(line, "%g %g", &rounds, &cpu)
	}
	return rounds, cpu * 1e-9, err
}

// rest lets the program run for the given number of seconds without samples. It returns how many rounds the program
// does in a second of its own CPU time.
func (s *setup) rest(ctx context.Context, p *running, seconds int64) (speed float64, err error) {
	before, used, err := roundsOf(p)
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Duration(seconds) * time.Second):
	}
	after, all, err := roundsOf(p)
	return (after - before) / (all - used), err
}

// An attachedCost is what one recording cost.
type attachedCost struct {
	speed   float64 // the program's rounds in a second of its CPU time
	cpu     float64 // CPU time of gasm, in seconds
	samples float64
	end     float64 // seconds from the end of the sampling to the end of gasm
}

// attachDeep records the program for 8 seconds (2 with -short) at the default rate.
func (s *setup) attachDeep(ctx context.Context, p *running, stacks string) (c attachedCost, err error) {
	dir := filepath.Join(s.dir, "attached")
	defer os.RemoveAll(dir)
	seconds := s.size(8, 2)
	argv := []string{s.gasm, "attach", "--stacks=" + stacks, "--length", fmt.Sprintf("%ds", seconds), "--skip-asm",
		"--report", os.DevNull,
		"--output", dir, strconv.Itoa(p.cmd.Process.Pid)}
	before, used, err := roundsOf(p)
	if err != nil {
		return c, err
	}
	cmd := command(ctx, argv)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return c, commandError(argv, err, stderr.String())
	}
	c.end = (time.Since(began) - time.Duration(seconds)*time.Second).Seconds()
	c.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	after, all, err := roundsOf(p)
	if err != nil {
		return c, err
	}
	c.speed = (after - before) / (all - used)
	text, err := os.ReadFile(filepath.Join(dir, "samples.txt"))
	c.samples = float64(bytes.Count(text, []byte{'\n'}))
	return c, err
}
