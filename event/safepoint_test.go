package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNameSafepoints(t *testing.T) {
	of := func(pid int, kind Kind, name string, from, length int64) Event {
		return Event{PID: pid, Kind: kind, Name: name, MonoNanos: from, Nanos: length}
	}
	events := []Event{
		of(1, VMOperation, "HandshakeAllThreads", 5, 3),
		of(1, Safepoint, UnknownSafepoint, 10, 10),
		of(2, VMOperation, "ThreadDump", 11, 9),
		of(1, VMOperation, "ICBufferFull", 12, 1),
		of(1, VMOperation, "RedefineClasses", 13, 4),
		of(1, VMOperation, "Cleanup", 18, 1),
		of(1, VMOperation, "AfterIt", 20, 10),
		of(1, Safepoint, "G1CollectForAllocation", 40, 10),
		of(1, VMOperation, "G1Collect", 41, 8),
		of(1, Safepoint, UnknownSafepoint, 60, 0),
		of(1, VMOperation, "TooLate", 60, 1),
		of(3, Safepoint, UnknownSafepoint, 70, 5),
		of(3, Safepoint, UnknownSafepoint, 80, 5),
		of(3, VMOperation, "InstantOne", 82, 0),
	}
	NameSafepoints(events)
	var names []string
	for _, e := range events {
		if e.Kind == Safepoint {
			names = append(names, e.Name)
		}
	}
	assert.Equal(t, []string{"RedefineClasses", "G1CollectForAllocation", UnknownSafepoint, UnknownSafepoint,
		"InstantOne"}, names)
	assert.True(t, events[1].OfTool())
	assert.True(t, events[4].OfTool(), "the operation, too")
	assert.False(t, events[7].OfTool())
}
