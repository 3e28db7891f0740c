package jvmevents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A Rolling is a recording that the Flight Recorder of a running JVM makes until the Rolling is closed. The JVM keeps
// only the latest part of it. If this gasm process is killed, the next one ends the recording.
type Rolling struct {
	r     *recorder
	leave context.CancelFunc // ends the access to the JVM's files
}

const (
	// rollingSize is the size of the events that a JVM keeps of a Rolling, in bytes: about a million events.
	rollingSize = 32 << 20
	// maxDump limits the size of a dump, in bytes. A dump has what the JVM keeps, and at most one chunk more.
	maxDump = 2 * rollingSize
	// rollingStart, rollingDump and rollingEnd limit how long a JVM may take to answer.
	rollingStart, rollingDump, rollingEnd = 30 * time.Second, 20 * time.Second, 10 * time.Second
)

// A DumpReader reads a file with chunks of a recording.
type DumpReader func(f io.ReaderAt, size int64) error

// StartRolling makes a JVM record events of the given kinds. The parameter keep is a length of time: the JVM keeps at
// least the events of that length up to now, unless they take more space than rollingSize. StartRolling waits until the
// recording has begun. The caller must call Close.
func StartRolling(ctx context.Context, pid int, kinds []event.Kind, keep time.Duration) (*Rolling, error) {
	found := newFoundJVM(pid)
	if found.process != nil {
		found.process.Close()
	}
	o := &Options{Choice: Choice{JFR: kinds, Asked: true}, Patience: patience.New(nil)}
	reach, leave := context.WithCancel(context.WithoutCancel(ctx))
	x := &Rolling{newRecorder(pid, found.ownPID, o), leave}
	x.r.kept = jcmd.Kept{Age: keep, Bytes: rollingSize}
	begin, cancel := context.WithTimeoutCause(ctx, rollingStart, fmt.Errorf("it did not answer within %s", rollingStart))
	defer cancel()
	x.r.start(begin, reach)
	if x.r.recordingMono != 0 {
		return x, nil
	}
	return nil, errors.Join(x.r.whyNot(), x.Close(ctx, nil))
}

// whyNot returns the reason why a JVM does not record, for a message that names the JVM.
func (r *recorder) whyNot() error {
	if r.why == "" {
		return errors.New("it ended, or gasm was stopped, before it could be told to record")
	}
	return errors.New(r.why)
}

// Dump makes the JVM write everything that it still keeps of the recording to a file, and calls read with this file.
// Most of it may have been in the previous dump as well. A dump ends with a whole chunk. The content of the file is not
// to be trusted. The file is removed when read has returned.
func (x *Rolling) Dump(ctx context.Context, read DumpReader) error {
	ctx, cancel := context.WithTimeoutCause(ctx, rollingDump, fmt.Errorf("it did not answer within %s", rollingDump))
	defer cancel()
	folder := x.r.folder
	defer folder.RemoveFile(jvmfolder.DumpFile)
	err := jcmd.DumpRecording(ctx, x.r.process, folder.Name, path.Join(folder.Path, jvmfolder.DumpFile))
	if err != nil {
		return err
	}
	return x.read(jvmfolder.DumpFile, read)
}

func (x *Rolling) read(name string, read DumpReader) error {
	f, err := x.r.folder.Open(name)
	if err != nil {
		return fmt.Errorf("opening the recording of JVM %d: %w", x.r.pid, err)
	}
	defer f.Close()
	size := f.Info().Size
	switch {
	case size == 0: // Flight Recorder creates the file for the JVM's end when the recording begins
		return jvmfolder.ErrNotThere
	case size > maxDump:
		return fmt.Errorf("the recording of JVM %d has %d bytes, and gasm reads %d", x.r.pid, size, maxDump)
	}
	return read(f, size)
}

// Close ends the recording, and calls read with a file of it, as Dump does. It does so even if ctx is done. If the JVM
// has ended, it has written this file by itself. If the JVM was killed, there is no file, and Close returns no error
// for that. The parameter read may be nil.
func (x *Rolling) Close(ctx context.Context, read DumpReader) (err error) {
	defer x.leave()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), rollingEnd,
		fmt.Errorf("it did not within %s", rollingEnd))
	defer cancel()
	x.r.endBegun(ctx)
	// A JVM that is about to end has stopped its recordings already, and refuses the command.
	if len(x.r.problems) > 0 && x.Await(ctx.Done()) {
		x.r.problems = nil
	}
	if read != nil && x.r.records {
		err = x.read(jvmfolder.RecordingFile, read)
		if errors.Is(err, jvmfolder.ErrNotThere) && (x.HasEnded() || x.r.problems != nil) {
			err = nil
		}
	}
	err = errors.Join(append(x.r.problems, err)...)
	x.r.discard()
	return err
}

// HasEnded reports whether the JVM has ended.
func (x *Rolling) HasEnded() bool { return processend.HasEnded(x.r.pid, x.r.ticks) }

// Await waits until the JVM has ended, and then returns true. If stop is closed first, it returns false.
func (x *Rolling) Await(stop <-chan struct{}) bool { return processend.Await(x.r.pid, x.r.ticks, stop) }
