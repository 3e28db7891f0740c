package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A lockedBuffer is a buffer that can be read while a process writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// clientOf returns a client of a Unix socket.
func clientOf(socket string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial}}
}

// TestWatchOnDemand asks a running gasm watch, as systemd's service, for a profile, a page and its metrics, and lets it
// read its configuration file again: once with a mistake, and once with another destination and label.
func TestWatchOnDemand(t *testing.T) {
	t.Parallel()
	j := startPhases(t, exactLines...)
	dir := t.TempDir()
	conf, socket := filepath.Join(dir, "watch.conf"), filepath.Join(dir, "gasm.sock")
	configure := func(text string) {
		require.NoError(t, os.WriteFile(conf, []byte("listen = unix:"+socket+"\njvm = "+j.pid()+"\njvm = 4194305\n"+text), 0o600))
	}
	configure("every = 5s\nto = -\n")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	require.NoError(t, err)
	defer notify.Close()
	var states lockedBuffer
	go func() {
		b := make([]byte, 1000)
		for {
			n, err := notify.Read(b)
			if err != nil {
				return
			}
			_, _ = states.Write(append(b[:n:n], '\n'))
		}
	}()
	temp := t.TempDir()
	cmd := exec.Command(binary, "watch", "--config", conf, "--label", "team=x")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp, "NOTIFY_SOCKET="+notify.LocalAddr().String(), "WATCHDOG_USEC=3000000")
	var stdout, stderr lockedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	gasmtest.Start(t, cmd)
	client := clientOf(socket)
	get := func(path string) (int, string) {
		res, err := client.Get("http://gasm" + path)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return 0, err.Error()
		}
		return res.StatusCode, string(body)
	}
	eventually := func(what string, condition func() bool) {
		t.Helper()
		require.Eventually(t, condition, 8*time.Minute, 20*time.Millisecond, "%s\n%s", what, &stderr)
	}
	metric := func(line string) func() bool {
		return func() bool {
			_, body := get("/metrics")
			return strings.Contains(body, line)
		}
	}
	eventually("the JVM", metric("gasm_jvms{state=\"profiled\"} 1\n"))
	info, err := os.Lstat(socket)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSocket|0o600, info.Mode())
	code, body := get("/healthz")
	assert.Equal(t, 200, code, body)

	code, body = get("/debug/pprof/profile?seconds=1&jvm=" + j.pid())
	require.Equal(t, 200, code, body)
	p, err := pprof.Parse(strings.NewReader(body))
	require.NoError(t, err)
	file := filepath.Join(dir, "profile.pb.gz")
	require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
	top, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1", file).Output()
	require.NoError(t, err)
	assert.Contains(t, string(top), "Phases::alpha")
	assert.NotEmpty(t, p.Sample)
	code, body = get("/page?seconds=1")
	require.Equal(t, 200, code)
	for _, text := range []string{"<!DOCTYPE html>", "Phases::alpha"} {
		assert.True(t, strings.Contains(body, text), text) // Contains of testify would print the whole page
	}
	eventually("a profile", func() bool { // there may be several by now
		_, body := get("/metrics")
		const sent = `gasm_push_profiles_total{destination="-",result="sent"} `
		return strings.Contains(body, sent) && !strings.Contains(body, sent+"0\n")
	})

	configure("every = 5s\nto = -\nfrequency = 100000\n")
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	eventually("the mistake", func() bool {
		return strings.Contains(stderr.String(), "gasm: --frequency is 100000; it is in Hz, from 1 to 1001; the old configuration "+
			"stays in force\n")
	})
	folder := filepath.Join(dir, "profiles")
	configure("every = 6s\nfrequency = 51\nto = dir:" + folder + "\nlabel = stage=test\n")
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	eventually("the new configuration", metric("gasm_frequency_hertz 51\n"))
	eventually("a file", func() bool {
		files, err := filepath.Glob(filepath.Join(folder, "*", "*.pb.gz"))
		return err == nil && len(files) > 0
	})
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "%s", &stderr)
	assert.NoFileExists(t, socket)
	assert.Contains(t, stdout.String(), `"team":"x"`)
	assert.NotContains(t, stdout.String(), `"stage"`)
	assert.Contains(t, stderr.String(), "gasm: the configuration was read again\n")
	assert.Contains(t, stderr.String(), "gasm: jvm = 4194305: no process has the id 4194305: `gasm attach` lists")
	assert.Regexp(t, `^READY=1\n(?s:.*)WATCHDOG=1\n(?s:.*)RELOADING=1\nMONOTONIC_USEC=\d+\nREADY=1\n`, states.String())
	left, err := filepath.Glob(filepath.Join(temp, "gasm*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestWatchKilled checks that nothing goes on recording after a gasm watch that answers a request was killed. Before
// that, the kernel may wake up gasm watch late, but not the recording.
func TestWatchKilled(t *testing.T) {
	t.Parallel()
	j := startPhases(t)
	dir := t.TempDir()
	socket := filepath.Join(dir, "gasm.sock")
	cmd := exec.Command(binary, "watch", "--listen", "unix:"+socket, "--to", "dir:"+dir, j.pid())
	cmd.Env = append(cmd.Environ(), "TMPDIR="+dir)
	gasmtest.Start(t, cmd)
	client := clientOf(socket)
	go func() {
		for t.Context().Err() == nil { // the JVM is not known at first
			if res, err := client.Get("http://gasm/page?seconds=300&jvm=" + j.pid()); err == nil {
				res.Body.Close()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var all []int
	runs := func(pid int, command string) bool {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && strings.Contains(string(line), "\x00"+command+"\x00")
	}
	attaches := func(pid int) bool { return runs(pid, "attach") }
	require.Eventually(t, func() bool {
		all = descendants(cmd.Process.Pid)
		return slices.ContainsFunc(all, attaches)
	}, 3*time.Minute, 10*time.Millisecond, "a recording")
	ticks := map[int]uint64{}
	for _, pid := range all {
		ticks[pid] = processend.StartTicks(pid)
		slack, err := os.ReadFile(fmt.Sprintf("/proc/%d/timerslack_ns", pid))
		switch {
		case err != nil: // it needs CAP_SYS_NICE
		case attaches(pid):
			assert.Equal(t, usualWakeUp.Nanoseconds(), number(t, slack))
		case runs(pid, "watch"):
			assert.Equal(t, lateWakeUp.Nanoseconds(), number(t, slack))
		}
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	for pid, started := range ticks {
		ended := func() bool { return processend.HasEnded(pid, started) }
		if !assert.Eventually(t, ended, time.Minute, 10*time.Millisecond, "process %d", pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func number(t *testing.T, line []byte) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimSpace(string(line)), 10, 64)
	require.NoError(t, err)
	return n
}

// descendants returns the ids of a process's children, of theirs, and so on.
func descendants(pid int) (all []int) {
	for _, text := range childrenOf(pid) {
		child, _ := strconv.Atoi(text) // the kernel writes numbers only
		all = append(append(all, child), descendants(child)...)
	}
	return all
}
