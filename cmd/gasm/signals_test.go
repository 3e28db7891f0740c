package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/cmd/gasm/halfwritten"
	"github.com/gasm-profiler/gasm/record"
)

// endedRecording is a recording whose command has ended.
type endedRecording struct{}

func (endedRecording) Signal(syscall.Signal) bool { return false }

// TestStoppedReport stops gasm while it writes the report. No file may be left half written, and gasm must end like a
// command that returns an error.
func TestStoppedReport(t *testing.T) {
	check := func(wantCode int, wantSaid string, reported bool, signals ...os.Signal) {
		t.Helper()
		dir := t.TempDir()
		folder, err := record.NewFolder(t.Context(), filepath.Join(dir, "capture"))
		require.NoError(t, err)
		stderr, err := os.Create(filepath.Join(dir, "stderr"))
		require.NoError(t, err)
		defer stderr.Close()

		w := &signalWatch{ch: make(chan os.Signal, 8), stopped: make(chan syscall.Signal, 1)}
		files := new(halfwritten.Files)
		hold := make(chan struct{})
		whole, half := filepath.Join(dir, "whole"), filepath.Join(dir, "half")
		ended, over := make(chan error, 1), make(chan bool, 1)
		err = w.during(endedRecording{}, streams{err: stderr}, folder, files, func() error {
			text := func(w io.Writer) error { _, err := io.WriteString(w, "half of it"); return err }
			err := errors.Join(files.Write(whole, text), files.Write(half, func(out io.Writer) error {
				if err := text(out); err != nil {
					return err
				}
				stop := func() {
					for _, sig := range signals {
						w.ch <- sig
					}
				}
				if !reported {
					stop()
				} else {
					w.finish(func() {
						stop()
						assert.Never(t, func() bool { return len(over) > 0 }, 50*time.Millisecond, time.Millisecond)
						assert.NoError(t, folder.Remove())
					})
				}
				<-hold
				w.finish(func() { assert.True(t, reported, "the capture is kept") })
				return nil
			}))
			ended <- errors.Join(err, files.Write(filepath.Join(dir, "late"), text))
			return err
		})
		over <- true
		var exit *exitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, &exitError{code: wantCode}, exit)
		close(w.ch)
		close(hold)
		require.ErrorIs(t, <-ended, halfwritten.ErrAbandoned)
		assert.FileExists(t, whole)
		assert.NoFileExists(t, half)
		assert.NoFileExists(t, filepath.Join(dir, "late"))
		_, err = os.Stat(folder.Path)
		assert.Equal(t, reported, errors.Is(err, fs.ErrNotExist), "the capture: %v", err)
		said, err := os.ReadFile(stderr.Name())
		require.NoError(t, err)
		if wantSaid != "" {
			wantSaid += fmt.Sprintln(folder.Path)
		}
		assert.Equal(t, wantSaid, string(said))
	}
	const kept = "gasm: stopped before the report was done; the capture is kept in "
	check(143, kept, false, syscall.SIGTERM)
	check(129, kept, false, syscall.SIGWINCH, syscall.SIGHUP)
	check(130, kept, false, syscall.SIGINT, syscall.SIGINT)
	check(143, kept, false, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // the signal that stops gasm
	check(143, "", true, syscall.SIGTERM)
}

// TestFinishedReport checks that during returns the error of its function if no signal stops gasm.
func TestFinishedReport(t *testing.T) {
	w := &signalWatch{ch: make(chan os.Signal, 8), stopped: make(chan syscall.Signal, 1)}
	w.ch <- syscall.SIGINT // the first Ctrl-C is for the command
	assert.Equal(t, io.EOF, w.during(endedRecording{}, streams{}, nil, nil, func() error { return io.EOF }))
	close(w.ch)
}
