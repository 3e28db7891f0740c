package events

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/text/view"
	"github.com/gasm-profiler/gasm/wall"
)

// TestLooks checks that the account of a recording says which limits were reached.
func TestLooks(t *testing.T) {
	v := &view.View{Profile: &profile.Profile{PIDs: []int{7}}}
	j := &waits.JVM{PID: 7, Hertz: 20, FromMonoNanos: 1e9, ToMonoNanos: 3e9, End: &wall.End{Looks: 5}}
	const plain = "Threads were looked at 20 times a second, for 2.00 s. Of 5 looks, 0 found a thread that ran each time " +
		"it was read, 0 could not read the thread, and 0 were left out to save time."
	assert.Equal(t, plain, looks(v, j))
	*j.End = wall.End{Looks: 5, Unrecorded: 3, Reopened: 1, Full: true, Together: true}
	assert.Equal(t, plain+" All threads were asked together whether they had run, with a BPF iterator. There were up to 3 "+
		"threads more than gasm records; the time of these is missing. gasm could not keep the files of 1 thread open "+
		"(ulimit -n), which made looks at them expensive. The recording ended after 2.00 s because the file had reached "+
		"its largest size.", looks(v, j))
	j.End = nil
	assert.Contains(t, looks(v, j), "The recording was cut off.")
}
