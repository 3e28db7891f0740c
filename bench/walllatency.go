package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// requestRate is how many requests the server gets per second. Each is sent at its time, even if earlier ones have not
// been answered yet.
const requestRate = 100

// measureWallLatency measures how long a server with 200 threads takes to answer, with and without gasm attach --wall.
func measureWallLatency(ctx context.Context, s *setup) ([]figure, error) {
	if err := needApplications(); err != nil {
		return nil, err
	}
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		if j.feature < 17 { // Jetty needs it
			continue
		}
		m := &latencies{answers: map[int]string{}}
		for i := range s.rounds {
			s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
			if err := s.latencyRound(ctx, j, i, m); err != nil {
				return all, fmt.Errorf("%s: %w", j.label(), err)
			}
		}
		name := j.label() + ", "
		for k, p := range percentiles {
			goal := ""
			if p == 0.99 {
				goal = "within noise"
			}
			all = append(all, figure{fmt.Sprintf("%sp%g", name, 100*p), m.without[k], inMillis1, ""},
				figure{"  with --wall / without", ratios(m.with[k], m.without[k]), asRatio, goal},
				figure{"  without, second half / first half", ratios(m.second[k], m.first[k]), asRatio, ""})
			name = ""
		}
	}
	return all, nil
}

var (
	percentiles = []float64{0.5, 0.99, 0.999}
	inMillis1   = unit{"%.1f ms", 1e3}
)

// latencies are the times of answers in seconds: for each of the percentiles, one value per round. first and second are
// from the two halves of the time without gasm; their ratio is the noise.
type latencies struct {
	without, with, first, second [3][]float64
	answers                      map[int]string // the answers, by the number of the request
}

// latencyRound runs the server, and sends it requests with and without gasm. Which of the two is first alternates.
func (s *setup) latencyRound(ctx context.Context, j installedJDK, round int, m *latencies) error {
	app, err := start(ctx, j.java("", gasmtest.Testdata("applications", "programs", "Orders.java")))
	if err != nil {
		return err
	}
	defer app.stop()
	port, err := app.ready()
	if err != nil {
		return err
	}
	length := time.Duration(s.size(20, 2)) * time.Second
	if _, err := m.load(ctx, port, length/2); err != nil { // until most of its code is compiled
		return err
	}
	add := func(to *[3][]float64, times []float64) {
		slices.Sort(times)
		for k, p := range percentiles {
			to[k] = append(to[k], times[min(int(p*float64(len(times))), len(times)-1)])
		}
	}
	for k := range 2 {
		if (k+round)%2 == 0 {
			times, err := m.load(ctx, port, length)
			if err != nil {
				return err
			}
			half := len(times) / 2
			add(&m.first, slices.Clone(times[:half]))
			add(&m.second, slices.Clone(times[half:]))
			add(&m.without, times)
			continue
		}
		_, stop, err := s.startWall(ctx, app.cmd.Process.Pid)
		if err != nil {
			return err
		}
		times, err := m.load(ctx, port, length)
		stop()
		if err != nil {
			return err
		}
		add(&m.with, times)
	}
	return nil
}

// load sends requests for the given time. It returns how long each took, from the moment at which it should have been
// sent. It compares the answers with those that the same requests have had before.
func (m *latencies) load(ctx context.Context, port string, length time.Duration) ([]float64, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	n := int(length.Seconds() * requestRate)
	times, answers, errs := make([]float64, n), make([]string, n), make([]error, n)
	var all sync.WaitGroup
	begin := time.Now()
	for i := range n {
		at := begin.Add(time.Duration(i) * time.Second / requestRate)
		time.Sleep(time.Until(at))
		all.Go(func() {
			answers[i], errs[i] = get(ctx, client, fmt.Sprintf("http://127.0.0.1:%s/order?%d", port, i))
			times[i] = time.Since(at).Seconds()
		})
	}
	all.Wait()
	for i := range n {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if before, ok := m.answers[i]; ok && before != answers[i] {
			return nil, fmt.Errorf("request %d was answered by %q, and before by %q", i, answers[i], before)
		}
		m.answers[i] = answers[i]
	}
	return times, nil
}

func get(ctx context.Context, client *http.Client, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return string(text), err
}
