package vmstructs

import (
	"errors"
	"io"
	"sync"
	"time"
)

// A Budget limits how many bytes are read from a process, because damaged structures may claim any size. Any
// goroutine may use it. A nil Budget has no limit.
type Budget struct {
	mu      sync.Mutex
	left    int64 // the bytes that may still be read
	most    int64
	each    time.Duration // the time in which one MiB is regained
	since   time.Time     // when the field left was last increased
	refused int
}

// NewBudget returns a full Budget. The parameter most is its size in bytes. It is refilled at perSecond bytes per
// second, or at one MiB per second if perSecond is less, but never beyond its size.
func NewBudget(most, perSecond int64) *Budget {
	return &Budget{left: most, most: most, each: time.Second / time.Duration(max(1, perSecond>>20)), since: time.Now()}
}

// ErrBudget is returned by a read that was refused, because too much of the process's memory had been read before.
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

// Through returns a copy of the VM that reads the process's memory through another reader. An offset of this reader is
// an address in the process, as in New.
func (vm *VM) Through(memory io.ReaderAt) *VM {
	other := *vm
	other.Memory.reader = memory
	return &other
}

// Within returns a copy of the VM whose reads take from a budget.
func (vm *VM) Within(b *Budget) *VM {
	limited := *vm
	limited.Memory.budget = b
	return &limited
}
