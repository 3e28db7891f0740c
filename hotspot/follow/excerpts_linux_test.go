package follow

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// TestExcerpts gives two Followers the same samples of a JVM that compiles all the time. One of them copies methods
// completely, the other makes excerpts only. At each sampled instruction both must have the same inlined methods and
// lines. (The instructions are not compared, because HotSpot changes running code when a call is resolved or a method
// is invalidated.)
func TestExcerpts(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	gasmtest.NeedNative(t)
	classPath := t.TempDir()
	programs := gasmtest.Testdata("programs")
	gasmtest.CompileJava(t, classPath, 17, filepath.Join(programs, "Compile.java"),
		filepath.Join(programs, "MemoryFile.java"), filepath.Join(programs, "MemoryFiles.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			compareExcerpts(t, exec.Command(jdk.Java(), "-Dclasses=2000", "-cp", classPath, "Compile"))
		})
	}
}

func compareExcerpts(t *testing.T, cmd *exec.Cmd) {
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	awaitHotSpot(t, pid)
	start := func(name string, o Options) *Follower {
		o.Log, o.StartMonoNanos, o.StartWallMillis = filepath.Join(t.TempDir(), name), monotonic.Nanos()-1e9,
			time.Now().UnixMilli()-1000
		f, err := Start(pid, o)
		require.NoError(t, err)
		return f
	}
	followers := []*Follower{start("whole", Options{budget: time.Hour}), start("excerpts", Options{budget: -time.Hour})}
	n, err := collect.AttachNative(t.Context(), collect.Options{PID: pid, Frequency: 997, Dir: t.TempDir()})
	require.NoError(t, err)
	stream := n.Subscribe(1<<16, 20*time.Millisecond)
	sampled := map[uint64]bool{}
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var once sync.Once
		for s := range stream.C {
			if s.Module == "" && !s.Kernel() {
				if sampled[s.PC] = true; len(sampled) >= 300 {
					once.Do(func() { close(enough) })
				}
				for _, f := range followers {
					f.Sampled(s.PC, s.MonoNanos)
				}
			}
		}
	}()
	select {
	case <-enough:
	case <-time.After(2 * time.Minute):
		t.Error("not sampled at 300 addresses within two minutes")
	}
	require.NoError(t, n.Stop(t.Context()))
	<-done
	whole, excerpts := followers[0].Stop(), followers[1].Stop()
	t.Logf("%+v", whole)
	t.Logf("%+v", excerpts)
	assert.Zero(t, excerpts.Missed, "%v", excerpts.Why)
	assert.Equal(t, excerpts.Copied, excerpts.Excerpts)
	assert.Zero(t, whole.Excerpts)

	of := readCode(t, followers[0].o.Log, sampled)
	compared := 0
	for at, got := range readCode(t, followers[1].o.Log, sampled) {
		if want, ok := of[at]; ok {
			compared++
			assert.Equal(t, want.Frames, got.Frames, "method %d at %#x", at.id, at.pc)
		}
	}
	t.Logf("%d instructions compared", compared)
	assert.Greater(t, compared, 20, "the others are in the interpreter, or their methods are not compiled any more")
}

type instruction struct {
	id int // the compile id
	pc uint64
}

// readCode returns the instructions of a log that are at one of the addresses.
func readCode(t *testing.T, path string, at map[uint64]bool) map[instruction]printassembly.Instruction {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(t, err)
	log, err := printassembly.NewLog(file, info.Size(), path)
	require.NoError(t, err)
	assert.Zero(t, log.Damaged)
	found := map[instruction]printassembly.Instruction{}
	for i := range log.Blobs {
		b := &log.Blobs[i]
		if !b.HasCode || !b.Kind.Java() {
			continue
		}
		code, err := log.Code(b, disasm.ATT)
		require.NoError(t, err)
		for _, inst := range code {
			if at[inst.Lo] {
				found[instruction{b.ID, inst.Lo}] = inst
			}
		}
	}
	return found
}
