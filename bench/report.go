package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Captures of one program. They differ in the formats of the code and of the samples.
const (
	hexCapture    = "jdk25-lean-none"        // code as bytes, samples from perf
	hsdisCapture  = "jdk25-full-hsdis"       // code as hsdis's text
	dtraceCapture = "jdk17-lean-none-dtrace" // samples from DTrace
)

func measureHsdisLog(ctx context.Context, s *setup) ([]figure, error) {
	return measureLog(ctx, s, hsdisCapture)
}

func measureHexLog(ctx context.Context, s *setup) ([]figure, error) {
	return measureLog(ctx, s, hexCapture)
}

// measureLog compares a report of a large log with wc -l of the log. Both read the log from the page cache.
func measureLog(ctx context.Context, s *setup, capture string) ([]figure, error) {
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
	wc := []string{"wc", "-l", log}
	if _, err := run(ctx, wc, nil); err != nil { // reads the log into the page cache
		return nil, err
	}
	var counted, reported, speed, peak []float64
	for i := range s.rounds {
		s.say("round %d of %d", i+1, s.rounds)
		c, err := run(ctx, wc, nil)
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
		{fmt.Sprintf("report, %.0f MB log", size/1e6), reported, inSeconds, ""},
		{"wc -l of it", counted, inSeconds, ""},
		{"report / wc", ratios(reported, counted), asRatio, "<= 3"},
		{"speed", speed, inMBPerSecond, ">= 800 MB/s"},
		{"peak memory", peak, inMB, "<= 150 MB"},
	}, nil
}

// measureSamples measures how much time and memory a report needs if the capture has very many samples. It uses a
// capture with perf's text, and then one with DTrace's.
func measureSamples(ctx context.Context, s *setup) ([]figure, error) {
	n := s.size(10e6, 200e3)
	var all []figure
	for _, in := range []struct{ sampler, capture string }{{"perf", hexCapture}, {"DTrace", dtraceCapture}} {
		took, peak, err := s.reports(ctx, in.capture, n)
		if err != nil {
			return all, err
		}
		speed := make([]float64, len(took))
		for i := range took {
			speed[i] = float64(n) / took[i]
		}
		all = append(all,
			figure{fmt.Sprintf("%g million, %s", float64(n)/1e6, in.sampler), took, inSeconds, "<= 4 s"},
			figure{"speed", speed, inMillionsPerS, ""},
			figure{"peak memory", peak, inMB, "<= 200 MB"})
	}
	return all, nil
}

// measureMemory compares the peak memory of two reports. One has the samples of a minute at 1000 samples per second,
// the other those of an hour (five minutes with -short).
func measureMemory(ctx context.Context, s *setup) ([]figure, error) {
	few, many := int64(60e3), s.size(3600e3, 300e3)
	_, less, err := s.reports(ctx, hexCapture, few)
	if err != nil {
		return nil, err
	}
	_, more, err := s.reports(ctx, hexCapture, many)
	if err != nil {
		return nil, err
	}
	each := make([]float64, len(more))
	for i := range more {
		each[i] = (more[i] - less[i]) / float64(many-few)
	}
	return []figure{
		{fmt.Sprintf("peak, %d thousand samples", few/1e3), less, inMB, ""},
		{fmt.Sprintf("peak, %d thousand samples", many/1e3), more, inMB, ""},
		{"each sample more", each, inBytes, "<= 100 bytes"},
	}, nil
}

// reports makes a report of n samples in each round. It returns each report's time in seconds and its peak memory in
// bytes.
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

// measureSmall measures how long a report of a small capture takes. It makes the report many times.
func measureSmall(ctx context.Context, s *setup) ([]figure, error) {
	log, err := s.logFile(hexCapture, 0)
	if err != nil {
		return nil, err
	}
	defer os.Remove(log)
	samples, err := s.samplesFile(hexCapture, 0)
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
	return []figure{{what, took, inMillis, "<= 60 ms"}}, nil
}

// measurePage measures how long it takes to write the HTML page for a large log, and how large the page is.
func measurePage(ctx context.Context, s *setup) ([]figure, error) {
	samples, err := s.samplesFile(hexCapture, 0)
	if err != nil {
		return nil, err
	}
	defer os.Remove(samples)
	log, err := s.logFile(hexCapture, s.size(100e6, 20e6))
	if err != nil {
		return nil, err
	}
	defer os.Remove(log)
	page := filepath.Join(s.dir, "page.html")
	defer os.Remove(page)
	var took, peak, size []float64
	for i := range s.rounds {
		s.say("round %d of %d", i+1, s.rounds)
		r, err := run(ctx, []string{s.gasm, "report", "--format", "html", "--report", page, samples, log}, nil)
		if err != nil {
			return nil, err
		}
		took, peak, size = append(took, r.seconds), append(peak, r.peak), append(size, fileSize(page))
	}
	return []figure{
		{fmt.Sprintf("page, %.0f MB log", fileSize(log)/1e6), took, inSeconds, "<= 1 s"},
		{"peak memory", peak, inMB, ""},
		{"the page's size", size, inMB, "<= 3 MB"},
	}, nil
}

// fileSize returns the size of a file in bytes, or 0 if the file does not exist.
func fileSize(path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return float64(info.Size())
}
