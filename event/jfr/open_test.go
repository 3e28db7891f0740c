package jfr

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestOpenRecording writes testdata/open.jfr, the beginning of an unfinished recording: types, a thread, and a stack.
// The tests of cmd/gasm append events to it. Each of these consists of its size, the id of test.Event (21), start,
// duration, 8 for the thread, 9 for the stack, 3 for gc, a text, a number, and a double.
func TestOpenRecording(t *testing.T) {
	begun := header{state: 1}.chunkOf(metadataOf(basicClasses()...), basicCheckpoint())
	binary.BigEndian.PutUint64(begun[32:], 1_700_000_000_000_123_457) // not rounded to milliseconds
	gasmtest.Golden(t, "open.jfr", begun)
	r := made(slices.Concat(begun, bytes.Repeat(basicEvent(200, 3, utf8Text("one"), 1), 3)))
	n := 0
	for r.Scan() {
		assert.Equal(t, "test.Event", r.Event().Type().Name)
		assert.Equal(t, int64(4711), r.Event().Thread().OSID)
		n++
	}
	assert.Equal(t, 3, n)
	assert.Equal(t, int64(21), int64(idEvent))
}
