package threaddump

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseCall(t *testing.T) {
	for text, want := range map[string]call{
		"202 0x7f8e10 0x189 0x0 0x0 0x0 0xffffffff 0x7f8eb7ffebc0 0x7f8ebde28f16\n": {true, 202,
			[6]uint64{0x7f8e10, 0x189, 0, 0, 0, 0xffffffff}, 0x7f8eb7ffebc0, 0x7f8ebde28f16},
		"-1 0x7f8eb7ffebc0 0x7f8ebde28f16\n": {true, -1, [6]uint64{}, 0x7f8eb7ffebc0,
			0x7f8ebde28f16},
		"running\n": {}, "": {}, "0 1 2 3": {},
		"x 0x1 0x2": {}, "1 0x1 0xx": {}, "1 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x1ffffffffffffffff": {},
	} {
		assert.Equal(t, want, parseCall(text), text)
	}
}

func TestParseRuns(t *testing.T) {
	assert.Equal(t, Runs{true, 1403, 50263, 8861}, parseSchedstat([]byte("50263 8861 1403\n")))
	assert.Equal(t, Runs{}, parseSchedstat([]byte("0 0 0\n")), "the kernel does not count")
	assert.Equal(t, Runs{}, parseSchedstat(nil))
	assert.Equal(t, Runs{true, 695, 0, 0},
		parseSwitches("Name:\tjava\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n"))
	assert.False(t, parseSwitches("Name:\tjava\n").Known)
}

func TestJavaState(t *testing.T) {
	for status, want := range map[uint32]string{ // the constants of java_lang_Thread::JavaThreadStatus
		0: "NEW", 0x5: "RUNNABLE", 0xe1: "TIMED_WAITING (sleeping)", 0x191: "WAITING (on object monitor)",
		0x1a1: "TIMED_WAITING (on object monitor)",
		0x291: "WAITING (parking)", 0x2a1: "TIMED_WAITING (parking)", 0x401: "BLOCKED (on object monitor)", 0x2: "TERMINATED",
		0x1000: "", 0x1: "",
	} {
		assert.Equal(t, want, javaState(status), "%#x", status)
	}
}

func TestFindDeadlocks(t *testing.T) {
	waiting := func(owner int) Thread {
		return Thread{Frames: []Frame{{}, {Locks: []Lock{{Kind: Locked, Owner: -1}, {Kind: WaitingToLock, Owner: owner}}}}}
	}
	for _, c := range []struct {
		owners []int // of the lock that each thread waits for
		want   []Deadlock
	}{
		{nil, nil},
		{[]int{-1, 0, 1}, nil},
		{[]int{1, 0}, []Deadlock{{0, 1}}},
		{[]int{1, 2, 1, 0}, []Deadlock{{1, 2}}},
		{[]int{3, 0, -1, 5, 0, 4, 2}, []Deadlock{{0, 3, 5, 4}}},
		{[]int{1, 0, 3, 2, 2}, []Deadlock{{0, 1}, {2, 3}}},
		{[]int{0}, nil}, // out of date: it has got the lock meanwhile
		{[]int{1, 1}, nil},
	} {
		var threads []Thread
		for _, owner := range c.owners {
			threads = append(threads, waiting(owner))
		}
		assert.Equal(t, c.want, findDeadlocks(threads), "%v", c.owners)
	}
}

func TestSockets(t *testing.T) {
	sockets := map[string]string{}
	addSockets(sockets, `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:9E54 0200007F:1538 01 00000000:00000000 00:00000000 00000000     0        0 24601 1 0000000000000000 20 4 30 10 -1
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 24602 1 0000000000000000 20 4 30 10 -1
   2: 00000000000000000000000001000000:0016 0000000000000000FFFF00000100007F:1234 01 0:0 00:0 0     0        0 24603 1
   3: nonsense
   4: 0100007F:9E54 0200007F:1538 06 00000000:00000000 03:00000000 00000000     0        0 0 1
   5: 01:9E54 0200007F:1538 06 00000000:00000000 03:00000000 00000000     0        0 24604 1
`)
	addUnixSockets(sockets, `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 24605 /run/a socket
0000000000000000: 00000003 00000000 00000000 0001 03 24606
`)
	assert.Equal(t, map[string]string{
		"24601": "socket 127.0.0.1:40532 to 127.0.0.2:5432", "24602": "socket 0.0.0.0:8080",
		"24603": "socket [::1]:22 to 127.0.0.1:4660",
		"24605": "Unix socket /run/a socket", "24606": "Unix socket",
	}, sockets)
}
