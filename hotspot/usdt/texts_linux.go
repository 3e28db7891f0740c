package usdt

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A textCache reads texts out of the JVM's memory and keeps them for a while. The texts are names
// of classes and methods, which stay at the same address as long as their class is loaded.
type textCache struct {
	process *foreign.Process
	read    map[textKey][]byte
	bytes   int // size of all texts in read
	since   time.Time
	// old are the texts that were forgotten last. They are used where a text can't be read again: a
	// JVM's last events are often read after it has released its memory.
	old map[textKey][]byte
}

const (
	// longestText is the largest text that is read. The names of methods have at most 64 kB.
	longestText = 1 << 16
	// textsLive is how long a text is used before it is read again. When a class is unloaded,
	// another name of the same length may take its place in memory, so the time is short. That
	// costs little: reading a text takes only a microsecond.
	textsLive = time.Second
)

func newTextCache(p *foreign.Process) *textCache {
	return &textCache{process: p, read: map[textKey][]byte{}}
}

// text returns the text that has the given address in the JVM's memory and the given length. It returns false if the
// text can't be read. The caller must not change the text.
func (c *textCache) text(addr, length uint64) ([]byte, bool) {
	if length == 0 {
		return nil, true
	}
	if addr == 0 || length > longestText {
		return nil, false
	}
	key := textKey{addr, length}
	if text, ok := c.read[key]; ok {
		return text, true
	}
	text := make([]byte, length)
	local := []unix.Iovec{{Base: &text[0]}}
	local[0].SetLen(len(text))
	n, err := unix.ProcessVMReadv(c.process.PID(), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(text)}}, 0)
	if err != nil || n < len(text) || c.process.Exited() { // after the JVM's end, its pid may belong to another process
		text, ok := c.old[key]
		return text, ok
	}
	if c.bytes += len(text); c.bytes > mostTextBytes || len(c.read) >= mostTexts {
		c.forget()
		c.bytes = len(text)
	}
	c.read[key] = text
	return text, true
}

// age forgets all texts if they are older than textsLive, because they may have changed. After the
// JVM has ended, nothing changes any more.
func (c *textCache) age(now time.Time) {
	if now.Sub(c.since) > textsLive && !c.process.Exited() {
		c.forget()
		c.since = now
	}
}

func (c *textCache) forget() {
	c.old, c.read, c.bytes = c.read, map[textKey][]byte{}, 0
}

// threadIDs translates the ids of threads from the JVM's namespace to gasm's.
type threadIDs struct {
	pid   int
	known map[int]int
}

// of converts a thread's id in the JVM's own namespace to the id that gasm sees. It returns 0 if the thread has ended.
// If the thread is not known yet, the ids of all threads are read again.
func (t *threadIDs) of(own int) int {
	if id, ok := t.known[own]; ok {
		return id
	}
	t.known[own] = 0 // stays 0 if the thread has ended
	p, err := foreign.Open(t.pid)
	if err != nil {
		return 0
	}
	defer p.Close()
	for _, id := range p.Threads() {
		if inner, err := p.OwnTID(id); err == nil {
			t.known[inner] = id
		}
	}
	return t.known[own]
}
