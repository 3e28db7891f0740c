package command

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// A terminal is a pseudo-terminal. Its slave end, screen, takes the place of gasm's terminal. What is written there
// can be read from the other end, keyboard.
type terminal struct{ keyboard, screen *os.File }

func newTerminal(t *testing.T) terminal {
	t.Helper()
	keyboard, screen, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { keyboard.Close(); screen.Close() })
	if _, err := term.MakeRaw(int(screen.Fd())); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 33, Cols: 101}); err != nil {
		t.Fatal(err)
	}
	return terminal{keyboard, screen}
}

// run runs a command on the terminal, and returns what was written there.
func (tm terminal) run(t *testing.T, during func(*Held), command ...string) (out []byte, code int) {
	t.Helper()
	return tm.runHeld(t, during, Options{Command: command, Stdout: tm.screen, Stderr: os.Stderr})
}

// runHeld is like run, but takes all options.
func (tm terminal) runHeld(t *testing.T, during func(*Held), opts Options) (out []byte, code int) {
	t.Helper()
	l, err := Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	const end = "\x00THE END\x00"
	arrived := make(chan []byte)
	go func() {
		var all []byte
		buf := make([]byte, 1<<12)
		for !bytes.HasSuffix(all, []byte(end)) {
			n, err := tm.keyboard.Read(buf)
			all = append(all, buf[:n]...)
			if err != nil {
				break
			}
		}
		arrived <- bytes.TrimSuffix(all, []byte(end))
	}()
	if during != nil {
		during(l)
	}
	code = l.Wait()
	io.WriteString(tm.screen, end)
	return <-arrived, code
}

func TestTerminal(t *testing.T) {
	tm := newTerminal(t)
	out, code := tm.run(t, nil, "sh", "-c",
		`test -t 1 && echo terminal; stty size <&1; printf 'a\nb\r\n\tc\004\003\177'; exit 3`)
	if want := "terminal\n33 101\na\nb\r\n\tc\x04\x03\x7f"; string(out) != want || code != 3 {
		t.Errorf("got %q, code %d, want %q, code 3", out, code, want)
	}
	// The output is larger than the terminal's buffer. It must arrive completely.
	out, code = tm.run(t, nil, "sh", "-c", "i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); done")
	if n := bytes.Count(out, []byte("\n")); n != 4000 || !bytes.HasSuffix(out, []byte("line 3999\n")) || code != 0 {
		t.Errorf("got %d lines and code %d, want 4000 and 0", n, code)
	}
}

func TestTerminalResize(t *testing.T) {
	tm := newTerminal(t)
	resize := func(l *Held) {
		if err := pty.Setsize(tm.screen, &pty.Winsize{Rows: 20, Cols: 70}); err != nil {
			t.Error(err)
		}
		l.resize()
	}
	out, _ := tm.run(t, resize, "sh", "-c",
		`exec 3<&1; i=0; while [ $i -lt 600 ]; do [ "$(stty size <&3)" = "20 70" ] && echo resized && exit; sleep 0.1; i=$((i+1)); done`)
	if string(out) != "resized\n" {
		t.Errorf("got %q", out)
	}
	l := start(t, Options{}, "true")
	l.resize() // a pipe has no size
	l.finish(t)
	l.resize() // a closed terminal has no size, either
}

// TestTerminalBackgroundChild starts a background process that keeps the terminal open. When the command has ended,
// gasm must not continue to read, because it would mix that process's output with the report.
func TestTerminalBackgroundChild(t *testing.T) {
	tm := newTerminal(t)
	tm.run(t, nil, "true")
	time.Sleep(50 * time.Millisecond) // by then, its goroutines should have ended
	goroutines := runtime.NumGoroutine()
	out, code := tm.run(t, (*Held).resize, "sh", "-c", "sleep 1000 >&1 2>/dev/null & echo $!")
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if code != 0 || err != nil {
		t.Fatalf("got %q, code %d", out, code)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
}
