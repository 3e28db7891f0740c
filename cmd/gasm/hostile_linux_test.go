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

// Limits for what gasm uses for an input of less than 50 MB. The kernel ends a process that uses more than
// hardMemory. Otherwise a test that fails could use up the memory of the whole machine.
const (
	mostTime   = 20 * time.Second
	hardTime   = 5 * mostTime
	mostMemory = 1 << 30
	hardMemory = 2 << 30
)

// Sizes of the inputs, in bytes. The larger an input is, the more gasm may use for it, so the limits for small inputs
// are lower. But any run of gasm takes some time and memory. The most expensive short input took 377 to 607 MB,
// depending on when garbage was collected: most on a machine with much else to do.
const (
	longInput   = 48 << 20
	shortInput  = longInput / 32
	startTime   = 5 * time.Second
	startMemory = 704 << 20
)

// TestHostile gives gasm inputs that no JVM, no sampler and no gasm writes. gasm may refuse them, or make a report of
// what they contain. But it must not crash, and its time and memory must be in proportion to the input's size. With
// -long, the inputs are as large as the inputs for which gasm's limits mostTime and mostMemory are promised.
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
				t.Parallel() // each long input takes a gigabyte
			}
			h := &hostile{t: t, dir: t.TempDir(), size: size}
			input.make(h)
			h.run(input.says, i)
		})
	}
}

// A hostileInput is one kind of input that may harm gasm.
type hostileInput struct {
	name string
	make func(h *hostile)
	// says is an expression for what gasm must say about the input, in the report or on stderr. It is "" if the input
	// is unusual, but nothing in it is damaged.
	says string
}

// A hostile is an input that is being made and tested.
type hostile struct {
	t    *testing.T
	dir  string
	size int      // the size that the input should have, in bytes
	args []string // gasm's arguments; nil means the usual ones
}

func (h *hostile) file(name string) string { return filepath.Join(h.dir, name) }

// A hostileRun is a way to run gasm on an input.
type hostileRun struct {
	name string
	args []string
}

// runs returns the runs of gasm that read the input. Without -long, these are only the text report and one of the
// other runs, which depends on turn.
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

// run runs gasm, and checks what must be true for any input.
func (h *hostile) run(says string, turn int) {
	size := h.inputSize()
	for i, run := range h.runs(turn) {
		h.t.Run(run.name, func(t *testing.T) {
			r := runLimited(t, run.args)
			t.Logf("exit code %d, %.1f s, %d MB; the input is %.1f MB", r.code, r.took.Seconds(), r.memory>>20,
				float64(size)/(1<<20))
			assert.Contains(t, []int{0, 1, 2}, r.code)
			assert.Empty(t, r.found("\x1b"), "an escape sequence")
			assert.Empty(t, r.found("panic: ", "goroutine 1 [", "fatal error: ", "runtime error: "), "a fault of gasm's: %s",
				r.start())
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

// A limited is the result of a run of gasm within limits. Its output is in a file, because memory of this process
// would count for the next run.
type limited struct {
	t      *testing.T
	output string // path of the file with stdout and stderr
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
	// ulimit limits the private writable memory. Go allocates only as much of it as it uses.
	cmd := exec.CommandContext(ctx, self, append([]string{"sh", "-c", `ulimit -d "$1"; shift; exec "$@"`, "sh",
		fmt.Sprint(hardMemory >> 10), binary}, args...)...)
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
	// On an idle machine, gasm would take no longer than either of these two: its elapsed time, and its CPU time on
	// all CPUs together.
	return limited{t, out.Name(), code, min(took, time.Duration(cpu)), memory << 10}
}

// measured runs a command; see measuredEnv.
func measured(command []string) error {
	os.Unsetenv(measuredEnv)
	syscall.CloseOnExec(3)
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if state := cmd.ProcessState; state != nil {
		rusage, _ := state.SysUsage().(*syscall.Rusage)
		_, err = fmt.Fprintln(os.NewFile(3, "result"), state.ExitCode(), rusage.Maxrss,
			int64(state.UserTime()+state.SystemTime()))
	}
	return err
}

// says reports whether the output matches a regular expression.
func (l *limited) says(expression string) bool {
	f, err := os.Open(l.output)
	require.NoError(l.t, err)
	defer f.Close()
	return regexp.MustCompile(expression).MatchReader(bufio.NewReaderSize(f, 1<<16))
}

// found returns the first of the texts that the output contains, or "" if it contains none. It does not use regular
// expressions, which take seconds for some outputs with the race detector.
func (l *limited) found(texts ...string) string {
	f, err := os.Open(l.output)
	require.NoError(l.t, err)
	defer f.Close()
	const overlap = 64 // longer than any of the texts
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

// start returns the beginning of the output, for messages.
func (l *limited) start() string {
	f, err := os.Open(l.output)
	require.NoError(l.t, err)
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, 1500))
	require.NoError(l.t, err)
	return string(start)
}
