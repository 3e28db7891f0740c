package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A result is the result of running a command.
type result struct {
	seconds float64
	peak    float64 // peak memory of the command's process, in bytes
	stdout  string  // "" if it was written to a file
}

// run runs a command to its end. If stdout is nil, the command's output is in the result.
//
// The peak memory in the result is Linux's ru_maxrss. A process starts with the ru_maxrss of the process that created
// it. So bench itself must stay smaller than the programs that it measures, and can't hold a large file in memory.
func run(ctx context.Context, argv []string, stdout *os.File) (result, error) {
	cmd := command(ctx, argv)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if stdout != nil {
		cmd.Stdout = stdout
	}
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin)
	if err != nil {
		return result{}, commandError(argv, err, errs.String())
	}
	return result{seconds: took.Seconds(), peak: peakMemory(cmd.ProcessState), stdout: out.String()}, nil
}

// command returns a command for argv. When ctx ends, the command gets the signal of Ctrl-C, so that gasm can stop the
// processes that it has started.
func command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// commandError returns an error with the command line and the end of the command's stderr.
func commandError(argv []string, err error, stderr string) error {
	const most = 2000
	stderr = strings.TrimSpace(stderr)
	if len(stderr) > most {
		stderr = "[...]" + stderr[len(stderr)-most:]
	}
	return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, stderr)
}

// peakMemory returns the peak memory of a process in bytes, or 0 if it is unknown.
func peakMemory(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(usage.Maxrss)
	}
	return float64(usage.Maxrss) * 1024
}

// report runs gasm report with these arguments. The text of the report is discarded.
func (s *setup) report(ctx context.Context, args ...string) (result, error) {
	return run(ctx, append([]string{s.gasm, "report", "--report", os.DevNull}, args...), nil)
}

// needRoom returns an error unless the temporary directory has room for n bytes and for 500 MB more.
func (s *setup) needRoom(n int64) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(s.dir, &fs); err != nil {
		return fmt.Errorf("looking for room in %s: %w", s.dir, err)
	}
	const spare = 500_000_000
	if have := int64(fs.Bavail) * int64(fs.Bsize); have < n+spare {
		return missing("it needs %d MB in %s, which has %d MB: TMPDIR names another folder",
			(n+spare)/1e6, s.dir, have/1e6)
	}
	return nil
}

// needTool returns an error if a program is not installed.
func needTool(name string) error {
	if _, err := exec.LookPath(name); err != nil {
		return missing("%s is not on PATH", name)
	}
	return nil
}

// needSampler returns an error if neither perf nor DTrace is on PATH.
func needSampler() error {
	if needTool("perf") != nil && needTool("dtrace") != nil {
		return missing("neither perf nor dtrace is on PATH: 'gasm doctor' says how to install one")
	}
	return nil
}
