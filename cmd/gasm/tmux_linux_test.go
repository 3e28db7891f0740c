package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A tmux is a terminal with a shell in it. Tests drive the shell by pressing keys.
type tmux struct {
	t      *testing.T
	path   string
	socket string
	dir    string // the shell's folder
}

// startTmux starts a terminal of 80 × 24 with an interactive shell. The given variables are added to the shell's
// environment.
func startTmux(t *testing.T, variables ...string) *tmux {
	t.Helper()
	dir, err := os.MkdirTemp("", "gasm-tmux-") // the path of t.TempDir is too long for a socket
	require.NoError(t, err)
	x := &tmux{t: t, path: gasmtest.NeedTool(t, "tmux", "scripts/setup.sh installs it"), socket: filepath.Join(dir, "s"),
		dir: dir}
	cmd := exec.Command(x.path, "-S", x.socket, "-f", "/dev/null", "-u", "new-session", "-d", "-x", "80", "-y", "24", "-c",
		dir, "bash", "--norc", "--noprofile")
	cmd.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8", "PS1=$ ", "TERM=xterm"), variables...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() {
		_ = exec.Command(x.path, "-S", x.socket, "kill-server").Run() // it may have ended
		os.RemoveAll(dir)
	})
	x.await("the shell", func(screen string) bool { return strings.Contains(screen, "$") })
	return x
}

// run runs a command of tmux, and returns what it prints.
func (x *tmux) run(args ...string) string {
	x.t.Helper()
	out, err := exec.Command(x.path, append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	require.NoError(x.t, err, "tmux %s: %s", args, out)
	return string(out)
}

// keys presses keys. Each is a text, or the name of a key in tmux.
func (x *tmux) keys(keys ...string) { x.run(append([]string{"send-keys"}, keys...)...) }

// line types a line.
func (x *tmux) line(text string) {
	x.run("send-keys", "-l", text)
	x.keys("Enter")
}

// screen returns what is on the screen.
func (x *tmux) screen() string { return x.run("capture-pane", "-p") }

// await waits until the function wanted returns true for the screen, and returns the screen.
func (x *tmux) await(what string, wanted func(screen string) bool) string {
	x.t.Helper()
	screen := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if screen = x.screen(); wanted(screen) {
			return screen
		}
	}
	require.FailNow(x.t, "not on the screen within a minute: "+what, "%s", screen)
	return ""
}

// resize changes the size of the terminal.
func (x *tmux) resize(width, height int) {
	x.run("resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// modes returns the terminal's modes, as the shell and tmux report them. tmux says whether the alternate screen is
// shown, whether programs get mouse events, and whether the cursor is visible.
func (x *tmux) modes(name string) string {
	x.t.Helper()
	path := filepath.Join(x.dir, name)
	x.line("stty -a >" + name + ".part; mv " + name + ".part " + name)
	require.Eventually(x.t, func() bool { _, err := os.Stat(path); return err == nil }, time.Minute, 20*time.Millisecond,
		"the shell answers:\n%s", x.screen())
	text, err := os.ReadFile(path)
	require.NoError(x.t, err)
	return string(text) + x.run("display-message", "-p",
		"#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{keypad_flag} #{keypad_cursor_flag}")
}
