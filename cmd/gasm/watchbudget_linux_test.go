package main

import (
	"encoding/json"
	"math"
	"os/exec"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A cpuRecord has the CPU time of a process at many times.
type cpuRecord struct {
	mu  sync.Mutex
	at  []time.Time
	cpu []time.Duration
}

// follow records the CPU time of a process until stop is closed.
func (r *cpuRecord) follow(pid int, stop <-chan struct{}) {
	for ticker := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-stop:
			return
		case now := <-ticker.C:
			cpu, _ := gasmtest.CPUTime(pid)
			r.mu.Lock()
			r.at, r.cpu = append(r.at, now), append(r.cpu, cpu)
			r.mu.Unlock()
		}
	}
}

// between returns the CPU time that the process has used between two times.
func (r *cpuRecord) between(from, to time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := func(when time.Time) time.Duration {
		i := sort.Search(len(r.at), func(i int) bool { return r.at[i].After(when) })
		return r.cpu[min(i, len(r.cpu)-1)]
	}
	return at(to) - at(from)
}

// TestWatchBudget checks that gasm takes fewer samples if it exceeds its budget, and that the CPU time in its profiles
// is the JVM's own before and after that. It needs -long, because gasm measures itself each minute.
func TestWatchBudget(t *testing.T) {
	if !gasmtest.Long() {
		return // it takes five minutes
	}
	t.Parallel()
	j := startPhases(t)
	var cpu cpuRecord
	stop := make(chan struct{})
	defer close(stop)
	go cpu.follow(j.cmd.Process.Pid, stop)
	const frequency, every = 1001, 5 * time.Second
	cmd := exec.Command(binary, "watch", "--every", every.String(), "--frequency", strconv.Itoa(frequency),
		"--budget", "0.1%", "--to", "-", j.pid())
	var stdout, stderr lockedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	gasmtest.Start(t, cmd)
	lowered := regexp.MustCompile(`gasm: gasm used \S+ % of a processor in the last minute, and its budget is 0\.10 %: ` +
		`it now takes about (\d+) samples per second and CPU instead of 1001\n`)
	require.Eventually(t, func() bool { return lowered.MatchString(stderr.String()) }, 10*time.Minute,
		100*time.Millisecond)
	changed := time.Now()
	hertz, err := strconv.Atoi(lowered.FindStringSubmatch(stderr.String())[1])
	require.NoError(t, err)
	time.Sleep(12 * every)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "%s", &stderr)
	t.Logf("%s", &stderr)

	type side struct {
		hertz, profiles int
		samples         int64
		sum, own        time.Duration
	}
	sides := map[bool]*side{false: {hertz: frequency}, true: {hertz: hertz}}
	for text := range strings.Lines(stdout.String()) {
		var p struct {
			From, To time.Time
			Samples  int64
			Lost     int64
			CPU      int64 `json:"cpu_nanoseconds"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &p))
		after := p.From.After(changed.Add(-time.Second)) // the message comes before the next recording
		s := sides[after]
		assert.InEpsilon(t, 1e9/float64(s.hertz), float64(p.CPU)/float64(p.Samples), 0.1, "the period in %s", text[:60])
		own := cpu.between(p.From, p.To)
		t.Logf("%s, %s: %d samples, %d lost, %.3f s of %.3f s", p.From.Format(time.TimeOnly), p.To.Sub(p.From), p.Samples,
			p.Lost, float64(p.CPU)/1e9, own.Seconds())
		if s.profiles++; s.profiles == 1 {
			continue // sampling has begun in the middle of it
		}
		s.samples += p.Samples
		s.sum += time.Duration(p.CPU)
		s.own += own
	}
	for _, s := range sides {
		// four standard deviations, if the samples were independent, and what is lost at the ends of the intervals
		tolerance := 4/math.Sqrt(float64(s.samples)) + 0.02
		t.Logf("at %d Hz: %d samples, %.3f s of %.3f s", s.hertz, s.samples, s.sum.Seconds(), s.own.Seconds())
		assert.InEpsilon(t, s.own.Seconds(), s.sum.Seconds(), tolerance)
	}
}
