package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// samplingBenchmark has a working set that does not fit into a cache, and makes garbage. So there are samples in the
// program, in libjvm.so and in the kernel.
const samplingBenchmark = "MapWalk"

// measureSampling compares the CPU time that gasm needs to sample a JMH run with that of perf record and perf script,
// which sample the same run at the same time. It runs gasm's sampler in this process, because a gasm process would also
// copy code and make a report.
func measureSampling(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJMH(); err != nil {
		return nil, err
	}
	if err := needTool("perf"); err != nil {
		return nil, err
	}
	j := s.jdks[0]
	var own, record, script, share []float64
	for i := range s.rounds {
		s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
		c, err := s.sampleBoth(ctx, s.jmh(j, 1, s.size(28, 2), samplingBenchmark))
		if err != nil {
			return nil, err
		}
		own, record, script = append(own, c.own.Seconds()), append(record, c.record.Seconds()),
			append(script, c.script.Seconds())
		share = append(share, c.own.Seconds()/(c.record+c.script).Seconds())
	}
	return []figure{
		{j.label() + ", gasm's own CPU time", own, inMillis, ""},
		{"  perf record", record, inMillis, ""},
		{"  perf script", script, inMillis, ""},
		{"  gasm / both", share, asRatio, "<= 0.33 x"},
	}, nil
}

// A samplingCost is the CPU time of gasm's sampler, of perf record and of perf script.
type samplingCost struct{ own, record, script time.Duration }

// sampleBoth runs a command while gasm and perf sample it at 1001 Hz.
func (s *setup) sampleBoth(ctx context.Context, argv []string) (c samplingCost, err error) {
	cmd := command(ctx, append([]string{"sh", "-c", `read -r go && exec "$@"`, "sh"}, argv...))
	gate, err := cmd.StdinPipe()
	if err != nil {
		return c, err
	}
	if err := cmd.Start(); err != nil {
		return c, commandError(argv, err, "")
	}
	// run writes a line to the shell, and waits for the shell to end. "go\n" lets the shell run the command. With "",
	// or if the write fails, the shell reads the end of its input and exits without running the command.
	run := func(line string) error {
		_, err := io.WriteString(gate, line)
		gate.Close()
		return cmp.Or(err, cmd.Wait())
	}
	opts := collect.Options{Events: []sampler.Event{sampler.ParseEvent("cpu-clock")}, Frequency: 1001,
		PID: cmd.Process.Pid, Dir: s.dir}
	perf, err := collect.StartPerf(ctx, opts)
	if err != nil {
		_ = run("")
		return c, err
	}
	defer os.Remove(perf.DataFile())
	own, children := cpuTime(unix.RUSAGE_SELF), cpuTime(unix.RUSAGE_CHILDREN)
	native, err := collect.StartNative(opts)
	if err != nil {
		_ = run("")
		_ = perf.Stop()
		return c, err
	}
	defer os.Remove(native.TextFile())
	err = cmp.Or(run("go\n"), native.Stop(ctx))
	c.own = cpuTime(unix.RUSAGE_SELF) - own
	err = cmp.Or(err, perf.Stop())
	c.record = cpuTime(unix.RUSAGE_CHILDREN) - children - cmd.ProcessState.UserTime() - cmd.ProcessState.SystemTime()
	children = cpuTime(unix.RUSAGE_CHILDREN)
	err = cmp.Or(err, perf.WriteText(ctx, struct{ io.Writer }{io.Discard})) // perf script writes to a pipe
	c.script = cpuTime(unix.RUSAGE_CHILDREN) - children
	if err != nil {
		err = commandError(argv, err, "")
	}
	return c, err
}

// cpuTime returns the CPU time of this process (RUSAGE_SELF), or of its children that have ended (RUSAGE_CHILDREN).
func cpuTime(who int) time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(who, &u) // it can't fail with a valid who
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
