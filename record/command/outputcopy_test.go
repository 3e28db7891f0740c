package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// both returns options with which both of the command's streams pass through gasm.
func both() Options {
	see := func([]byte, int64) {}
	return Options{SeeStdout: see, SeeStderr: see, OneStream: true}
}

// TestWatchedStderr checks that if stderr passes through gasm, all its bytes arrive, and the two streams are not
// mixed.
func TestWatchedStderr(t *testing.T) {
	out, stderr, code := start(t, both(), "sh", "-c",
		"head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero; test -t 2 && echo terminal >&2; exit 3").finish(t)
	assert.Equal(t, 3, code)
	assert.Equal(t, make([]byte, 300000), stderr)
	assert.Equal(t, make([]byte, 200000), out)
}

// TestWatchedStderrClosed checks that if nobody reads gasm's stderr any more, the command gets the SIGPIPE that it
// would get without gasm.
func TestWatchedStderrClosed(t *testing.T) {
	l := start(t, both(), "sh", "-c", "exec yes >&2")
	l.err.Close()
	require.NoError(t, l.Release())
	l.outEnd.Close()
	assert.Equal(t, 128+13, l.Wait())
}

// TestOneStream checks that if both streams lead to the same terminal or pipe, they remain one stream, and the lines
// keep their order.
func TestOneStream(t *testing.T) {
	script :=
		`i=0; while [ $i -lt 2000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; test -t 1 && echo -n t; test -t 2 && echo -n t; stty size <&2 2>/dev/null`
	var want bytes.Buffer
	for i := range 2000 {
		want.WriteString("out " + strconv.Itoa(i) + "\nerr " + strconv.Itoa(i) + "\n")
	}
	opts := both()
	opts.Command = []string{"sh", "-c", script}
	run := func(read io.Reader, write *os.File, all func(io.Reader, *Held) []byte) []byte {
		opts.Stdout, opts.Stderr = write, write
		l, err := Start(opts)
		require.NoError(t, err)
		require.NoError(t, l.Release())
		return all(read, l)
	}
	r, w := pipe(t)
	got := run(r, w, func(read io.Reader, l *Held) []byte {
		text := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(read)
			text <- all
		}()
		l.Wait()
		w.Close()
		return <-text
	})
	assert.Equal(t, want.String(), string(got))

	tm := newTerminal(t)
	opts.Stdout, opts.Stderr = tm.screen, tm.screen
	out, _ := tm.runHeld(t, nil, opts)
	assert.Equal(t, want.String()+"tt33 101\n", string(out))

	// If gasm looks at stderr separately from stdout, stderr has a terminal of its own.
	opts.OneStream = false
	opts.Command = []string{"sh", "-c", "test -t 2 && stty size <&2 >&2"}
	out, _ = tm.runHeld(t, nil, opts)
	assert.Equal(t, "33 101\n", string(out))

	// A stream that leads to a file is not a terminal, and gets only its own output.
	file, err := os.Create(filepath.Join(t.TempDir(), "err"))
	require.NoError(t, err)
	defer file.Close()
	opts = both()
	opts.Stdout, opts.Stderr, opts.Command = tm.screen, file, []string{"sh", "-c",
		"test -t 1 && echo one; test -t 2 || echo two >&2"}
	out, _ = tm.runHeld(t, nil, opts)
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(out))
	assert.Equal(t, "two\n", string(text))
}

// TestAwaitLineEnd checks that a message waits until the command has ended its line, but not forever.
func TestAwaitLineEnd(t *testing.T) {
	stdin, keyboard := pipe(t)
	l := start(t, Options{Stdin: stdin}, "sh", "-c", "printf 'half '; read -r go; echo a line; read -r go")
	require.NoError(t, l.Release())
	read := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		_, err := io.ReadFull(l.out, got)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	took := func(limit time.Duration) time.Duration {
		began := time.Now()
		l.AwaitLineEnd(limit)
		return time.Since(began)
	}
	read("half ")
	assert.GreaterOrEqual(t, took(100*time.Millisecond), 100*time.Millisecond)
	keyboard.WriteString("go\n")
	read("a line\n")
	assert.Less(t, took(time.Minute), 30*time.Second)
	keyboard.WriteString("go\n")
	assert.Equal(t, 0, l.Wait())
}
