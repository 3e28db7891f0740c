package jvmevents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
	"github.com/gasm-profiler/gasm/record/patience"
)

// newOptions returns options for a recorder.
func newOptions(t *testing.T, choice Choice) *Options {
	return &Options{Choice: choice, Dir: t.TempDir(), Patience: patience.New(nil),
		Problem: func(err error) { t.Error(err) }}
}

// TestDiscard checks that the folder and the note are removed if no capture is made, unless the JVM may still write
// to the folder.
func TestDiscard(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct {
		name    string
		ended   bool
		problem error
	}{
		{"the JVM was told nothing", false, nil},
		{"the JVM has ended", true, nil},
		{"the JVM goes on", false, errors.New("it did not answer")},
	} {
		r := newRecorder(os.Getpid(), os.Getpid(), newOptions(t, Choice{}))
		require.NoError(t, r.prepare(t.Context(), t.Context()), c.name)
		t.Cleanup(func() { os.RemoveAll(filepath.Dir(r.folder.Path)); r.note.Forget() })
		require.DirExists(t, r.folder.Path)
		if c.ended {
			r.ticks++ // now the id seems to belong to another process
		}
		close(r.begun)
		r.end(t.Context())
		if c.problem != nil {
			r.problems = append(r.problems, c.problem)
		}
		e := Events{recorders: []*recorder{r}}
		e.Discard()
		if c.problem != nil {
			assert.DirExists(t, r.folder.Path, c.name)
			assert.DirExists(t, r.note.Dir, c.name)
			continue
		}
		assert.NoDirExists(t, filepath.Dir(r.folder.Path), c.name)
		assert.NoDirExists(t, r.note.Dir, c.name)
	}
}

// TestPrepareFails stops gasm after it has made the note. A part of the folder may exist then. So the note must stay,
// and the next gasm must remove both without a message.
func TestPrepareFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	reach, stop := context.WithCancel(t.Context())
	stop()
	r := newRecorder(os.Getpid(), os.Getpid(), newOptions(t, Choice{}))
	require.ErrorContains(t, r.prepare(t.Context(), reach), "its /tmp can't be used")
	require.NotNil(t, r.note)
	r.close()
	ended, left := jvmfolder.EndLeft(t.Context())
	assert.NotContains(t, strings.Join(slices.Concat(ended, left), "\n"), r.note.Path)
	assert.NoDirExists(t, r.note.Dir)
}

// TestMayDo checks that only events that a JVM was told to record, and has not refused to record, may be on.
func TestMayDo(t *testing.T) {
	wrapped := func(err error) error { return fmt.Errorf("wrapped: %w", err) }
	for _, c := range []struct {
		err          error
		mayDo, heard bool
	}{
		{nil, true, true},
		{wrapped(&jcmd.FailedError{PID: 12}), false, true},
		{wrapped(&jcmd.NotToldError{PID: 12, Err: context.Canceled}), false, false},
		{wrapped(context.DeadlineExceeded), true, false},
	} {
		assert.Equal(t, c.mayDo, mayDo(c.err), c.err)
		assert.Equal(t, c.heard, jvmfolder.Answered(c.err), c.err)
	}
}

func TestEventsRefused(t *testing.T) {
	pid := os.Getpid()
	for _, c := range []struct {
		from  string
		err   error
		ended bool
		want  string
	}{
		{"", &jcmd.NotToldError{PID: pid, Err: errors.New("it was started with -XX:+X: start it without")}, false,
			": it takes no commands: it was started with -XX:+X: start it without"},
		{" from the log", &jcmd.FailedError{PID: pid, Command: "VM.log a b", Reply: "no\n"}, false,
			fmt.Sprintf(" from the log: the JVM with pid %d did not do VM.log: no", pid)},
		{fromRecording, jcmd.ErrEnded, true, " from a recording: it ended before that had begun"},
		{fromRecording, &jcmd.NotToldError{PID: pid, Err: context.Canceled}, false,
			" from a recording: gasm was stopped, or the JVM ended, before that had begun"},
	} {
		r := newRecorder(pid, pid, newOptions(t, Choice{}))
		if c.ended {
			r.ticks++
		}
		r.refused(c.from, c.err)
		assert.Equal(t, []string{fmt.Sprintf("no events of JVM %d%s", pid, c.want)}, r.notes)
	}
}

// TestShortJVMRefused checks that a JVM that runs for a short time leads to no note if the command's other JVMs log
// from their start, unless the user has asked for events.
func TestShortJVMRefused(t *testing.T) {
	for _, asked := range []bool{false, true} {
		o := newOptions(t, Choice{Log: DefaultKinds, Asked: asked})
		o.LogPattern = "/none/ev-%p.log"
		r := newRecorder(os.Getpid(), os.Getpid(), o)
		r.ticks++ // now the id seems to belong to another process
		r.refused(" from the log", jcmd.ErrEnded)
		assert.Equal(t, !asked, r.early)
		assert.Equal(t, asked, len(r.notes) == 1, r.notes)
		r.close()
	}
}

// TestEventsNotTold checks that a JVM that accepts no commands leads to one note, and that no file of gasm's is left.
func TestEventsNotTold(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 17, gasmtest.Testdata("programs", "Spin.java"))
	cmd := exec.Command(gasmtest.NeedJava(t), "-XX:+DisableAttachMechanism", "-Dsec=60", "-cp", dir, "Spin")
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // the error says that it was killed
	}()
	var choice Choice
	choice.Log, choice.JFR = []event.Kind{event.GC}, []event.Kind{event.Alloc}
	r := newRecorder(cmd.Process.Pid, cmd.Process.Pid, newOptions(t, choice))
	r.start(t.Context(), t.Context())
	r.end(t.Context())
	assert.Empty(t, r.problems)
	assert.Equal(t, []string{fmt.Sprintf("no events of JVM %d: it takes no commands: it was started with -XX:+DisableAttachMechanism: start it without this flag", cmd.Process.Pid)},
		r.notes)
	r.discard()
	assert.NoDirExists(t, filepath.Dir(r.folder.Path))
	assert.NoDirExists(t, r.note.Dir)
}

// TestLogNotThere checks that it is a problem if the JVM has not written its log, unless the JVM ended before it
// answered.
func TestLogNotThere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, unanswered := range []bool{false, true} {
		var problems []error
		o := newOptions(t, Choice{Log: DefaultKinds})
		o.Problem = func(err error) { problems = append(problems, err) }
		r := newRecorder(os.Getpid(), os.Getpid(), o)
		require.NoError(t, r.prepare(t.Context(), t.Context()))
		t.Cleanup(func() { os.RemoveAll(filepath.Dir(r.folder.Path)); r.note.Forget() })
		r.logs, r.unanswered = true, unanswered
		var j capture.JVM
		assert.Empty(t, r.take(&j, 0))
		assert.Empty(t, j.EventLog)
		assert.Equal(t, unanswered, len(problems) == 0, problems)
	}
}

// TestChunksLimit checks that the chunks of a killed JVM have a common limit. Chunks beyond it must not be taken, and
// an error must say so.
func TestChunksLimit(t *testing.T) {
	self, w, err := jvmfolder.Enter(t.Context(), os.Getpid())
	require.NoError(t, err)
	defer self.Close()
	defer w.Close()
	dir := filepath.Join(t.TempDir(), "2026_11_24_05_00_00_4711")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for second, size := range []int64{600 << 20, 500 << 20, 400 << 20, 0} {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("2026_11_24_05_00_0%d.jfr", second)))
		require.NoError(t, err)
		require.NoError(t, errors.Join(f.Truncate(size), f.Close()))
	}
	r := openRepository(w, dir, false)
	require.NotNil(t, r)
	defer r.close()
	to := t.TempDir()
	taken, err := r.takeChunks(func(number int) string { return filepath.Join(to, strconv.Itoa(number)) })
	assert.Equal(t, 2, taken)
	require.EqualError(t, err, dir+"/2026_11_24_05_00_01.jfr has 524288000 bytes, more than the 444596224 that such a file may have")
	for number, size := range []int64{600 << 20, 400 << 20} {
		info, err := os.Stat(filepath.Join(to, strconv.Itoa(number)))
		require.NoError(t, err)
		assert.Equal(t, size, info.Size())
	}
}
