package threaddump

import (
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/fields"
)

// stateOf returns the state for a letter in /proc/PID/stat.
func stateOf(letter byte) State {
	switch letter {
	case 'R':
		return OnProcessor
	case 'S', 'I':
		return Asleep
	case 'D':
		return OnDisk
	case 'T', 't':
		return Stopped
	case 'Z', 'X':
		return Ended
	}
	return Unknown
}

// A call is the text of /proc/PID/task/TID/syscall: the system call that a blocked thread is in, its arguments, and
// where the thread entered the kernel.
type call struct {
	known  bool // false while the thread runs
	number int  // -1 if the thread is not in a system call, but was interrupted
	args   [6]uint64
	sp, pc uint64
}

// parseCall parses the text of /proc/PID/task/TID/syscall. There are three forms:
//
//	202 0x7f8e… 0x189 0x0 0x0 0x0 0xffffffff 0x7f8eb7ffebc0 0x7f8ebde28f16
//	-1 0x7f8eb7ffebc0 0x7f8ebde28f16
//	running
func parseCall(text string) (c call) {
	words := strings.Fields(text)
	if len(words) != 3 && len(words) != 9 {
		return call{}
	}
	var err error
	if c.number, err = strconv.Atoi(words[0]); err != nil {
		return call{}
	}
	values := make([]uint64, 0, 8)
	for _, word := range words[1:] {
		value, err := strconv.ParseUint(word, 0, 64)
		if err != nil {
			return call{}
		}
		values = append(values, value)
	}
	n := copy(c.args[:], values[:len(values)-2])
	c.sp, c.pc, c.known = values[n], values[n+1], true
	if n == 0 {
		c.number = -1
	}
	return c
}

// A Runs has the kernel's counts of how often a thread has been scheduled, and for how long it has run. If two readings
// have the same Count, and the thread did not run at some moment between them, it has not run from that moment until
// the second reading.
type Runs struct {
	Known bool
	Count uint64
	Ran   uint64 // how long the thread has run, in ns
	Delay uint64 // how long the thread has waited for a processor, in ns
}

// parseSchedstat parses the text of /proc/PID/task/TID/schedstat: how long the thread has run, how long it has waited
// for a processor, and how often it has been scheduled. On a kernel without these counts, they are zeros.
func parseSchedstat(text []byte) (r Runs) {
	var ok1, ok2, ok3 bool
	r.Ran, text, ok1 = fields.CutUint(text, math.MaxInt64)
	r.Delay, text, ok2 = fields.CutUint(fields.TrimBlanks(text), math.MaxInt64)
	r.Count, text, ok3 = fields.CutUint(fields.TrimBlanks(text), math.MaxInt64)
	if !ok1 || !ok2 || !ok3 || r.Count == 0 || len(text) > 1 {
		return Runs{}
	}
	r.Known = true
	return r
}

// parseSwitches returns the number of context switches in the text of /proc/PID/task/TID/status. That file does not say
// how long the thread has run.
func parseSwitches(text string) (r Runs) {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(line, ":"); strings.HasSuffix(key, "voluntary_ctxt_switches") {
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			r.Known, r.Count = err == nil, r.Count+n
		}
	}
	return r
}
