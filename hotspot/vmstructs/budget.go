package vmstructs

import (
	"errors"
	"sync"
	"time"
)

// A Budget limits how many bytes are read of a process, because its structures may lie about their sizes. Any goroutine
// may use it. A nil Budget has no limit.
type Budget struct {
	mu      sync.Mutex
	left    int64 // in bytes
	most    int64
	each    time.Duration // the time in which one MiB is regained
	since   time.Time     // when left was last increased
	refused int
}

// NewBudget returns a Budget of a number of bytes, most of which are left after a time without reads. It regains
// perSecond bytes in a second, at least a MiB.
func NewBudget(most, perSecond int64) *Budget {
	return &Budget{left: most, most: most, each: time.Second / time.Duration(max(1, perSecond>>20)), since: time.Now()}
}

// ErrBudget means that nothing was read, because too much was read of the process before.
var ErrBudget = errors.New("too much of its memory was read before")

// take takes bytes from the budget, or returns ErrBudget if too few are left.
func (b *Budget) take(size uint64) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if whole := time.Since(b.since) / b.each; whole > 0 {
		b.left = min(b.left+int64(whole)<<20, b.most)
		b.since = b.since.Add(whole * b.each)
	}
	if int64(size) > b.left {
		b.refused++
		return ErrBudget
	}
	b.left -= int64(size)
	return nil
}

// Refused returns how many reads were refused.
func (b *Budget) Refused() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Within returns a VM whose reads take from a budget. Reads of the two VMs are otherwise the same.
func (vm *VM) Within(b *Budget) *VM {
	limited := *vm
	limited.Memory.budget = b
	return &limited
}
