package wallclock

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/wall"
)

// A blocking says where the threads of Blocks.java with a certain name are blocked.
type blocking struct {
	name   string
	state  wall.State
	detail string // a regular expression
	frames string // the same, for the Java frames
}

// checkBlocking records Blocks.java, and compares how long its threads were blocked with what they have measured.
func checkBlocking(t *testing.T, j gasmtest.JDK, all []blocking, args ...string) *recorded {
	t.Helper()
	p := start(t, j, "Blocks", args...)
	var from, to sums
	x := p.record(t, Options{Hertz: 200, Share: 0.5}, func() {
		from = p.ask(t)
		time.Sleep(4 * time.Second)
		to = p.ask(t)
	})
	for _, b := range all {
		shown := false
		shares := x.sharesOf(b.name, from.at, to.at, func(s *wall.Spell) string {
			if s.State == b.state {
				assert.Regexp(t, b.detail, s.Detail, b.name)
				if frames := x.javaFrames(s); frames != "" {
					shown = true
					assert.Regexp(t, b.frames, frames, b.name)
				}
			}
			return s.State.String()
		})
		want := float64(to.nanos[b.name]-from.nanos[b.name]) / float64(to.at-from.at) / float64(x.threadsNamed(b.name))
		is := shares[b.state.String()]
		if b.state == wall.Safepoint {
			is.late -= is.part
		}
		is.check(t, b.name, want)
		assert.True(t, shown, b.name)
	}
	return x
}

// TestFiles records threads that open, read and sync files, that wait for pages of a mapped file, and one that waits
// for the end of a child process.
func TestFiles(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedNoRaceDetector(t)
	for _, j := range gasmtest.NeedEachJDK(t, byDefault) {
		t.Run(j.Name(), func(t *testing.T) {
			dir := slowFiles(t)
			x := checkBlocking(t, j, []blocking{
				{"reading", wall.File, `^read ` + dir + `/read$`, `^java.io.RandomAccessFile::read`},
				{"syncing", wall.File, `^fsync ` + dir + `/sync$`, `^java.io.FileDescriptor::sync`},
				{"opening", wall.File, `^openat`, `^java.io.FileInputStream::open0`},
				{"faulting", wall.PageFault, `^$`, `Blocks\$Faulting::block\n`},
			}, "files", dir, "4")
			all, native := int64(0), int64(0)
			for _, s := range x.spells {
				if !strings.HasPrefix(x.names[s.Thread], "process reaper") || s.State == wall.Unseen {
					continue
				}
				all += s.ToMonoNanos - s.FromMonoNanos
				if s.State == wall.NativeCall {
					native += s.Blocked
					assert.Regexp(t, `^wait(4|id)$`, s.Detail)
					assert.Regexp(t, `^java.lang.ProcessHandleImpl::waitForProcessExit0\n`, x.javaFrames(s))
				}
			}
			assert.Positive(t, native)
			assert.InDelta(t, 1, float64(native)/float64(all), 0.01)
		})
	}
}

// TestSafepoints records a thread that requests collections, and one that waits while the JVM is at safepoints.
func TestSafepoints(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedNoRaceDetector(t)
	for _, j := range gasmtest.NeedEachJDK(t, byDefault) {
		t.Run(j.Name(), func(t *testing.T) {
			checkBlocking(t, j, []blocking{
				{"collecting", wall.GC, `^$`, `^java.lang.Runtime::gc\n`},
				{"polling", wall.Safepoint, `^$`, `Blocks\$Polling::run\n`},
			}, "safepoints")
		})
	}
}
