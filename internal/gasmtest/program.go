package gasmtest

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Program is a running program that says when it is ready. It is killed at the end of the test.
type Program struct {
	Cmd   *exec.Cmd
	Stdin io.WriteCloser
	Lines *bufio.Scanner // the lines of its output, after the one that begins with READY
}

// StartProgram starts a program, and waits until it prints a line that begins with READY. It returns the rest of that
// line.
func StartProgram(tb testing.TB, name string, args ...string) (p *Program, rest string) {
	tb.Helper()
	p = &Program{Cmd: exec.Command(name, args...)}
	var err error
	p.Stdin, err = p.Cmd.StdinPipe()
	require.NoError(tb, err)
	stdout, err := p.Cmd.StdoutPipe()
	require.NoError(tb, err)
	p.Cmd.Stderr = tb.Output()
	require.NoError(tb, p.Cmd.Start())
	tb.Cleanup(func() {
		p.Stdin.Close()
		_ = p.Cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, stdout)
		_ = p.Cmd.Wait()
	})
	p.Lines = bufio.NewScanner(stdout)
	for p.Lines.Scan() {
		if rest, ready := strings.CutPrefix(p.Lines.Text(), "READY"); ready {
			return p, rest
		}
	}
	require.FailNow(tb, "the program has ended before it was ready")
	return nil, ""
}

// Start starts a program. If the test does not wait for its end, it is killed at the end of the test.
func Start(tb testing.TB, cmd *exec.Cmd) {
	tb.Helper()
	require.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		}
	})
}
