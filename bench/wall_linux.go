package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/wallclock"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// waitsSource is a program whose threads wait.
const waitsSource = "testdata/programs/Waits.java"

// measureWall measures what --wall costs: the recorder with thousands of threads, and the recorder and the program with
// threads that switch all the time.
func measureWall(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		dir := filepath.Join(s.dir, fmt.Sprint("wall-", j.feature))
		if _, err := run(ctx, []string{j.tool("javac"), "-d", dir, waitsSource}, nil); err != nil {
			return all, err
		}
		type measure func(context.Context, installedJDK, string) ([]figure, error)
		for _, measure := range []measure{s.wallOfMany, s.wallOfSwitching} {
			figures, err := measure(ctx, j, dir)
			if err != nil {
				return all, err
			}
			all = append(all, figures...)
		}
		os.RemoveAll(dir)
	}
	return all, nil
}

// startWaits starts the program with these arguments, and waits until it is ready.
func startWaits(ctx context.Context, j installedJDK, dir string, args ...string) (*running, error) {
	p, err := start(ctx, append([]string{j.tool("java"), "-Xss512k", "-cp", dir, "Waits"}, args...))
	if err != nil {
		return nil, err
	}
	if _, err := p.ready(); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// A null counts the bytes that are written to it, and discards them.
type null struct{ size int }

func (n *null) Write(data []byte) (int, error) {
	n.size += len(data)
	return len(data), nil
}

// wallOfMany records 5000 threads, of which 4900 are idle. The recorder runs in bench's own process, which does nothing
// else meanwhile, so the CPU time is that of the whole process.
func (s *setup) wallOfMany(ctx context.Context, j installedJDK, dir string) ([]figure, error) {
	p, err := startWaits(ctx, j, dir, "50", "4000", "900", "0", "0", "-")
	if err != nil {
		return nil, err
	}
	defer p.stop()
	length := time.Duration(s.size(40, 8)) * time.Second
	var first, took, after, looks, memory []float64
	for i := range s.rounds {
		s.say("%s, 5000 threads, round %d of %d", j.label(), i+1, s.rounds)
		runtime.GC()
		resident, cpu, began := residentSize(), monotonic.CPU(), time.Now()
		r, err := wallclock.Start(p.cmd.Process.Pid, wallclock.Options{JVMs: shared.NewJVMs(), Out: &null{}})
		if err != nil {
			return nil, err
		}
		if err := sleep(ctx, length); err != nil {
			r.Stop()
			return nil, err
		}
		lasted := time.Since(began)
		memory = append(memory, residentSize()-resident)
		result := r.Stop()
		used := monotonic.CPU() - cpu
		if result.Read != nil || result.First == 0 {
			return nil, fmt.Errorf("not all threads were looked at in %v: %w", lasted, result.Read)
		}
		first, took = append(first, result.First.Seconds()), append(took, result.FirstTook.Seconds())
		rest := lasted - result.FirstTook
		after = append(after, (used-result.First-result.Last).Seconds()/rest.Seconds())
		looks = append(looks, float64(result.Looks-int64(result.Threads))/rest.Seconds())
	}
	return []figure{
		{j.label() + ", 5000 threads, the first looks, CPU time", first, inSeconds, ""},
		{"  until each thread was looked at", took, inSeconds, ""},
		{"  later, of a processor", after, inShare, "<= 2 %"},
		{"  looks a second", looks, inNumber, ""},
		{"  memory", memory, inMB, ""},
	}, nil
}

// residentSize returns the size of this process's memory in bytes, or 0 if it is unknown.
func residentSize() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var all, resident float64
	if _, err := fmt.Sscan(string(text), &all, &resident); err != nil {
		return 0
	}
	return resident * float64(os.Getpagesize())
}

func sleep(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}

// switchPairs is the number of pairs of intervals in a round. In one interval of a pair, the program is recorded.
const switchPairs = 4

// wallOfSwitching records threads that wake each other up all the time.
func (s *setup) wallOfSwitching(ctx context.Context, j installedJDK, dir string) ([]figure, error) {
	p, err := startWaits(ctx, j, dir, "0", "10", "0", "2", "0", "-")
	if err != nil {
		return nil, err
	}
	defer p.stop()
	if err := sleep(ctx, time.Duration(s.size(5, 1))*time.Second); err != nil { // until it is compiled
		return nil, err
	}
	length := time.Duration(s.size(5, 1)) * time.Second
	var rates, slower, own []float64
	for i := range s.rounds {
		s.say("%s, switching threads, round %d of %d", j.label(), i+1, s.rounds)
		var speeds [2][]float64
		var rate, used float64
		for range switchPairs {
			for k := range 2 {
				var r *wallclock.Recorder
				if k == 1 {
					o := wallclock.Options{JVMs: shared.NewJVMs(), Out: &null{}}
					if r, err = wallclock.Start(p.cmd.Process.Pid, o); err != nil {
						return nil, err
					}
				}
				count, ran := switches(p.cmd.Process.Pid)
				cpu := monotonic.CPU()
				if err := sleep(ctx, length); err != nil {
					return nil, err
				}
				later, more := switches(p.cmd.Process.Pid)
				speeds[k] = append(speeds[k], (later-count)/(more-ran))
				if k == 1 {
					rate += (later - count) / length.Seconds() / switchPairs
					used += (monotonic.CPU() - cpu).Seconds() / length.Seconds() / switchPairs
					r.Stop()
				}
			}
		}
		rates, own = append(rates, rate), append(own, used)
		slower = append(slower, median(speeds[0])/median(speeds[1])-1)
	}
	return []figure{
		{j.label() + ", context switches a second", rates, inNumber, ""},
		{"  the recorder, of a processor", own, inShare, "<= 2 %"},
		{"  the program with it, CPU time for a switch", slower, inPercent, "<= 1 %"},
	}, nil
}

// switches returns how often all threads of a process have been scheduled, and for how many seconds they have run.
func switches(pid int) (count, ran float64) {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "task", e.Name(), "schedstat"))
		var nanos, delay, n float64
		if _, bad := fmt.Sscan(string(text), &nanos, &delay, &n); err == nil && bad == nil {
			count, ran = count+n, ran+nanos*1e-9
		}
	}
	return count, ran
}
