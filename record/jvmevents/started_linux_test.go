package jvmevents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
)

// TestOwnRecording checks a file that a JVM has written directly into the capture. It must be used only if it is a
// recording. This test's process takes the place of the JVM.
func TestOwnRecording(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(path string) error
		want string
		size int64
	}{
		{"whole", func(path string) error { return os.WriteFile(path, []byte("FLR"), 0o644) }, "", 3},
		{"none", func(string) error { return nil }, jvmfolder.ErrNotThere.Error(), 0},
		{"of a killed JVM", func(path string) error { return os.WriteFile(path, nil, 0o644) }, jvmfolder.ErrNotThere.Error(),
			0},
		{"a link", func(path string) error { return os.Symlink("/etc/passwd", path) }, "it is not a regular file", 0},
		{"too large", func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, maxRecording+1))
		}, "and gasm takes", 0},
	} {
		o := newOptions(t, Choice{JFR: []event.Kind{event.Alloc}})
		var err error
		o.Started, err = NewRecordingOption(o.Dir, OldestWithOption, &o.Choice)
		require.NoError(t, err)
		r := &recorder{o: o, pid: os.Getpid(), ownPID: os.Getpid(), byOption: true}
		path := o.Started.file(r.ownPID)
		assert.Equal(t, filepath.Join(o.Dir, capture.RecordingFile(r.pid, 0)), path, "the JVM writes where gasm looks")
		require.NoError(t, c.make(path), c.name)
		size, err := r.takeWhole(path)
		assert.Equal(t, c.size, size, c.name)
		if c.want == "" {
			assert.NoError(t, err, c.name)
			continue
		}
		assert.ErrorContains(t, err, c.want, c.name)
		assert.NoFileExists(t, path, c.name)
	}
}

// TestStartedWithOption checks that a process counts as started with the option if one of its arguments is the
// option.
func TestStartedWithOption(t *testing.T) {
	r := newRecorder(os.Getpid(), os.Getpid(), newOptions(t, Choice{}))
	defer r.close()
	assert.True(t, (&RecordingOption{option: os.Args[0]}).of(r.process))
	assert.False(t, (&RecordingOption{option: os.Args[0] + "x"}).of(r.process))
	assert.False(t, (*RecordingOption)(nil).of(r.process))
	assert.False(t, r.byOption)
}
