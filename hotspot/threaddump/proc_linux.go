package threaddump

import (
	"strconv"
	"strings"
)

// stateOf returns the state that a letter stands for.
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

// A call is the text of /proc/PID/task/TID/syscall: the system call that a blocked thread is in, its arguments, and where
// it has entered the kernel.
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
	fields := strings.Fields(text)
	if len(fields) != 3 && len(fields) != 9 {
		return call{}
	}
	var err error
	if c.number, err = strconv.Atoi(fields[0]); err != nil {
		return call{}
	}
	var values []uint64
	for _, field := range fields[1:] {
		value, err := strconv.ParseUint(field, 0, 64)
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

// runs is how often a thread has begun to run, as the kernel counts it. If two readings are equal, and the thread did
// not run at some moment between them, it has not run from that moment until the second reading.
type runs struct {
	known bool
	count string
	cpu   uint64 // how long it has run, in ns
}

// parseSchedstat parses the text of /proc/PID/task/TID/schedstat: how long the thread has run, how long it has waited
// for a processor, and how often it has begun to run. A kernel without such counts has zeros.
func parseSchedstat(text string) (r runs) {
	fields := strings.Fields(text)
	if len(fields) != 3 || fields[2] == "0" {
		return r
	}
	r.cpu, _ = strconv.ParseUint(fields[0], 10, 64) // the kernel writes only digits here
	return runs{true, fields[2], r.cpu}
}

// parseSwitches returns the numbers of context switches in the text of /proc/PID/task/TID/status.
func parseSwitches(text string) (r runs) {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(line, ":"); strings.HasSuffix(key, "voluntary_ctxt_switches") {
			r.known, r.count = true, r.count+strings.TrimSpace(value)+" "
		}
	}
	return r
}
