package attach

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

// perfNumber returns an entry of a file of performance data that is a number.
func perfNumber(order binary.ByteOrder, name string, value int64) []byte {
	file := perfFileOf(order, perfEntry{name, ""})
	entry := file[prologueSize : prologueSize+int(order.Uint32(file[prologueSize:]))]
	order.PutUint64(entry[order.Uint32(entry[dataOffsetAt:]):], uint64(value))
	return entry
}

// TestActivity: times in ticks are converted to ns, and missing numbers are -1.
func TestActivity(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		file := perfFileOf(order, perfEntry{"sun.gc.collector.0.name", "Copy"}, perfEntry{"sun.rt.javaCommand", "Main"})
		file = file[:len(file)-100]
		numbers := map[string]int64{"sun.gc.collector.0.invocations": 3, "sun.gc.collector.0.time": 500,
			"sun.gc.collector.1.invocations": 0,
			"sun.os.hrt.frequency":           1e6, "sun.rt.safepoints": 7, "sun.rt.safepointTime": 2000, "java.threads.live": 12,
			"sun.ci.totalTime": 9}
		for name, n := range numbers {
			file = append(file, perfNumber(order, name, n)...)
		}
		order.PutUint32(file[entriesAt:], uint32(2+len(numbers)))
		got, known := parseActivity(file)
		assert.True(t, known)
		assert.Equal(t, Activity{Collectors: []Collector{{"Copy", 3, 500_000}, {"", 0, -1}}, Safepoints: 7,
			SafepointNanos: 2_000_000, SyncNanos: -1, Threads: 12}, got)
	}
	for _, file := range [][]byte{nil, []byte("text"), perfFileOf(binary.LittleEndian,
		perfEntry{"sun.rt.javaCommand", "Main"})} {
		got, known := parseActivity(file)
		assert.False(t, known)
		assert.Equal(t, Activity{Safepoints: -1, SafepointNanos: -1, SyncNanos: -1, Threads: -1}, got)
	}
}
