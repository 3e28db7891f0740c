package record

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/follow"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/sampler"
)

// A followedJVM is a JVM whose code is read from its memory while it runs.
type followedJVM struct {
	attach.Process // as it was when it was found

	foreign  bool             // it belongs to another user than gasm's, or sees other files
	follower *follow.Follower // nil before follow and after stop
	result   follow.Result
}

// Reading a JVM's memory can wait for ever where the memory is mapped from a file system that does not answer.
const (
	followTime = 15 * time.Second // how long it may take to begin to follow a JVM
	stopTime   = 30 * time.Second // how long it may take to look at the last samples of a JVM
)

// follow begins to follow the JVM. The JVM's log is in dir, the capture's folder.
func (j *followedJVM) follow(ctx context.Context, dir string, o follow.Options) (err error) {
	j.foreign = j.OfOther || !foreign.SharesFiles(j.PID)
	now := capture.ReadClock()
	o.Log, o.Command, o.ClassPath = filepath.Join(dir, capture.LogFile(j.PID)), j.Command, j.ClassPath
	o.StartMonoNanos, o.StartWallMillis = j.StartMonoNanos, (now.WallNanos-now.MonoNanos+j.StartMonoNanos)/1e6
	j.follower, err = foreign.Within(ctx, followTime, func() (*follow.Follower, error) { return follow.Start(j.PID, o) })
	return err
}

// sampled passes a sample of the JVM on to its follower, if it may be in compiled code.
func (j *followedJVM) sampled(s *sampler.Sample) {
	if s.Module == "" && !s.Kernel() { // it may be in compiled code
		j.follower.Sampled(s.PC, s.MonoNanos)
	}
}

// stop ends the following. It does nothing when the JVM is not followed.
func (j *followedJVM) stop(ctx context.Context) {
	if j.follower == nil {
		return
	}
	follower := j.follower
	result, err := foreign.Within(ctx, stopTime, func() (follow.Result, error) { return follower.Stop(), nil })
	if err != nil {
		result.Unread = fmt.Errorf("its memory was not read to the end: %w", err)
	}
	j.result, j.follower = result, nil
}

// describeFollowed returns the description of a JVM that is not followed any more. What its log lacks is a problem.
func (s *session) describeFollowed(j *followedJVM) capture.JVM {
	if j.result.Disk != nil {
		s.problem(fmt.Errorf("writing the code of JVM %d: %w", j.PID, j.result.Disk))
	}
	read, err := readHead(s.path(capture.LogFile(j.PID)))
	if err != nil {
		s.problem(err)
		read = capture.JVM{PID: j.PID, LogFile: capture.LogFile(j.PID)}
	}
	read.Log = nil // the capture opens all of it
	read.OfOther = j.foreign
	read.StartMonoNanos, read.SafepointsOnly = j.StartMonoNanos, j.result.SafepointsOnly
	read.Main, read.Version = cmp.Or(read.Main, j.Main), cmp.Or(read.Version, j.Version)
	return read
}

// sortByStart sorts JVMs by the time of their start.
func sortByStart(jvms []capture.JVM) {
	slices.SortStableFunc(jvms, func(a, b capture.JVM) int { return cmp.Compare(a.StartMonoNanos/1e6, b.StartMonoNanos/1e6) })
}

// fewLate is how many methods may be gone before they are copied, in any JVM, without a note. Most of them were first
// sampled shortly before the JVM ended, and they have next to no samples.
const fewLate = 50

// manyAmbiguous says when ambiguous samples are noted: if they are more than one in manyAmbiguous
// samples.
const manyAmbiguous = 1000

// codeNotes returns notes that say which part of a JVM's code could not be had.
func (j *followedJVM) codeNotes() (notes []string) {
	r := j.result
	if r.Unread != nil {
		notes = append(notes, fmt.Sprintf("the code of JVM %d could not be followed to the end, so its newer methods are not in the report: %v", j.PID, r.Unread))
	}
	if r.NoFrames != nil {
		notes = append(notes, fmt.Sprintf("the methods of JVM %d have no lines and no inlined methods: %v (with hsdis, --code print has them)", j.PID, r.NoFrames))
	}
	if r.Ambiguous*manyAmbiguous > r.Samples {
		notes = append(notes, fmt.Sprintf("%d of the %d samples in code of JVM %d were at addresses whose code was replaced between two looks, some 10 ms apart: they count as the newer code's",
			r.Ambiguous, r.Samples, j.PID))
	}
	all := r.Copied + r.Late + r.Missed
	switch {
	case r.Missed > 0:
		notes = append(notes, fmt.Sprintf("the code of %d of the %d sampled methods of JVM %d could not be copied, and is not in the report: %v", r.Missed, all, j.PID, r.Why))
	case r.Late > fewLate && r.Late*10 > all:
		notes = append(notes, fmt.Sprintf("the code of %d of the %d sampled methods of JVM %d was gone before it was copied, and is not in the report", r.Late, all, j.PID))
	}
	return notes
}
