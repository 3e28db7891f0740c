package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// profilerLibrary is the library of async-profiler. Samples in this library are not the program's: gasm has sampled
// async-profiler's signal handler.
const profilerLibrary = "libasyncProfiler.so"

// measureStacks compares the call stacks of gasm with those of async-profiler, which samples the same program in the
// same seconds.
func measureStacks(ctx context.Context, s *setup) ([]figure, error) {
	if err := needApplications(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		for i := range applications {
			a := &applications[i]
			if j.feature < a.feature || s.application != "" && !strings.Contains(a.name, s.application) {
				continue
			}
			figures, err := s.compareStacks(ctx, a, j)
			if err != nil {
				return all, fmt.Errorf("%s, %s: %w", a.name, j.label(), err)
			}
			all = append(all, figures...)
		}
	}
	return all, nil
}

// compareStacks profiles an application with both profilers in each round.
func (s *setup) compareStacks(ctx context.Context, a *application, j installedJDK) ([]figure, error) {
	type row struct{ both, halvesA, halvesB []float64 }
	rows := make([]row, len(views)+1)
	var whole, cut, frozen, unwalked, broken, javaA, javaB, depthA, depthB []float64
	random := rand.New(rand.NewPCG(1, 2))
	for i := range s.rounds {
		s.say("%s, %s, round %d of %d", a.name, j.label(), i+1, s.rounds)
		p, account, ap, err := s.bothStacks(ctx, a, j)
		if err != nil {
			return nil, err
		}
		of := func(n int64) float64 { return float64(n) / float64(account.Profiled) }
		whole, cut = append(whole, of(account.Whole)), append(cut, of(account.Cut))
		frozen, unwalked = append(frozen, of(account.Frozen)), append(unwalked, of(account.Unwalked))
		broken = append(broken, float64(ap.broken)/float64(ap.all))
		javaA, javaB = append(javaA, float64(len(p.samples))/float64(p.all)), append(javaB,
			float64(len(ap.samples))/float64(ap.all))
		depthA, depthB = append(depthA, meanDepth(p.samples)), append(depthB, meanDepth(ap.samples))
		for k, v := range slices.Concat(views, []view{callersView}) {
			x, y := p.samples, ap.samples
			if k == len(views) {
				x, y = walkable(x, y)
			}
			g := v.agree(x, y, random)
			rows[k].both = append(rows[k].both, g.both)
			rows[k].halvesA, rows[k].halvesB = append(rows[k].halvesA, g.halvesA), append(rows[k].halvesB, g.halvesB)
		}
		if err := s.keepDifferences(a, j, p, ap); err != nil {
			return nil, err
		}
	}
	figures := []figure{
		{a.name + ", " + j.label() + ", whole", whole, inShare, ">= 99 %"},
		{"  cut", cut, inShare, ""},
		{"  frozen", frozen, inShare, ""},
		{"  not walked", unwalked, inShare, ""},
		{"  async-profiler, not walked", broken, inShare, ""},
		{"  with Java methods", javaA, inShare, ""},
		{"  async-profiler, the same", javaB, inShare, ""},
		{"  Java methods on a stack", depthA, inNumber, ""},
		{"  async-profiler, the same", depthB, inNumber, ""},
	}
	last := callersView
	last.name = "the same, where async-profiler finds the callers"
	for k, v := range slices.Concat(views, []view{last}) {
		figures = append(figures,
			figure{"  overlap, " + v.name, rows[k].both, inShare, ""},
			figure{"    halves of async-profiler's", rows[k].halvesB, inShare, ""},
			figure{"    halves of gasm's", rows[k].halvesA, inShare, ""})
	}
	return figures, nil
}

// meanDepth returns the mean number of methods on a stack.
func meanDepth(samples []stackSample) float64 {
	sum := 0
	for _, s := range samples {
		sum += len(s.methods)
	}
	return float64(sum) / float64(max(1, len(samples)))
}

// bothStacks runs an application, and profiles it with both profilers once it has run for a while.
func (s *setup) bothStacks(ctx context.Context, a *application, j installedJDK) (_ *profiledStacks,
	account profile.Account, ap *profiledStacks, err error) {
	pid, stop, err := a.run(ctx, j, s.options)
	if err != nil {
		return nil, account, nil, err
	}
	defer stop()
	select {
	case <-time.After(time.Duration(s.size(15, 3)) * time.Second): // until most of its code is compiled
	case <-ctx.Done():
		return nil, account, nil, ctx.Err()
	}
	if err := s.startAsyncProfiler(ctx, j, pid); err != nil {
		return nil, account, nil, err
	}
	dir := filepath.Join(s.dir, "stacks")
	if s.differences != "" {
		dir = filepath.Join(s.differences, a.file(j)+".capture")
		if err := os.RemoveAll(dir); err != nil { // the folder of an earlier round
			return nil, account, nil, err
		}
	} else {
		defer os.RemoveAll(dir)
	}
	_, err = run(ctx, []string{s.gasm, "attach", "--stacks", "--event", "cpu-clock", "--frequency",
		strconv.Itoa(stackFrequency),
		"--length", fmt.Sprintf("%ds", s.size(30, 2)), "-o", dir, "--report", os.DevNull, "--skip-asm", strconv.Itoa(pid)},
		nil)
	if err != nil {
		return nil, account, nil, err
	}
	if ap, err = s.stopAsyncProfiler(ctx, j, pid); err != nil {
		return nil, account, nil, err
	}
	p, account, err := capturedStacks(dir)
	return p, account, ap, err
}

// capturedStacks returns the samples of a capture that are in Java methods, and an account of what all of its samples
// were.
func capturedStacks(dir string) (*profiledStacks, profile.Account, error) {
	c, err := capture.Open(dir)
	if err != nil {
		return nil, profile.Account{}, err
	}
	o := choice.DefaultOptions()
	o.Locations, o.Stacks, o.SkipLines = true, true, true
	all, err := profile.Of(c, o)
	if err != nil {
		return nil, profile.Account{}, err
	}
	if len(all.Trials) != 1 || all.Stacks == nil {
		return nil, profile.Account{}, fmt.Errorf("the capture has %d profiles, or no stacks", len(all.Trials))
	}
	p := &profiledStacks{}
	trial := &all.Trials[0]
	for i := range trial.Locations {
		l := &trial.Locations[i]
		sample, ok := javaStack(l, all.Stacks)
		if !ok {
			continue
		}
		p.all += int(l.Counts[0])
		if len(sample.methods) > 0 {
			p.samples = append(p.samples, slices.Repeat([]stackSample{sample}, int(l.Counts[0]))...)
		}
	}
	return p, trial.Accounts[0], nil
}

// javaStack returns the Java methods on a location's stack. ok is false if the location is in async-profiler.
func javaStack(l *profile.Location, stacks *calltree.Stacks) (sample stackSample, ok bool) {
	if l.Module == profilerLibrary {
		return stackSample{}, false
	}
	for _, f := range l.Frames {
		sample.methods = append(sample.methods, normalName(f.Method))
	}
	sample.inlined = max(0, len(l.Frames)-1)
	for c := range stacks.Callers(l.Stack) {
		if c.Module == profilerLibrary {
			return stackSample{}, false
		}
		if c.Java() {
			sample.methods = append(sample.methods, normalName(c.Name))
		}
	}
	slices.Reverse(sample.methods)
	return sample, true
}

// keepDifferences writes the samples of both profilers, and their largest differences, into the folder that the flag
// -differences names. That folder also has gasm's capture. Without the flag, keepDifferences does nothing.
func (s *setup) keepDifferences(a *application, j installedJDK, p, ap *profiledStacks) error {
	if s.differences == "" {
		return nil
	}
	write := func(suffix string, text func(io.Writer)) error {
		f, err := os.Create(filepath.Join(s.differences, a.file(j)+suffix))
		if err != nil {
			return err
		}
		b := bufio.NewWriter(f)
		text(b)
		if err := b.Flush(); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	}
	collapsed := func(samples []stackSample) func(io.Writer) {
		return func(w io.Writer) {
			counts := map[string]int{}
			for _, m := range samples {
				counts[strings.Join(m.methods, ";")]++
			}
			for stack, n := range counts {
				fmt.Fprintln(w, stack, n)
			}
		}
	}
	err := write(".gasm.collapsed", collapsed(p.samples))
	if err == nil {
		err = write(".async-profiler.collapsed", collapsed(ap.samples))
	}
	if err == nil {
		err = write(".txt", func(w io.Writer) {
			for _, v := range views {
				v.writeDifferences(w, p.samples, ap.samples, 40)
			}
		})
	}
	return err
}
