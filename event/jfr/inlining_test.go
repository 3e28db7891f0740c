package jfr

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// Ids of the classes of decisions.
const (
	idClass = iota + 60
	idMethod
	idCallee
	idInlining
	idLoss
)

// inliningRecording returns a recording with decisions of two compilations, numbers 7 and 8, followed by the events in
// more.
func inliningRecording(more ...[]byte) []byte {
	classes := append(basicClasses(), class(idClass, "java.lang.Class", nil, field("name", idString)),
		class(idMethod, "jdk.types.Method", nil, field("type", idClass, pooled...), field("name", idString),
			field("descriptor", idString)),
		class(idCallee, "jdk.types.CalleeMethod", nil, field("type", idString), field("name", idString),
			field("descriptor", idString)),
		class(idInlining, "jdk.CompilerInlining", super, field("startTime", idLong),
			field("eventThread", idThread, pooled...),
			field("compileId", idInt), field("caller", idMethod, pooled...), field("callee", idCallee),
			field("succeeded", idBool),
			field("message", idString), field("bci", idInt)),
		class(idLoss, "jdk.DataLoss", super, field("startTime", idLong), field("amount", idLong), field("total", idLong)))
	decided := func(start, id, caller int64, callee string, done byte, message string, bci int64) []byte {
		return sized(idInlining, integers(start, 8, id, caller), utf8Text("p/B"), utf8Text(callee), utf8Text("(I)V"),
			[]byte{done}, utf8Text(message), integer(bci))
	}
	constants := checkpointOf(0, constantPool{idClass, [][]byte{slices.Concat(integer(1), utf8Text("p/A"))}},
		constantPool{idMethod, [][]byte{slices.Concat(integers(5, 1), utf8Text("m"), utf8Text("()V"))}})
	return header{}.chunkOf(append([][]byte{metadataOf(classes...), constants, basicEvent(150, 3, utf8Text("x"), 1),
		decided(400, 7, 5, "big", 0, "hot method too big", 12), decided(300, 8, 5, "other", 1, "inline (hot)", 3),
		decided(500, 7, 5, "big", 0, "hot method too big", 12), decided(600, 7, 99, "small", 1, "inline (hot)", -1)},
		more...)...)
}

// loss returns an event that says that amount bytes of events were lost.
func loss(amount int64) []byte { return sized(idLoss, integers(700, amount, amount)) }

// TestLost checks that the bytes of all losses are added up, and that the sum can't overflow.
func TestLost(t *testing.T) {
	for name, c := range map[string]struct {
		events [][]byte
		want   int64
	}{
		"nothing":   {nil, 0},
		"twice":     {[][]byte{loss(4000), loss(96)}, 4096},
		"negative":  {[][]byte{loss(-5), loss(10)}, 10},
		"much more": {[][]byte{loss(math.MaxInt64), loss(math.MaxInt64)}, maxLost},
	} {
		r := made(inliningRecording(c.events...))
		for r.Scan() {
		}
		require.NoError(t, r.Err())
		assert.Equal(t, Damage{}, r.Damage())
		assert.Equal(t, c.want, r.Lost(), name)
	}
	gasmtest.Golden(t, "lost.jfr", inliningRecording(loss(4096))) // a test of package capture reads it
}

func TestInlining(t *testing.T) {
	clock := func(*Chunk) Anchor { return Anchor{Ticks: 100, MonoNanos: 1000} }
	r := made(inliningRecording())
	x := NewInlining(r, func(id int) bool { return id == 7 }, clock)
	var all []event.Inlined
	for x.Scan() {
		all = append(all, x.Decided())
	}
	require.NoError(t, r.Err())
	big := event.Inlined{CompileID: 7, Caller: "p.A::m", BCI: 12, Callee: "p.B::big", Message: "hot method too big"}
	assert.Equal(t, []event.Inlined{big, big, {CompileID: 7, Caller: "::", BCI: -1, Callee: "p.B::small", Done: true,
		Message: "inline (hot)"}}, all)
	first, ok := x.FirstMonoNanos()
	assert.True(t, ok)
	assert.Equal(t, int64(1200), first, "of compilation 8")

	none := NewInlining(made(basicChunk()), func(int) bool { return true }, clock)
	assert.False(t, none.Scan())
	_, ok = none.FirstMonoNanos()
	assert.False(t, ok)
	gasmtest.Golden(t, "inlining.jfr", inliningRecording()) // package capture reads it
}

// FuzzInlining: whatever a recording has, the texts are bounded.
func FuzzInlining(f *testing.F) {
	f.Add(inliningRecording())
	whole, err := os.ReadFile("testdata/samples.jfr")
	require.NoError(f, err)
	f.Add(whole)
	f.Fuzz(func(t *testing.T, in []byte) {
		x := NewInlining(made(in), func(int) bool { return true }, func(*Chunk) Anchor { return Anchor{} })
		earliest := int64(math.MaxInt64)
		for x.Scan() {
			d := x.Decided()
			assert.LessOrEqual(t, len(d.Caller), 3*maxName+100)
			assert.LessOrEqual(t, len(d.Callee), 3*maxName+100)
			assert.LessOrEqual(t, len(d.Message), maxName)
			first, ok := x.FirstMonoNanos()
			assert.True(t, ok)
			assert.LessOrEqual(t, first, earliest)
			earliest = first
		}
	})
}
