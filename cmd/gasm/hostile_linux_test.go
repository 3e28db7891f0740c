package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// What gasm may use for an input below 50 MB. The kernel ends a process that has more
// than hardMemory; without that, a test that fails could take the whole machine.
const (
	mostTime   = 20 * time.Second
	hardTime   = 5 * mostTime
	mostMemory = 1 << 30
	hardMemory = 2 << 30
)

// Sizes of the inputs, in bytes. What an input costs grows with its size, so small inputs
// have smaller limits. A run of gasm takes some time and memory for any input: the dearest
// of the short ones took 377 to 529 MB, by when the garbage was collected.
const (
	longInput   = 48 << 20
	shortInput  = longInput / 32
	startTime   = 5 * time.Second
	startMemory = 576 << 20
)

// TestHostile gives gasm inputs that no JVM, sampler or gasm writes. It may refuse them, or
// report on what they have, but must not fall over, and must use time and memory as the
// size of the input says. With -long the inputs are as large as those that are promised to
// cost no more than mostTime and mostMemory.
func TestHostile(t *testing.T) {
	if !gasmtest.Long() {
		t.Parallel()
	}
	size := shortInput
	if gasmtest.Long() {
		size = longInput
	}
	require.NotEmpty(t, hostileInputs)
	for i, input := range hostileInputs {
		t.Run(input.name, func(t *testing.T) {
			if !gasmtest.Long() {
				t.Parallel() // long inputs take a gigabyte each
			}
			h := &hostile{t: t, dir: t.TempDir(), size: size}
			input.make(h)
			h.run(input.says, i)
		})
	}
}

// A hostileInput is one way to hurt.
type hostileInput struct {
	name string
	make func(h *hostile)
	// says is what gasm must say of it, in the report or on stderr; "" where the input is
	// odd and nothing of it is damaged.
	says string
}

// hostile is one input on its way.
type hostile struct {
	t    *testing.T
	dir  string
	size int      // that the input should have, in bytes
	args []string // of gasm; the usual ones when it is nil
}

func (h *hostile) file(name string) string { return filepath.Join(h.dir, name) }

// A hostileRun is a run of gasm on an input.
type hostileRun struct {
	name string
	args []string
}

// runs are all that read an input; without -long, the text report and by turns one other.
func (h *hostile) runs(turn int) []hostileRun {
	if h.args != nil {
		return []hostileRun{{"run", h.args}}
	}
	out := filepath.Join(h.t.TempDir(), "out")
	text := hostileRun{"text", []string{"report", h.dir}}
	others := []hostileRun{
		{"json", []string{"report", "--format", "json", "--report", out, h.dir}},
		{"pprof", []string{"report", "--format", "pprof", "--report", out, h.dir}},
		{"html", []string{"report", "--format", "html", "--report", out, h.dir}},
		{"collapsed", []string{"report", "--format", "collapsed", "--report", out, h.dir}},
		{"log", []string{"report", "--save-log", out, h.dir}},
		{"diff", []string{"diff", h.dir, h.dir}},
	}
	if gasmtest.Long() {
		return append([]hostileRun{text}, others...)
	}
	return []hostileRun{text, others[turn%len(others)]}
}

// run runs gasm, and checks what holds for any input.
func (h *hostile) run(says string, turn int) {
	size := h.inputSize()
	for i, run := range h.runs(turn) {
		h.t.Run(run.name, func(t *testing.T) {
			r := runLimited(t, run.args)
			t.Logf("exit code %d, %.1f s, %d MB; the input is %.1f MB", r.code, r.took.Seconds(), r.memory>>20, float64(size)/(1<<20))
			assert.Contains(t, []int{0, 1, 2}, r.code)
			assert.Empty(t, r.found("\x1b"), "an escape sequence")
			assert.Empty(t, r.found("panic: ", "goroutine 1 [", "fatal error: ", "runtime error: "), "a fault of gasm's: %s", r.start())
			most := float64(size) / longInput
			assert.LessOrEqual(t, r.memory, int64(startMemory+most*(mostMemory-startMemory)), "memory")
			assert.LessOrEqual(t, r.took, startTime+time.Duration(most*float64(mostTime-startTime)), "time")
			if i == 0 {
				words := strings.ReplaceAll(says, " ", `\s+`) // notes are wrapped
				assert.True(t, r.says(words), "it should say %q: %s", says, r.start())
			}
		})
	}
}

func (h *hostile) inputSize() (size int64) {
	_ = filepath.Walk(h.dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// limited is what a run of gasm within limits left. Its output is in a file, because the
// memory of this process would count for the next run.
type limited struct {
	t      *testing.T
	output string // both of stdout and stderr
	code   int
	took   time.Duration
	memory int64 // bytes, at most
}

// runLimited runs gasm within the limits.
func runLimited(t *testing.T, args []string) limited {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), hardTime)
	defer cancel()
	self, err := os.Executable()
	require.NoError(t, err)
	// The limit is on private writable memory, of which Go takes as much as it uses.
	cmd := exec.CommandContext(ctx, self, append([]string{"sh", "-c", `ulimit -d "$1"; shift; exec "$@"`, "sh", fmt.Sprint(hardMemory >> 10), binary}, args...)...)
	cmd.Env = append(os.Environ(), measuredEnv+"=1")
	cmd.Stdout, cmd.Stderr = out, out
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	start := time.Now()
	require.NoError(t, cmd.Start())
	w.Close()
	var code int
	var memory, cpu int64
	_, scanErr := fmt.Fscan(r, &code, &memory, &cpu)
	took := time.Since(start)
	require.NoError(t, errors.Join(scanErr, cmd.Wait()))
	// On a machine with nothing else to do it takes neither more time than this nor more
	// than its time on all CPUs.
	return limited{t, out.Name(), code, min(took, time.Duration(cpu)), memory << 10}
}

// measured runs a command; see measuredEnv.
func measured(command []string) error {
	os.Unsetenv(measuredEnv)
	syscall.CloseOnExec(3)
	runtime.LockOSThread() // Pdeathsig is for the end of the thread
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if state := cmd.ProcessState; state != nil {
		rusage, _ := state.SysUsage().(*syscall.Rusage)
		_, err = fmt.Fprintln(os.NewFile(3, "result"), state.ExitCode(), rusage.Maxrss, int64(state.UserTime()+state.SystemTime()))
	}
	return err
}

// says tells whether a regular expression is somewhere in the output.
func (l *limited) says(expression string) bool {
	f, err := os.Open(l.output)
	require.NoError(l.t, err)
	defer f.Close()
	return regexp.MustCompile(expression).MatchReader(bufio.NewReaderSize(f, 1<<16))
}

// found gives the first of some texts that is in the output; "" when none is. A regular
// expression takes seconds for the output of some inputs, with the race detector.
func (l *limited) found(texts ...string) string {
	f, err := os.Open(l.output)
	require.NoError(l.t, err)
	defer f.Close()
	const overlap = 64 // more than a text has
	buf := make([]byte, 0, 1<<20)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for _, text := range texts {
			if bytes.Contains(buf, []byte(text)) {
				return text
			}
		}
		if err != nil {
			require.ErrorIs(l.t, err, io.EOF)
			return ""
		}
		buf = buf[:copy(buf, buf[max(0, len(buf)-overlap):])]
	}
}

// start is where the output begins, for messages.
func (l *limited) start() string {
	f, err := os.Open(l.output)
	require.NoError(l.t, err)
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, 1500))
	require.NoError(l.t, err)
	return string(start)
}
