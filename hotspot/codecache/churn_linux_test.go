package codecache

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

func monoNanos() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// TestChurn polls a JVM whose code cache is too small, so that methods are replaced all the
// time, and compares what was seen with LogCompilation's tags.
func TestChurn(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 17, gasmtest.Testdata("programs", "Churn.java"), gasmtest.Testdata("programs", "MemoryFile.java"),
		gasmtest.Testdata("programs", "MemoryFiles.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(jdk.Name(), func(t *testing.T) { testChurn(t, jdk, dir) })
	}
}

func testChurn(t *testing.T, jdk gasmtest.JDK, dir string) {
	j := start(t, jdk, 1, "-XX:ReservedCodeCacheSize=4m", "-cp", dir, "Churn")
	c := j.open(t)
	seen := map[[2]uint64]*Blob{}
	began, polls, busy, longest := time.Now(), 0, time.Duration(0), time.Duration(0)
	first := 0
	for time.Since(began) < 4*time.Second {
		at := time.Now()
		changes, err := c.Poll(monoNanos())
		require.NoError(t, err)
		took := time.Since(at)
		busy, longest = busy+took, max(longest, took)
		for _, b := range changes.Added {
			if b.Method != nil {
				seen[[2]uint64{b.Method.Address, uint64(b.Method.ID)}] = b
			}
		}
		if polls++; polls == 1 {
			first = len(j.tags())
		}
		c.check(t)
		time.Sleep(10*time.Millisecond - took)
	}
	j.stop(t)
	_, err := c.Poll(monoNanos())
	require.NoError(t, err)
	tags := j.tags()
	require.Greater(t, len(tags), first)
	missed := 0
	for _, tag := range tags[first:] {
		b := seen[[2]uint64{tag.Address, uint64(tag.ID)}]
		if b == nil {
			missed++
			continue
		}
		assert.Equal(t, tag.Name, b.Name)
	}
	t.Logf("%d of %d methods were not seen; %d polls took %v, %v at most; %d are there, %d are gone",
		missed, len(tags)-first, polls, busy, longest, len(c.Blobs()), len(c.history.order))
}

// check checks that what is known does not contradict itself.
func (c *Cache) check(t *testing.T) {
	t.Helper()
	end := uint64(0)
	for _, b := range c.Blobs() {
		require.Less(t, b.Lo, b.Hi, "%+v", b)
		require.LessOrEqual(t, end, b.Lo, "blobs overlap: %+v", b)
		require.False(t, b.Gone())
		end = b.Hi
	}
}

// TestText reads back what AppendTo writes of all blobs of a JVM.
func TestText(t *testing.T) {
	dir := classPath(t)
	eachJDK(t, func(t *testing.T, jdk gasmtest.JDK) {
		j := start(t, jdk, 250, "-cp", dir, "Busy")
		j.stop(t)
		c := j.open(t)
		_, err := c.Poll(1)
		require.NoError(t, err)
		text := []byte("<hotspot_log version='160 1' process='7' time_ms='1000'>\n")
		for i, b := range c.Blobs() {
			line := b.AppendTo(nil, int64(i))
			text = append(text, line...)
			if b.Method == nil {
				continue
			}
			got, ok := printassembly.ParseInstalled(line)
			require.True(t, ok, "%s", line)
			want := *b.Method
			want.UptimeMillis = int64(i)
			require.Equal(t, want, got, "%s", line)
		}
		log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), "text")
		require.NoError(t, err)
		assert.Zero(t, log.Damaged)
		require.Len(t, log.Blobs, len(c.Blobs()))
		for i := range log.Blobs {
			got, want := &log.Blobs[i], c.Blobs()[i]
			require.Equal(t, [...]any{want.Kind, want.Lo, want.Hi, want.Name}, [...]any{got.Kind, got.Lo, got.Hi, got.Name})
		}
	})
}

// notEntrant is LogCompilation's tag for a method that is not entered any more.
var notEntrant = regexp.MustCompile(`<make_not_entrant [^>]*compile_id='(\d+)'`)

// TestStates compares the states of nmethods with LogCompilation's tags.
func TestStates(t *testing.T) {
	dir := classPath(t)
	eachJDK(t, func(t *testing.T, jdk gasmtest.JDK) {
		j := start(t, jdk, 250, "-cp", dir, "Busy")
		j.stop(t)
		c := j.open(t)
		_, err := c.Poll(1)
		require.NoError(t, err)
		log, err := os.ReadFile(j.log)
		require.NoError(t, err)
		told := map[int]bool{}
		for _, m := range notEntrant.FindAllSubmatch(log, -1) {
			id, err := strconv.Atoi(string(m[1]))
			require.NoError(t, err)
			told[id] = true
		}
		states, untold := map[State]int{}, 0
		for _, b := range c.Blobs() {
			if b.Method == nil {
				continue
			}
			states[b.State]++
			if told[b.Method.ID] {
				assert.Equal(t, NotEntrant, b.State, "%+v", b.Method)
			} else if b.State == NotEntrant {
				untold++ // the tag may be in a buffer of HotSpot's still
			}
		}
		t.Logf("%v, told of %d, not of %d", states, len(told), untold)
		assert.Less(t, untold, 20)
		assert.Positive(t, states[NotEntrant])
	})
}
