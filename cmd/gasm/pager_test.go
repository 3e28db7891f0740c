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

// The other tests are of what gasm writes, whatever pager the developer has:
// nobody would be there to quit it.
func init() { os.Setenv("GASM_PAGER", "cat") }

// A terminalRun is gasm at work on a terminal of its own.
type terminalRun struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	out  *lineWaiter // all that the terminal was sent
	read chan struct{}
}

// startOnTerminal starts gasm on a terminal. Of the pager's variables it has only
// those in env. out waits for a word.
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

// end waits for gasm's end. It gives all that was on the terminal.
func (r *terminalRun) end() (out string, code int) {
	r.t.Helper()
	code = exitCode(r.t, r.cmd)
	<-r.read
	return r.out.String(), code
}

// fakePager makes a pager that keeps what it is given in a file.
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
		want  string // what the terminal has but for the report; "" for no pager
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

// A comparison is paged as a report is.
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

// Files and pipes get the report itself.
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

// The exit code is the report's: quitting early is no error, and none is lost.
func TestPagerExitCode(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	text, err := os.ReadFile(samples)
	require.NoError(t, err)
	others := filepath.Join(t.TempDir(), "others.txt")
	require.NoError(t, os.WriteFile(others, []byte(strings.ReplaceAll(string(text), "24997/", "11111/")), 0o644))
	keeper, _ := fakePager(t, keepAll+"; exit 3")

	out, code := startOnTerminal(t, 40, "x", []string{"GASM_PAGER=true"}, []string{"report", "--hot-threshold", "0", samples, log}).end()
	assert.Equal(t, 0, code)
	assert.Empty(t, out)

	out, code = startOnTerminal(t, 40, "x", []string{"GASM_PAGER=" + keeper}, []string{"report", samples, log}).end()
	assert.Equal(t, 0, code)
	assert.NotContains(t, out, "gasm:")

	out, code = startOnTerminal(t, 40, "x", []string{"GASM_PAGER=" + keeper}, []string{"report", others, log}).end()
	assert.Equal(t, 1, code)
	assert.Regexp(t, `(?s)PAGED.*gasm: all 2570 samples are of other processes`, out, "behind the report")
}

// untilCtrlC is a pager that Ctrl-C alone ends, the second one.
const untilCtrlC = `trap '' QUIT
trap 'echo x >>"$record.int"' INT
cat >"$record"
echo WAITING
while [ "$(cat "$record.int" 2>/dev/null)" != "x
x" ]; do sleep 0.1; done
echo DONE`

// Ctrl-C is for the pager.
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

// interruptTwice types at the pager untilCtrlC, which writes down each Ctrl-C: of two at once it would see one.
func interruptTwice(t *testing.T, r *terminalRun, record string) {
	t.Helper()
	r.out.wait(t)
	r.keys("\x03")
	require.Eventually(t, func() bool {
		seen, err := os.ReadFile(record + ".int")
		return err == nil && string(seen) == "x\n"
	}, time.Minute, 10*time.Millisecond)
	r.keys("\x1c") // Ctrl-\ must not hurt gasm either; the pager's shell ignores it below
	r.keys("\x03")
}

// less shows a long report until it is quit, and a short one stays on the
// screen without.
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
		for range 100 { // less may drop what is typed while it draws the screen anew
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

// A profile's report is paged behind the command's own output, and the exit
// code stays the command's, whatever keys the pager got.
func TestPagerOfProfile(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	pager, record := fakePager(t, untilCtrlC)
	r := startOnTerminal(t, 40, "WAITING", []string{"GASM_PAGER=" + pager}, []string{"profile", "--", "java", "-cp", classes, "Exit", "7", "one"})
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
