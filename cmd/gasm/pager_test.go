package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// The other tests check what gasm itself prints, so they must not use the pager of the developer, which nobody would
// quit.
func init() { os.Setenv("GASM_PAGER", "cat") }

// A terminalRun is a running gasm on a terminal of its own.
type terminalRun struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	out  *lineWaiter // everything that was written to the terminal
	read chan struct{}
}

// startOnTerminal starts gasm on a terminal. It sets the environment variables that concern pagers to those in env
// alone. The field out waits for a word.
func startOnTerminal(t *testing.T, rows uint16, word string, env, args []string) *terminalRun {
	t.Helper()
	r := &terminalRun{t: t, cmd: exec.Command(binary, args...), out: newLineWaiter(word), read: make(chan struct{})}
	r.cmd.Env = []string{"TERM=xterm", "LC_ALL=C.UTF-8", "TMPDIR=" + t.TempDir()}
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "GASM_PAGER", "PAGER", "LESS", "LV", "NO_COLOR", "TERM", "LC_ALL", "TMPDIR":
		default:
			r.cmd.Env = append(r.cmd.Env, kv)
		}
	}
	r.cmd.Env = append(r.cmd.Env, env...)
	var err error
	r.tty, err = pty.StartWithSize(r.cmd, &pty.Winsize{Rows: rows, Cols: 90})
	require.NoError(t, err)
	t.Cleanup(func() {
		r.cmd.Process.Kill()
		r.tty.Close()
	})
	go func() {
		defer close(r.read)
		buf := make([]byte, 4096)
		for {
			n, err := r.tty.Read(buf)
			r.out.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	return r
}

func (r *terminalRun) keys(keys string) {
	r.t.Helper()
	_, err := r.tty.WriteString(keys)
	require.NoError(r.t, err)
}

// end waits for gasm's end, and returns everything that the terminal got.
func (r *terminalRun) end() (out string, code int) {
	r.t.Helper()
	code = exitCode(r.t, r.cmd)
	<-r.read
	return r.out.String(), code
}

// fakePager makes a pager that writes its input to the file record.
func fakePager(t *testing.T, script string) (pager, record string) {
	t.Helper()
	dir := t.TempDir()
	pager, record = filepath.Join(dir, "pager"), filepath.Join(dir, "record")
	text := "#!/bin/sh\nrecord='" + record + "'\n" + script + "\n"
	require.NoError(t, os.WriteFile(pager, []byte(text), 0o755))
	return pager, record
}

const keepAll = `cat >"$record"; echo "PAGED LESS=$LESS LV=$LV $1"`

func TestPager(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	pager, record := fakePager(t, keepAll)
	for _, c := range []struct {
		name  string
		env   []string
		flags []string
		want  string // what the terminal gets besides the report; "" if no pager is used
	}{
		{"GASM_PAGER", []string{"GASM_PAGER=" + pager, "PAGER=cat"}, nil, "PAGED LESS=FRSX LV=-c"},
		{"PAGER", []string{"PAGER=" + pager}, nil, "PAGED LESS=FRSX LV=-c"},
		{"argument", []string{"PAGER=" + pager + " -S"}, nil, "PAGED LESS=FRSX LV=-c -S"},
		{"shell", []string{"PAGER=LV=own '" + pager + "' 'a b'"}, nil, "PAGED LESS=FRSX LV=own a b"},
		{"LESS is set", []string{"PAGER=" + pager, "LESS="}, nil, "PAGED LESS= LV=-c"},
		{"empty GASM_PAGER", []string{"GASM_PAGER=", "PAGER=" + pager}, nil, ""},
		{"empty PAGER", []string{"PAGER="}, nil, ""},
		{"cat", []string{"PAGER=cat"}, nil, ""},
		{"--no-pager", []string{"PAGER=" + pager}, []string{"--no-pager"}, ""},
		{"json", []string{"PAGER=" + pager}, []string{"--format", "json"}, ""},
		{"file", []string{"PAGER=" + pager}, []string{"--report", os.DevNull}, ""},
		{"dumb", []string{"PAGER=" + pager, "TERM=dumb"}, nil, ""},
		{"missing", []string{"PAGER=/no/such/pager -x"}, nil, ""},
		{"missing for the shell", []string{"PAGER=/no/such/pager 'x'"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			os.Remove(record)
			args := append(append([]string{"report"}, c.flags...), samples, log)
			out, code := startOnTerminal(t, 40, "x", c.env, args).end()
			assert.Equal(t, 0, code)
			if c.want == "" {
				assert.NoFileExists(t, record)
				if c.name != "file" {
					assert.Contains(t, out, "Workload::main")
				}
				return
			}
			assert.Equal(t, c.want, strings.TrimSpace(out))
			text, err := os.ReadFile(record)
			require.NoError(t, err)
			assert.Contains(t, string(text), "Account of Samples")
			assert.Contains(t, string(text), "\x1b[", "in colour")
			assert.Contains(t, string(text), "\n"+strings.Repeat(".", 90)+"\n", "as wide as the terminal")
		})
	}
}

// TestPagerOfDiff checks that gasm diff uses a pager, as gasm report does.
func TestPagerOfDiff(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, "sort")
	other := gasmtest.UnpackFolder(t, "huge")
	pager, record := fakePager(t, keepAll)
	out, code := startOnTerminal(t, 40, "x", []string{"PAGER=" + pager}, []string{"diff", dir, other}).end()
	assert.Equal(t, 0, code)
	assert.Equal(t, "PAGED LESS=FRSX LV=-c", strings.TrimSpace(out))
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.Contains(t, string(text), "Changed Methods")
	assert.Contains(t, string(text), "\x1b[", "in colour")

	os.Remove(record)
	out, code = startOnTerminal(t, 40, "x", []string{"PAGER=" + pager}, []string{"diff", "--no-pager", dir, other}).end()
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "Changed Methods")
	assert.NoFileExists(t, record)
}

// TestNoPagerForPipe checks that gasm uses no pager if it writes to a file or a pipe.
func TestNoPagerForPipe(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	pager, record := fakePager(t, keepAll)
	r := runGasm(t, []string{"report", samples, log}, withEnv("GASM_PAGER="+pager, "TERM=xterm"))
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "Workload::main")
	assert.NotContains(t, r.stdout, "\x1b[")
	assert.NoFileExists(t, record)
}

// TestPagerExitCode checks that the exit code is that of gasm report. It is not an error if the user quits the pager
// early, and errors of the report are not lost.
func TestPagerExitCode(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	text, err := os.ReadFile(samples)
	require.NoError(t, err)
	others := filepath.Join(t.TempDir(), "others.txt")
	require.NoError(t, os.WriteFile(others, []byte(strings.ReplaceAll(string(text), "24997/", "11111/")), 0o644))
	keeper, _ := fakePager(t, keepAll+"; exit 3")

	out, code := startOnTerminal(t, 40, "x", []string{"GASM_PAGER=true"},
		[]string{"report", "--hot-threshold", "0", samples, log}).end()
	assert.Equal(t, 0, code)
	assert.Empty(t, out)

	out, code = startOnTerminal(t, 40, "x", []string{"GASM_PAGER=" + keeper}, []string{"report", samples, log}).end()
	assert.Equal(t, 0, code)
	assert.NotContains(t, out, "gasm:")

	out, code = startOnTerminal(t, 40, "x", []string{"GASM_PAGER=" + keeper}, []string{"report", others, log}).end()
	assert.Equal(t, 1, code)
	assert.Regexp(t, `(?s)PAGED.*gasm: all 2570 samples are of other processes`, out, "behind the report")
}

// untilCtrlC is a pager that ends only after the second Ctrl-C.
const untilCtrlC = `trap '' QUIT
trap 'echo x >>"$record.int"' INT
cat >"$record"
echo WAITING
while [ "$(cat "$record.int" 2>/dev/null)" != "x
x" ]; do sleep 0.1; done
echo DONE`

// TestCtrlCInPager checks that Ctrl-C does not end gasm while a pager is running, because it is meant for the pager.
func TestCtrlCInPager(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	pager, record := fakePager(t, untilCtrlC)
	r := startOnTerminal(t, 40, "WAITING", []string{"GASM_PAGER=" + pager}, []string{"report", samples, log})
	interruptTwice(t, r, record)
	out, code := r.end()
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "DONE")
}

// interruptTwice presses Ctrl-C twice in the pager untilCtrlC. The pager writes a line for each Ctrl-C.
// interruptTwice waits for the first line, because the pager would get only one of two signals that come at the same
// time.
func interruptTwice(t *testing.T, r *terminalRun, record string) {
	t.Helper()
	r.out.wait(t)
	r.keys("\x03")
	require.Eventually(t, func() bool {
		seen, err := os.ReadFile(record + ".int")
		return err == nil && string(seen) == "x\n"
	}, time.Minute, 10*time.Millisecond)
	r.keys("\x1c") // Ctrl-\ must not end gasm, either; the pager's shell ignores it
	r.keys("\x03")
}

// TestLess checks that less shows a long report until the user quits, and that a short report is printed without a
// wait and stays on the screen.
func TestLess(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("no less on PATH")
	}
	samples, log := savedCapture(t, "jdk17-lean-none")
	t.Run("long", func(t *testing.T) {
		r := startOnTerminal(t, 40, "\n:", nil, []string{"report", samples, log})
		r.out.wait(t)
		r.keys("\x03")
		for range 100 { // less may ignore keys while it redraws the screen
			_, _ = r.tty.WriteString("q")
			select {
			case <-r.read:
			case <-time.After(300 * time.Millisecond):
				continue
			}
			break
		}
		out, code := r.end()
		assert.Equal(t, 0, code)
		assert.Contains(t, out, "\x1b[1m", "in colour")
		assert.NotContains(t, out, "Account of Samples", "the second screen")
	})
	t.Run("short", func(t *testing.T) {
		out, code := startOnTerminal(t, 2000, "x", nil, []string{"report", samples, log}).end()
		assert.Equal(t, 0, code)
		assert.Contains(t, out, "Account of Samples")
		assert.NotContains(t, out, "\x1b[?1049h", "no other screen, from which all would be gone")
	})
}

// TestPagerOfProfile checks that the report of gasm profile is shown in a pager after the command's own output. The
// exit code must be the command's, whatever keys are pressed in the pager.
func TestPagerOfProfile(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	pager, record := fakePager(t, untilCtrlC)
	r := startOnTerminal(t, 40, "WAITING", []string{"GASM_PAGER=" + pager},
		[]string{"profile", "--", "java", "-cp", classes, "Exit", "7", "one"})
	interruptTwice(t, r, record)
	out, code := r.end()
	assert.Equal(t, 7, code)
	assert.Regexp(t, `(?s)arg 7.*arg one.*WAITING.*DONE`, out)
	assert.NotContains(t, out, "gasm:       ", "the report")
	assert.NotContains(t, out, "stopped before")
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.Contains(t, string(text), "Account of Samples")
	assert.NotContains(t, string(text), "arg one")
}
