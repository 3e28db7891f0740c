package capture

import (
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

func TestReadInlining(t *testing.T) {
	recording, err := os.ReadFile("../event/jfr/testdata/inlining.jfr")
	require.NoError(t, err)
	lost, err := os.ReadFile("../event/jfr/testdata/lost.jfr")
	require.NoError(t, err)
	files := map[string][]byte{"a.jfr": recording, "b.jfr": recording, "open.jfr": begunRecording(t, recorded(1)),
		"cut.jfr": recording[:len(recording)-1], "lost.jfr": lost}
	c := writeCapture(t, files, JVM{PID: 1, Inlining: true, Recordings: []string{"a.jfr", "b.jfr"}},
		JVM{PID: 2, Recordings: []string{"a.jfr"}},
		JVM{PID: 3, Inlining: true, Recordings: []string{"open.jfr"}},
		JVM{PID: 4, Inlining: true, Recordings: []string{"gone.jfr"}},
		JVM{PID: 5, Inlining: true, Recordings: []string{"a.jfr", "cut.jfr"}},
		JVM{PID: 6, Inlining: true, Recordings: []string{"a.jfr", "lost.jfr"}})
	asked := map[[2]int]bool{}
	got, notes := c.ReadInlining(func(pid, id int) bool {
		asked[[2]int{pid, id}] = true
		return id == 7
	})
	assert.Empty(t, notes)
	assert.Equal(t, map[[2]int]bool{{1, 7}: true, {1, 8}: true, {5, 7}: true, {5, 8}: true, {6, 7}: true, {6, 8}: true},
		asked, "the recording of 2 was not made for decisions")
	require.Len(t, got, 5)
	assert.Equal(t, []event.Inlined{{CompileID: 7, Caller: "p.A::m", BCI: 12, Callee: "p.B::big",
		Message: "hot method too big"},
		{CompileID: 7, Caller: "::", BCI: -1, Callee: "p.B::small", Done: true, Message: "inline (hot)"}}, got[1].Decided,
		"each once")
	for _, pid := range []int{3, 4} {
		assert.Equal(t, &Inlining{FromMonoNanos: math.MaxInt64}, got[pid], "nothing was decided while it was recorded")
	}
	for _, pid := range []int{5, 6} {
		assert.Equal(t, got[1].Decided, got[pid].Decided)
		assert.Equal(t, int64(math.MaxInt64), got[pid].FromMonoNanos, "some may be missing")
	}
	c = writeCapture(t, files, JVM{PID: 6, Inlining: true, Recordings: []string{"lost.jfr"}})
	_, notes = c.ReadEvents()
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0], "; Flight Recorder had no room for 4096 bytes of the events of JVM 6: they are missing")
	assert.Less(t, got[1].FromMonoNanos, int64(math.MaxInt64))
}
