package follow

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// TestFollow follows a JVM that was started without any flag, and samples it. Each sample in code that the JVM has
// generated must be in a blob of the log, and methods with samples must have code.
func TestFollow(t *testing.T) {
	gasmtest.NeedNative(t)
	classPath := t.TempDir()
	gasmtest.CompileJava(t, classPath, 8, gasmtest.Testdata("programs", "Shares.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			follow(t, jdk, "-Dwarmup=0", "-Dsec=600", "-cp", classPath, "Shares", "6")
		})
	}
}

func follow(t *testing.T, jdk gasmtest.JDK, args ...string) {
	cmd := exec.Command(jdk.Java(), args...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "MEASURE\n", line)
	log := filepath.Join(t.TempDir(), "asm.log")
	began := time.Now()
	f, err := Start(cmd.Process.Pid, Options{Log: log, ClassPath: "the:class path",
		StartMonoNanos: monotonic.Nanos() - 1e9, StartWallMillis: time.Now().UnixMilli() - 1000})
	require.NoError(t, err)
	t.Logf("known after %v: %d methods", time.Since(began), f.Methods())
	// A part of the loop is interpreted until the method is compiled at level 4. On a busy machine that takes long.
	compiled := regexp.MustCompile(`(?m)^<nmethod .* level='4' .*method='Shares rounds `)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(log)
		return err == nil && compiled.Match(text)
	}, 2*time.Minute, 50*time.Millisecond, "C2 compiles Shares::rounds")
	n, err := collect.AttachNative(t.Context(), collect.Options{PID: cmd.Process.Pid, Frequency: 997, Dir: t.TempDir()})
	require.NoError(t, err)
	stream := n.Subscribe(1<<16, 20*time.Millisecond)
	var samples []sampler.Sample
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for s := range stream.C {
			if s.Module == "" && !s.Kernel() {
				samples = append(samples, s)
				f.Sampled(s.PC, s.MonoNanos)
				if len(samples) == 1000 {
					close(enough)
				}
			}
		}
	}()
	select {
	case <-enough:
	case <-time.After(time.Minute):
		t.Error("no thousand samples within a minute")
	}
	require.NoError(t, n.Stop(t.Context()))
	<-done
	result := f.Stop()
	t.Logf("%+v", result)
	file, err := os.Open(log)
	require.NoError(t, err)
	defer file.Close()
	info, _ := file.Stat()
	read, err := printassembly.NewLog(file, info.Size(), log)
	require.NoError(t, err)
	assert.Zero(t, read.Damaged)
	assert.Equal(t, cmd.Process.Pid, read.PID)
	assert.Equal(t, "Shares 6", read.Command)
	assert.Equal(t, "the:class path", read.ClassPath)
	if result.NoFrames == nil {
		assert.Equal(t, "Shares.java", read.SourceFiles["Shares"])
	}
	unknown, withCode := 0, 0
	for _, s := range samples {
		at := -1
		for i := range read.Blobs {
			if b := &read.Blobs[i]; b.Lo <= s.PC && s.PC < b.Hi {
				at = i
			}
		}
		switch {
		case at < 0:
			unknown++
		case read.Blobs[at].HasCode:
			withCode++
		}
	}
	t.Logf("%d samples, %d of them unknown, %d with code; %d blobs, %d bytes", len(samples), unknown, withCode,
		len(read.Blobs), info.Size())
	assert.LessOrEqual(t, unknown*200, len(samples), "0.5 %")
	assert.NotEmpty(t, samples)
	assert.Greater(t, withCode*100, len(samples)*90, "next to all are in the loops, which are copied")
}

// awaitHotSpot waits until a process that becomes a JVM has loaded HotSpot.
func awaitHotSpot(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := vmstructs.Open(pid)
		return err == nil
	}, time.Minute, 10*time.Millisecond, "the JVM starts")
}

// TestEndedEarly: the result says that the JVM ended early if it ends after the Follower has found its code cache, and
// before the Follower has read it.
func TestEndedEarly(t *testing.T) {
	gasmtest.NeedNative(t)
	classPath := t.TempDir()
	gasmtest.CompileJava(t, classPath, 8, gasmtest.Testdata("programs", "Shares.java"))
	cmd := exec.Command(gasmtest.NeedJava(t), "-Dsec=600", "-cp", classPath, "Shares", "6")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	o := Options{Log: filepath.Join(t.TempDir(), "asm.log"), JVMs: shared.NewJVMs()}
	f := &Follower{pid: cmd.Process.Pid, o: o, state: map[*codecache.Blob]copyState{}}
	require.Eventually(t, func() bool { return f.open() == nil }, time.Minute, 10*time.Millisecond, "the JVM starts")
	var err error
	f.log, err = newLogWriter(f.pid, o)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	f.began()
	assert.True(t, f.gone)
	assert.True(t, f.result.EndedEarly)
	assert.Zero(t, f.Methods())
}

// TestPause: a paused Follower writes nothing, whatever the JVM compiles. After the pause it finds what was compiled
// in the meantime.
func TestPause(t *testing.T) {
	gasmtest.NeedNative(t)
	classPath := t.TempDir()
	gasmtest.CompileJava(t, classPath, 17, gasmtest.Testdata("programs", "Compile.java"),
		gasmtest.Testdata("programs", "MemoryFiles.java"), gasmtest.Testdata("programs", "MemoryFile.java"))
	jdk := gasmtest.NeedJDKs(t, gasmtest.WholeJDK17)[0]
	cmd := exec.Command(jdk.Java(), "-Dclasses=2000", "-cp", classPath, "Compile")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	awaitHotSpot(t, cmd.Process.Pid)
	log := filepath.Join(t.TempDir(), "asm.log")
	f, err := Start(cmd.Process.Pid, Options{Log: log, StartMonoNanos: monotonic.Nanos() - 1e9,
		StartWallMillis: time.Now().UnixMilli() - 1000})
	require.NoError(t, err)
	size := func() int64 {
		info, err := os.Stat(log)
		require.NoError(t, err)
		return info.Size()
	}
	require.Eventually(t, func() bool { return f.Methods() > 200 && size() > 0 }, time.Minute, 10*time.Millisecond,
		"javac is being compiled") // the log is written a moment after the methods are counted
	f.Pause()
	// A poll that has begun is completed, which takes a while on a busy machine. Without the pause, the log would not
	// stop growing.
	paused := int64(-1)
	for deadline := time.Now().Add(time.Minute); size() != paused; time.Sleep(500 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "the log grows in the pause")
		paused = size()
	}
	methods := f.Methods()
	time.Sleep(1500 * time.Millisecond)
	assert.Equal(t, paused, size(), "the log grows in the pause")
	assert.Equal(t, methods, f.Methods())
	f.Resume()
	require.Eventually(t, func() bool { return f.Methods() > methods+50 }, time.Minute, 10*time.Millisecond,
		"what javac had compiled in the pause")
	f.Pause()
	f.Stop()
	file, err := os.Open(log)
	require.NoError(t, err)
	defer file.Close()
	info, _ := file.Stat()
	read, err := printassembly.NewLog(file, info.Size(), log)
	require.NoError(t, err)
	assert.Zero(t, read.Damaged)
	assert.False(t, read.Cut, "the log of a Follower that was stopped in a pause is whole")
}
