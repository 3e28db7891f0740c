package record

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// both has a command's two streams watched.
func both() heldOptions {
	return heldOptions{Watch: newOutputWatch(regexp.MustCompile("x"), nil), WatchStderr: true}
}

// Where stderr is watched it has all its bytes, and each stream its own.
func TestWatchedStderr(t *testing.T) {
	out, stderr, code := start(t, both(), "sh", "-c",
		"head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero; test -t 2 && echo terminal >&2; exit 3").finish(t)
	assert.Equal(t, 3, code)
	assert.Equal(t, make([]byte, 300000), stderr)
	assert.Equal(t, make([]byte, 200000), out)
}

// When nobody reads gasm's stderr any more, the command gets the SIGPIPE that it would get
// without gasm.
func TestWatchedStderrClosed(t *testing.T) {
	l := start(t, both(), "sh", "-c", "exec yes >&2")
	l.err.Close()
	require.NoError(t, l.Release())
	l.outEnd.Close()
	assert.Equal(t, 128+13, l.Wait())
}

// Both streams of one terminal, or of one pipe, stay one: the order of the lines is kept.
func TestOneStream(t *testing.T) {
	script := `i=0; while [ $i -lt 2000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; test -t 1 && echo -n t; test -t 2 && echo -n t; stty size <&2 2>/dev/null`
	var want bytes.Buffer
	for i := range 2000 {
		want.WriteString("out " + strconv.Itoa(i) + "\nerr " + strconv.Itoa(i) + "\n")
	}
	opts := both()
	opts.Command = []string{"sh", "-c", script}
	run := func(read io.Reader, write *os.File, all func(io.Reader, *heldCommand) []byte) []byte {
		opts.Stdout, opts.Stderr = write, write
		l, err := hold(opts)
		require.NoError(t, err)
		require.NoError(t, l.Release())
		return all(read, l)
	}
	r, w := pipe(t)
	got := run(r, w, func(read io.Reader, l *heldCommand) []byte {
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

	// A stream that is looked at alone has a terminal of its own.
	opts.Watch = newOutputWatch(regexp.MustCompile("x"), nil)
	opts.Watch.only(FromStderr)
	opts.Command = []string{"sh", "-c", "test -t 2 && stty size <&2 >&2"}
	out, _ = tm.runHeld(t, nil, opts)
	assert.Equal(t, "33 101\n", string(out))

	// A file is no terminal, and gets what is its own.
	file, err := os.Create(filepath.Join(t.TempDir(), "err"))
	require.NoError(t, err)
	defer file.Close()
	opts = both()
	opts.Stdout, opts.Stderr, opts.Command = tm.screen, file, []string{"sh", "-c", "test -t 1 && echo one; test -t 2 || echo two >&2"}
	out, _ = tm.runHeld(t, nil, opts)
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(out))
	assert.Equal(t, "two\n", string(text))
}
