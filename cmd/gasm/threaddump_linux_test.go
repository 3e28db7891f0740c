package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestStacksOfStopped prints the stacks of a JVM that was stopped by SIGSTOP, as text and as JSON.
func TestStacksOfStopped(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	// It never sleeps: main is RUNNABLE whenever the signal comes.
	j := startJVM(t, "READY", gasmtest.NeedJava(t), "-cp", javaPrograms(t), "Spin")
	require.NoError(t, j.cmd.Process.Signal(unix.SIGSTOP))
	defer func() { assert.NoError(t, j.cmd.Process.Signal(unix.SIGCONT)) }()
	r := runGasm(t, []string{"stacks", j.pid()})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Empty(t, r.said())
	assert.Regexp(t, `(?m)^JVM `+j.pid()+`, JDK .* threads, .*read in .* without a stop\n`, r.stdout)
	assert.Regexp(t, `(?m)^"main" #1 prio=5 .* nid=\d+ \S.*\n   java.lang.Thread.State: RUNNABLE\n`, r.stdout)
	assert.Regexp(t, `(?m)^\tat Spin\.\w+\(`, r.stdout)
	assert.Regexp(t, `(?m)^"(VM Thread|GC Thread#0|C1 CompilerThread0)"`, r.stdout)

	r = runGasm(t, []string{"stacks", "--format", "json", j.pid()})
	require.Equal(t, 0, r.code, r.stderr)
	var read struct {
		Schema, PID int
		Threads     []struct{ Name, Stack string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &read))
	assert.Equal(t, 1, read.Schema)
	assert.Equal(t, j.cmd.Process.Pid, read.PID)
	assert.Greater(t, len(read.Threads), 5)
}
