package live

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record"
)

// TestIsDue checks that the next recording begins when the present one is long or large, or when there are JVMs that
// should be recorded but are not.
func TestIsDue(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "samples.txt"), make([]byte, 100), 0o600))
	closed := make(chan struct{})
	close(closed)
	present := func(age time.Duration, over chan struct{}) *segment {
		return &segment{began: closed, over: over, startMono: monotonic.Nanos() - int64(age),
			folder: &record.Folder{Path: dir}}
	}
	running := make(chan struct{})
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	all := func(*attach.Process) bool { return true }
	for _, test := range []struct {
		name           string
		present        *segment
		beginAt, tryAt time.Time
		limit          int64
		want           bool
	}{
		{"all is well", present(time.Minute, running), ago(time.Minute), time.Time{}, 0, false},
		{"long", present(2*time.Hour, running), ago(2 * time.Hour), time.Time{}, 0, true},
		{"not large", present(time.Minute, running), ago(time.Minute), time.Time{}, 100, false},
		{"large", present(time.Minute, running), ago(time.Minute), time.Time{}, 99, true},
		{"a JVM was refused a moment ago", present(time.Minute, running), ago(time.Minute), ago(-time.Minute), 0, false},
		{"a JVM was refused long ago", present(time.Minute, running), ago(time.Minute), ago(time.Second), 0, true},
		{"the recording has just ended", present(time.Minute, closed), ago(time.Second), time.Time{}, 0, false},
		{"the recording has ended", present(time.Minute, closed), ago(2 * retryAfter), time.Time{}, 0, true},
		{"there was none", nil, ago(2 * retryAfter), time.Time{}, 0, true},
		{"there was none, and the JVM was refused", nil, ago(2 * retryAfter), ago(-time.Minute), 0, false},
	} {
		j := attach.Process{PID: 7}
		s := &Session{o: Options{Wanted: all, Segment: time.Hour, SegmentBytes: test.limit}, present: test.present,
			beginAt: test.beginAt,
			jvms:    map[int]*watched{7: {Process: j, tryAt: test.tryAt}}}
		assert.Equal(t, test.want, s.isDue([]attach.Process{j}), test.name)
		assert.False(t, s.isDue(nil), "%s, without JVMs", test.name)
	}
}

// TestRefused checks that a JVM that can't be recorded is reported, and that further attempts follow after pauses that
// double up to an hour.
func TestRefused(t *testing.T) {
	var said []string
	s := &Session{jvms: map[int]*watched{7: {}, 8: {}}}
	s.o.Wanted = func(*attach.Process) bool { return true }
	s.o.Unrecorded = func(j *attach.Process) { said = append(said, j.Err().Error()) }
	other := errors.New("other")
	for i := range 12 {
		s.problem(errors.Join(&record.JVMError{JVM: attach.Process{PID: 7}, Err: errors.New("no")}, other))
		s.noteRefused()
		assert.InDelta(t, min(retryAfter<<i, time.Hour).Seconds(), time.Until(s.jvms[7].tryAt).Seconds(), 20)
	}
	assert.True(t, s.jvms[8].tryAt.IsZero())
	assert.Len(t, said, 12)
	assert.Equal(t, "JVM 7 can't be read: no", said[0])
	assert.Equal(t, other, s.Failure())
}
