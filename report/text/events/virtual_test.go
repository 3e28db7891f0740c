package events

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile/waits"
)

func TestVirtualCounts(t *testing.T) {
	for _, c := range []struct {
		sum  waits.VirtualSum
		want string
	}{
		{waits.VirtualSum{}, ""},
		{waits.VirtualSum{Counts: 1, Threads: 12, Looked: 12},
			" They were counted 1 time. On average, there were 12 virtual threads, and all were looked at."},
		{waits.VirtualSum{Counts: 9, Moved: 1, Threads: 10000, Looked: 300.4, Mounted: 1.25, Unread: 0.5, Untracked: 7},
			" They were counted 9 times. On average, 300 of 10000 virtual threads were looked at, chosen at random, so the " +
				"numbers are estimates. Of those, 1.2 were mounted. 0.5 could not be read, or changed each time while they were " +
				"read. Another 7 can't be looked at, because the JVM has no list of them (-Djdk.trackAllThreads=false). 1 count " +
				"found no places, because the collector moved objects."},
		{waits.VirtualSum{Counts: 2, Moved: 2},
			" They were counted 2 times. 2 counts found no places, because the collector moved objects."},
	} {
		assert.Equal(t, c.want, virtualCounts(&c.sum))
	}
}
