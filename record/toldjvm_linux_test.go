package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// What a JVM was prepared for is gone when there is no capture, with the note; what it may go on with is told of.
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
		told := newToldJVM(os.Getpid(), os.Getpid(), &EventChoice{}, newPatience())
		require.NoError(t, told.prepare(t.Context()), c.name)
		t.Cleanup(func() { os.RemoveAll(told.folder.path); told.note.forget() })
		require.DirExists(t, told.folder.path)
		if c.ended {
			told.ticks++ // another process has its id now
		}
		close(told.begun)
		told.end(t.Context())
		if c.problem != nil {
			told.problems = append(told.problems, c.problem)
		}
		l := liveEvents{told: []*toldJVM{told}}
		l.discard()
		if c.problem != nil {
			assert.DirExists(t, told.folder.path, c.name)
			assert.DirExists(t, told.note.dir, c.name)
			continue
		}
		assert.NoDirExists(t, told.folder.path, c.name)
		assert.NoDirExists(t, told.note.dir, c.name)
	}
}

// Where the note can be made and the folder can't, the note goes.
func TestPrepareFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	late := newPatience()
	var stop context.CancelFunc
	late.reach, stop = context.WithCancel(t.Context())
	stop()
	told := newToldJVM(os.Getpid(), os.Getpid(), &EventChoice{}, late)
	require.ErrorContains(t, told.prepare(t.Context()), "its /tmp can't be used")
	require.NotNil(t, told.note)
	assert.NoDirExists(t, told.note.dir)
	told.close()
}

// Only what a JVM has got and not refused may be on.
func TestMayDo(t *testing.T) {
	told := func(err error) error { return fmt.Errorf("wrapped: %w", err) }
	for _, c := range []struct {
		err          error
		mayDo, heard bool
	}{
		{nil, true, true},
		{told(&jcmd.FailedError{PID: 12}), false, true},
		{told(&jcmd.NotToldError{PID: 12, Err: context.Canceled}), false, false},
		{told(context.DeadlineExceeded), true, false},
	} {
		assert.Equal(t, c.mayDo, mayDo(c.err), c.err)
		assert.Equal(t, c.heard, answered(c.err), c.err)
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
			": it can't be told anything: it was started with -XX:+X: start it without"},
		{" from the log", &jcmd.FailedError{PID: pid, Command: "VM.log a b", Reply: "no\n"}, false,
			fmt.Sprintf(" from the log: the JVM with pid %d did not do VM.log: no", pid)},
		{fromRecording, jcmd.ErrEnded, true, " from a recording: it ended before that had begun"},
		{fromRecording, &jcmd.NotToldError{PID: pid, Err: context.Canceled}, false,
			" from a recording: gasm was stopped, or the JVM ended, before that had begun"},
	} {
		told := newToldJVM(pid, pid, &EventChoice{}, newPatience())
		if c.ended {
			told.ticks++
		}
		told.refused(c.from, c.err)
		assert.Equal(t, []string{fmt.Sprintf("no events of JVM %d%s", pid, c.want)}, told.notes)
	}
}

// A JVM that takes no commands costs one note, and nothing of gasm's is left beside it.
func TestEventsNotTold(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 17, gasmtest.Testdata("programs", "Spin.java"))
	cmd := exec.Command(gasmtest.NeedJava(t), "-XX:+DisableAttachMechanism", "-Dsec=60", "-cp", dir, "Spin")
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // which says that it was killed
	}()
	var choice EventChoice
	choice.Log, choice.JFR = []event.Kind{event.GC}, []event.Kind{event.Alloc}
	told := newToldJVM(cmd.Process.Pid, cmd.Process.Pid, &choice, newPatience())
	told.start(t.Context())
	told.end(t.Context())
	assert.Empty(t, told.problems)
	assert.Equal(t, []string{fmt.Sprintf("no events of JVM %d: it can't be told anything: it was started with -XX:+DisableAttachMechanism: start it without this flag", cmd.Process.Pid)},
		told.notes)
	told.discard()
	assert.NoDirExists(t, told.folder.path)
	assert.NoDirExists(t, told.note.dir)
}

func TestSayWaiting(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}()
	pid := cmd.Process.Pid
	want := fmt.Sprintf("waiting for JVM %d to begin", pid)
	assert.Equal(t, want, waitingText(pid, "begin"))
	gasmtest.Stop(t, pid)
	want += fmt.Sprintf("; it is stopped: `kill -CONT %d` has it go on", pid)
	assert.Equal(t, want, waitingText(pid, "begin"))

	said := make(chan string, 1)
	s := session{waits: func(text string) { said <- text }}
	s.sayWaiting(pid, "begin")() // at once: nothing is said
	require.Empty(t, said)
	done := s.sayWaiting(pid, "begin")
	select {
	case text := <-said:
		assert.Equal(t, want, text)
	case <-time.After(time.Minute):
		t.Error("nothing is said")
	}
	done()
	(&session{}).sayWaiting(pid, "begin")()
}

// gasm attach has no --sampler.
func TestUnknownEventOfAttach(t *testing.T) {
	_, _, err := attachNative(collect.Options{Events: []sampler.Event{sampler.ParseEvent("nosuchevent")}, Frequency: 99, PID: os.Getpid(), Dir: t.TempDir()}, "")
	require.ErrorContains(t, err, "there is no event nosuchevent; gasm attach can't use perf, which knows more names: gasm profile --sampler perf can")
	assert.Equal(t, 1, strings.Count(err.Error(), "--sampler"))
}

// The chunks of a JVM that was killed have a limit for all of them: what is beyond is not taken, and said.
func TestChunksLimit(t *testing.T) {
	self, w, err := enter(t.Context(), os.Getpid())
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
	r := openJVMRepository(w, dir, false)
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
