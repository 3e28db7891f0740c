package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/wall"
)

// TestWall checks that --wall records what the threads of a command's JVM do by the wall clock, and that nothing is
// recorded without it.
func TestWall(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	java, classes := gasmtest.NeedJava(t), programs11(t, "Figures")
	for flag, recorded := range map[string]bool{"--wall": true, "--wall=50": true, "--fixed-frequency": false} {
		dir := filepath.Join(t.TempDir(), "capture")
		cmd := exec.Command(binary, "profile", flag, "--sampler", "native", "-o", dir, "--", java, "-cp", classes, "Figures")
		out, stderr := newLineWaiter("PHASE 0"), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, stderr
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		// The program works when it is recorded, and ends when its stdin does.
		if recorded {
			require.Eventually(t, func() bool {
				files, err := filepath.Glob(filepath.Join(dir, "wall-*"))
				return err == nil && len(files) > 0
			}, hangs, 10*time.Millisecond, "its threads are recorded")
		}
		_, err = io.WriteString(stdin, "\n")
		require.NoError(t, err)
		out.wait(t)
		require.NoError(t, stdin.Close())
		require.Equal(t, 0, exitCode(t, cmd), stderr)
		d, err := capture.ReadDescription(dir)
		require.NoError(t, err)
		require.Len(t, d.JVMs, 1)
		name := d.JVMs[0].Wall
		require.Equal(t, recorded, name != "", flag)
		if !recorded {
			files, err := filepath.Glob(filepath.Join(dir, "wall-*"))
			require.NoError(t, err)
			assert.Empty(t, files)
			continue
		}
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		defer f.Close()
		hertz, ran, ended := 0, int64(0), false
		for r := wall.NewReader(f, name); r.Scan(); {
			switch x := r.Record().(type) {
			case *wall.Head:
				hertz = x.Hertz
			case *wall.Spell:
				ran += x.Ran
			case *wall.End:
				ended = true
			case *wall.SyntaxError:
				assert.NoError(t, x)
			}
		}
		assert.True(t, ended)
		assert.Positive(t, ran)
		assert.Equal(t, map[string]int{"--wall": 20, "--wall=50": 50}[flag], hertz)
		r := runGasm(t, []string{"report", dir})
		assert.Equal(t, 0, r.code, r.stderr)
	}
	for flag, message := range map[string]string{"--wall=0": "--wall is 0", "--wall=5000": "from 1 to 1000"} {
		r := runGasm(t, []string{"profile", flag, "--", java, "-version"})
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, message)
	}
}
