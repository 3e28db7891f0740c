package virtualthreads

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A liar is the memory of a process, in which some words are wrong.
type liar struct {
	memory *os.File
	random *rand.Rand
	seen   []uint64 // words that were read, which may be addresses of objects
	one    int      // one of so many reads has a wrong word; 0 if all are right
}

func (l *liar) ReadAt(buf []byte, at int64) (int, error) {
	n, err := l.memory.ReadAt(buf, at)
	if n < 4 {
		return n, err
	}
	if n >= 8 {
		l.seen = append(l.seen, binary.LittleEndian.Uint64(buf[8*l.random.IntN(n/8):]))
		if len(l.seen) > 1<<12 {
			l.seen = l.seen[1<<11:]
		}
	}
	if l.one > 0 && l.random.IntN(l.one) == 0 {
		word := l.word()
		if n < 8 || l.random.IntN(2) == 0 {
			binary.LittleEndian.PutUint32(buf[4*l.random.IntN(n/4):], uint32(word))
		} else {
			binary.LittleEndian.PutUint64(buf[8*l.random.IntN(n/8):], word)
		}
	}
	return n, err
}

func (l *liar) word() uint64 {
	switch l.random.IntN(5) {
	case 0:
		return 0
	case 1:
		return uint64(l.random.IntN(1 << 12))
	case 2:
		return 1<<uint(l.random.IntN(64)) - uint64(l.random.IntN(2))
	case 3:
		return l.random.Uint64()
	}
	return l.seen[l.random.IntN(len(l.seen))]
}

// TestHostile counts threads in a memory in which random words are wrong. A count must not panic, and its time and its
// result are limited.
func TestHostile(t *testing.T) {
	j := gasmtest.NeedEachJDK(t, wanted)[0]
	pid := start(t, j, "Unmounted", "100", "100", "10", "100", "0")
	jvms := shared.NewJVMs()
	open(t, pid) // keeps the JVM open
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	require.NoError(t, err)
	defer memory.Close()
	rounds := uint64(60)
	if gasmtest.Long() {
		rounds = 1000
	}
	opened, counted, places := 0, 0, 0
	longest := time.Duration(0)
	for round := range rounds {
		view, err := jvms.Open(pid)
		require.NoError(t, err)
		l := &liar{memory: memory, random: rand.New(rand.NewPCG(round, 1))}
		if round%8 == 0 { // even HotSpot's descriptions of classes are wrong
			l.one = 100
		}
		view.VM = view.VM.Through(l)
		c, err := newCounter(jvms, view, pid)
		if err != nil {
			view.Close()
			continue
		}
		opened++
		for range 3 {
			began := time.Now()
			n, err := c.Count(500)
			longest = max(longest, time.Since(began))
			l.one = []int{10, 100, 1000}[round%3]
			if err != nil {
				break
			}
			counted++
			assert.LessOrEqual(t, n.Looked, maxLooks)
			for i := range n.Places {
				p := &n.Places[i]
				places++
				assert.LessOrEqual(t, len(p.Frames), maxDepth+1)
				assert.LessOrEqual(t, len(p.Blocker), 1<<14)
				for _, f := range p.Frames {
					assert.LessOrEqual(t, len(f.Name), 1<<14)
					assert.False(t, strings.Contains(f.Name, "\n"))
				}
			}
		}
		c.Close()
	}
	t.Logf("%d opened, %d counts, %d places, the longest took %v", opened, counted, places, longest)
	assert.Greater(t, opened, int(rounds)/2)
	assert.Greater(t, counted, int(rounds))
	assert.Less(t, longest, 20*time.Second) // a count of 300 threads takes milliseconds; the machine may be busy
}

// TestGarbage walks frames that no thread has. They consist of random words, of which many are addresses of code.
func TestGarbage(t *testing.T) {
	j := gasmtest.NeedEachJDK(t, wanted)[0]
	c := open(t, start(t, j, "Unmounted", "10", "10", "0", "10", "0"))
	_, err := c.Count(100)
	require.NoError(t, err)
	blobs := c.view.Cache.Blobs()
	require.NotEmpty(t, blobs)
	random := rand.New(rand.NewPCG(1, 2))
	rounds, whole := 3000, 0
	if gasmtest.Long() {
		rounds = 200_000
	}
	began := time.Now()
	for range rounds {
		data := make([]byte, 8*random.IntN(200))
		for at := 0; at < len(data); at += 8 {
			var word uint64
			switch random.IntN(4) {
			case 0:
				word = random.Uint64()
			case 1: // a distance in words, or a small number
				word = uint64(random.IntN(64) - 32)
			default:
				b := blobs[random.IntN(len(blobs))]
				word = b.Lo + random.Uint64N(b.Hi-b.Lo+2)
			}
			binary.LittleEndian.PutUint64(data[at:], word)
		}
		f := stack.Frozen{Data: data, Size: random.Uint64N(uint64(len(data)) + 32)}
		frames, mark := c.walker.WalkFrozen(nil, c.pid, &f, monotonic.Nanos(), c.mappings)
		if mark == 0 {
			whole++
		}
		assert.LessOrEqual(t, len(frames), len(data)*8) // a few methods may be inlined at an address
	}
	t.Logf("%d of %d seem to be whole, in %v", whole, rounds, time.Since(began))
}
