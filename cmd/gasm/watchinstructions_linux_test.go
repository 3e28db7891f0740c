package main

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestWatchInstructions compares the hot instructions of a JVM with those that perf and objdump find at the same time:
// perf counts addresses, and objdump decodes what the JVM's memory has there.
func TestWatchInstructions(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the instructions of the loop are those of x86-64")
	}
	gasmtest.NeedPerf(t)
	objdump := gasmtest.NeedTool(t, "objdump", "apt install binutils")
	j := startPhases(t, exactLines...)
	data := filepath.Join(t.TempDir(), "perf.data")
	perf := exec.Command("perf", "record", "-q", "-e", "cpu-clock", "-F", "991", "-p", j.pid(), "-o", data)
	gasmtest.Start(t, perf)
	cmd := exec.Command(binary, "watch", "--every", "5s", "--frequency", "997", "--instructions", j.pid())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = t.Output()
	gasmtest.Start(t, cmd)

	// The samples at each instruction of the hottest line, of one interval. A busy machine may take several intervals
	// until one has enough samples: an instruction with fewer than 10 is not named.
	got, total, unnamed := map[string]int{}, 0, 0
	line := "Phases::alpha:" + phasesLine(t, "hottest line of alpha")
	for lines := bufio.NewReader(out); total < 500; {
		clear(got)
		total, unnamed = 0, 0
		text, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		var profile struct {
			Stacks []struct {
				Samples int
				Frames  []string
			}
		}
		require.NoError(t, json.Unmarshal(text, &profile))
		for _, s := range profile.Stacks {
			total += s.Samples
			if last := len(s.Frames) - 1; last > 0 && s.Frames[last-1] == line {
				got[s.Frames[last]] += s.Samples
			} else if last >= 0 && s.Frames[last] == line {
				unnamed += s.Samples
			}
		}
	}
	require.NoError(t, perf.Process.Signal(syscall.SIGINT))
	_ = perf.Wait() // it was interrupted
	want, all := perfInstructions(t, data, j.cmd.Process.Pid, objdump)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, err = io.Copy(io.Discard, out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())

	t.Logf("gasm: %d samples, %d at cold instructions of the line, %v; perf: %d samples, %v", total, unnamed, got, all, want)
	// The JVM may compile the loop again, with other registers, at a time that only one of the two has samples of. So
	// the shares are those of all instructions with the same name. Which instructions C2 takes depends on the JDK. Those
	// of vectors (v…) are of this line, and the most frequent ones of these are compared.
	byName := func(counts map[string]int, all int) map[string]float64 {
		shares := map[string]float64{}
		for text, n := range counts {
			name, _, _ := strings.Cut(text, " ")
			shares[name] += float64(n) / float64(all)
		}
		return shares
	}
	shares := byName(got, total)
	compared := 0
	for name, p := range byName(want, all) {
		if !strings.HasPrefix(name, "v") || p < 0.1 {
			continue
		}
		compared++
		// Five standard deviations, and instructions whose line is another one. Those with fewer than 10 samples have no
		// names.
		tolerance := 5*math.Sqrt(p*(1-p)*(1/float64(all)+1/float64(total))) + 0.05
		assert.LessOrEqual(t, shares[name], p+tolerance, name)
		assert.GreaterOrEqual(t, shares[name]+float64(unnamed)/float64(total), p-tolerance, name)
	}
	assert.Positive(t, compared)
	for text := range got {
		if !strings.HasPrefix(text, "j") { // the target of a jump is known only with the code around it
			assert.Contains(t, want, text)
		}
	}
}

// perfInstructions returns the number of samples at each instruction of a process outside the kernel, by the
// instruction's text, and the number of all samples.
func perfInstructions(t *testing.T, data string, pid int, objdump string) (counts map[string]int, all int) {
	t.Helper()
	script := exec.Command("perf", "script", "-F", "ip", "-i", data)
	script.Stderr = t.Output()
	text, err := script.Output()
	require.NoError(t, err)
	at := map[uint64]int{}
	for _, field := range strings.Fields(string(text)) {
		pc, err := strconv.ParseUint(field, 16, 64)
		require.NoError(t, err)
		all++
		at[pc]++
	}
	memory, err := os.Open("/proc/" + strconv.Itoa(pid) + "/mem")
	require.NoError(t, err)
	defer memory.Close()
	counts = map[string]int{}
	for pc, n := range at {
		if pc >= 1<<47 || n < 3 {
			continue
		}
		code := make([]byte, 16)
		_, err := memory.ReadAt(code, int64(pc))
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "code")
		require.NoError(t, os.WriteFile(file, code, 0o600))
		listing, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", "--no-show-raw-insn", file).Output()
		require.NoError(t, err)
		_, first, found := strings.Cut(string(listing), "   0:\t")
		require.True(t, found, "%s", listing)
		first, _, _ = strings.Cut(first, "\n")
		counts[strings.Join(strings.Fields(first), " ")] += n
	}
	return counts, all
}
