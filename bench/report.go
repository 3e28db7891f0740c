package main

import (
	"context"
	"fmt"
	"os"
)

func logHsdis(ctx context.Context, s *setup) ([]figure, error) {
	return bigLog(ctx, s, "jdk25-full-hsdis")
}

func logHex(ctx context.Context, s *setup) ([]figure, error) {
	return bigLog(ctx, s, "jdk25-lean-none")
}

// bigLog compares a report of a big log with wc -l of it. Both read the page
// cache.
func bigLog(ctx context.Context, s *setup, capture string) ([]figure, error) {
	if err := needTool("wc"); err != nil {
		return nil, err
	}
	samples, err := s.samplesFile(capture, 0)
	if err != nil {
		return nil, err
	}
	defer os.Remove(samples)
	log, err := s.logFile(capture, s.size(400e6, 20e6))
	if err != nil {
		return nil, err
	}
	defer os.Remove(log)
	size := fileSize(log)
	count := []string{"wc", "-l", log}
	if _, err := run(ctx, count, nil); err != nil {
		return nil, err
	}
	var counted, reported, speed, peak []float64
	for i := range s.rounds {
		s.say("round %d of %d", i+1, s.rounds)
		c, err := run(ctx, count, nil)
		if err != nil {
			return nil, err
		}
		r, err := s.report(ctx, samples, log)
		if err != nil {
			return nil, err
		}
		counted, reported = append(counted, c.seconds), append(reported, r.seconds)
		speed, peak = append(speed, size/r.seconds), append(peak, r.peak)
	}
	return []figure{
		{fmt.Sprintf("report, %.0f MB log", size/1e6), reported, seconds, ""},
		{"wc -l of it", counted, seconds, ""},
		{"report / wc", ratios(reported, counted), times, "<= 3"},
		{"speed", speed, perSecond, ">= 800 MB/s"},
		{"peak memory", peak, megabytes, "<= 150 MB"},
	}, nil
}

// samples reports many samples, in the text of both samplers.
func samples(ctx context.Context, s *setup) ([]figure, error) {
	n := s.size(10e6, 200e3)
	var all []figure
	for _, in := range []struct{ sampler, capture string }{
		{"perf", "jdk25-lean-none"},
		{"DTrace", "jdk17-lean-none-dtrace"},
	} {
		took, peak, err := s.reports(ctx, in.capture, n)
		if err != nil {
			return all, err
		}
		speed := make([]float64, len(took))
		for i := range took {
			speed[i] = float64(n) / took[i]
		}
		all = append(all,
			figure{fmt.Sprintf("%g million, %s", float64(n)/1e6, in.sampler), took, seconds, "<= 4 s"},
			figure{"speed", speed, millions, ""},
			figure{"peak memory", peak, megabytes, "<= 200 MB"})
	}
	return all, nil
}

// memory compares a minute of samples with an hour of them.
func memory(ctx context.Context, s *setup) ([]figure, error) {
	few, many := int64(60e3), s.size(3600e3, 300e3)
	const capture = "jdk25-lean-none"
	_, less, err := s.reports(ctx, capture, few)
	if err != nil {
		return nil, err
	}
	_, more, err := s.reports(ctx, capture, many)
	if err != nil {
		return nil, err
	}
	each := make([]float64, len(more))
	for i := range more {
		each[i] = (more[i] - less[i]) / float64(many-few)
	}
	return []figure{
		{fmt.Sprintf("peak, %d thousand samples", few/1e3), less, megabytes, ""},
		{fmt.Sprintf("peak, %d thousand samples", many/1e3), more, megabytes, ""},
		{"each sample more", each, bytesEach, "<= 100 bytes"},
	}, nil
}

// reports measures reports of so many samples and their capture's log, once per
// round.
func (s *setup) reports(ctx context.Context, capture string, n int64) (took, peak []float64, err error) {
	log, err := s.logFile(capture, 0)
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(log)
	s.say("writing %d samples of %s", n, capture)
	samples, err := s.samplesFile(capture, n)
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(samples)
	for i := range s.rounds {
		s.say("round %d of %d", i+1, s.rounds)
		r, err := s.report(ctx, samples, log)
		if err != nil {
			return nil, nil, err
		}
		took, peak = append(took, r.seconds), append(peak, r.peak)
	}
	return took, peak, nil
}

// small reports a capture of some seconds, many times.
func small(ctx context.Context, s *setup) ([]figure, error) {
	const capture = "jdk25-lean-none"
	log, err := s.logFile(capture, 0)
	if err != nil {
		return nil, err
	}
	defer os.Remove(log)
	samples, err := s.samplesFile(capture, 0)
	if err != nil {
		return nil, err
	}
	defer os.Remove(samples)
	var took []float64
	for range s.size(20, 3) {
		r, err := s.report(ctx, samples, log)
		if err != nil {
			return nil, err
		}
		took = append(took, r.seconds)
	}
	what := fmt.Sprintf("report, %.1f MB log, %d runs", fileSize(log)/1e6, len(took))
	return []figure{{what, took, millis, "<= 60 ms"}}, nil
}

// fileSize is in bytes, 0 for a file that is not there.
func fileSize(path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return float64(info.Size())
}
