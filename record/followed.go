package record

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/follow"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/sampler"
)

// A followedJVM is a JVM whose machine code gasm copies from the JVM's memory while the JVM runs.
type followedJVM struct {
	attach.Process // as it was when gasm found the JVM

	foreign  bool             // the JVM's user, mounts or root folder differ from gasm's
	follower *follow.Follower // nil before the call of follow and after stop
	result   follow.Result
}

// Reading a JVM's memory can block forever if the memory is mapped from a file system that does not answer. So there
// are time limits.
const (
	followTime = 15 * time.Second // for beginning to follow a JVM
	stopTime   = 30 * time.Second // for processing the last samples of a JVM
)

// follow begins to copy the JVM's code. It writes the code to the JVM's log in dir, which is the capture's folder.
func (j *followedJVM) follow(ctx context.Context, dir string, o follow.Options) (err error) {
	j.foreign = j.OfOther || !foreign.SharesFiles(j.PID)
	now := capture.ReadClock()
	o.Log, o.Command, o.ClassPath = filepath.Join(dir, capture.LogFile(j.PID)), j.Command, j.ClassPath
	o.StartMonoNanos, o.StartWallMillis = j.StartMonoNanos, (now.WallNanos-now.MonoNanos+j.StartMonoNanos)/1e6
	j.follower, err = foreign.Within(ctx, followTime, func() (*follow.Follower, error) { return follow.Start(j.PID, o) })
	return err
}

// sampled passes the address of a sample to the follower, which copies the code at this address. It does so only if the
// address may be in compiled code. It also passes the sample's Caller, so that the follower copies the caller's code as
// well.
func (j *followedJVM) sampled(s *sampler.Sample) {
	if s.Caller != 0 {
		j.follower.Called(s.Caller, s.MonoNanos)
	}
	if s.Module == "" && !s.Kernel() { // in no mapped file and not in the kernel
		j.follower.Sampled(s.PC, s.MonoNanos)
	}
}

// stop ends the copying of the JVM's code and sets result. It does nothing if there is no follower.
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

// describeFollowed returns the description of a JVM after stop. It reports a problem if the JVM's log could not be
// written or read completely.
func (s *session) describeFollowed(j *followedJVM) capture.JVM {
	if j.result.Disk != nil {
		s.problem(fmt.Errorf("writing the code of JVM %d: %w", j.PID, j.result.Disk))
	}
	read, err := readHead(s.path(capture.LogFile(j.PID)))
	if err != nil {
		s.problem(err)
		read = capture.JVM{PID: j.PID, LogFile: capture.LogFile(j.PID)}
	}
	read.Log = nil // only the head was read; the capture opens the whole log later
	read.OfOther = j.foreign
	read.StartMonoNanos, read.SafepointsOnly = j.StartMonoNanos, j.result.SafepointsOnly
	read.DetailedFromMillis = j.result.DetailedFromMillis
	read.Wall = s.walls.file(j.PID)
	read.Main, read.Version = cmp.Or(read.Main, j.Main), cmp.Or(read.Version, j.Version)
	return read
}

// completeVersions adds the build to versions that lack it: "17.0.15" becomes "17.0.15+6-Debian-1deb12u1". If a JVM
// ended before gasm could read its memory, its version comes from the JDK's file "release", which has no build.
// completeVersions then takes the build from the command's other JVMs of the same version, if they all have the same
// build.
func completeVersions(jvms []capture.JVM) {
	whole := map[string]string{} // whole versions, by the version without the build; "" if the builds differ
	for i := range jvms {
		v := jvms[i].Version
		if short, _, ok := strings.Cut(v, "+"); ok {
			if other, seen := whole[short]; seen && other != v {
				v = ""
			}
			whole[short] = v
		}
	}
	for i := range jvms {
		jvms[i].Version = cmp.Or(whole[jvms[i].Version], jvms[i].Version)
	}
}

// sortByStart sorts JVMs by the time of their start.
func sortByStart(jvms []capture.JVM) {
	slices.SortStableFunc(jvms, func(a, b capture.JVM) int {
		return cmp.Compare(a.StartMonoNanos/1e6,
			b.StartMonoNanos/1e6)
	})
}

// fewLate is a threshold for a note about late methods: sampled methods that were gone before gasm could copy them.
// There is a note if there are more than fewLate late methods, and if they are more than a tenth of all sampled
// methods. Fewer do not matter: most late methods were first sampled shortly before the JVM ended, and have next to no
// samples.
const fewLate = 50

// manyAmbiguous is a threshold for a note about ambiguous samples. A sample is ambiguous if the code at its address was
// replaced at about the time of the sample. There is a note if more than one in manyAmbiguous samples is ambiguous.
const manyAmbiguous = 1000

// codeNotes returns notes that say which part of a JVM's code is missing or uncertain.
func (j *followedJVM) codeNotes() (notes []string) {
	r := j.result
	if r.Unread != nil {
		notes =
			append(notes, fmt.Sprintf("the code of JVM %d could not be followed to the end, so its newer methods are not in the report: %v", j.PID, r.Unread))
	}
	if r.NoFrames != nil {
		notes =
			append(notes, fmt.Sprintf("the methods of JVM %d have no lines and no inlined methods: %v (with hsdis, --code print has them)", j.PID, r.NoFrames))
	}
	if r.NotSwitched != nil {
		notes =
			append(notes, fmt.Sprintf("lines and frames of JVM %d with ~ are guesses, because gasm could not switch DebugNonSafepoints on in its memory: %v "+
				"(start it with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints)", j.PID, r.NotSwitched))
	}
	if r.Ambiguous*manyAmbiguous > r.Samples {
		notes =
			append(notes, fmt.Sprintf("%d of the %d samples in code of JVM %d were at addresses whose code was replaced between two looks, some 10 ms apart: they count as the newer code's",
				r.Ambiguous, r.Samples, j.PID))
	}
	all := r.Copied + r.Late + r.Missed
	switch {
	case r.Missed > 0:
		notes =
			append(notes, fmt.Sprintf("the code of %d of the %d sampled methods of JVM %d could not be copied, and is not in the report: %v", r.Missed, all, j.PID, r.Why))
	case r.Late > fewLate && r.Late*10 > all:
		notes =
			append(notes, fmt.Sprintf("the code of %d of the %d sampled methods of JVM %d was gone before it was copied, and is not in the report", r.Late, all, j.PID))
	}
	return notes
}
