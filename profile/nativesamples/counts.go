// Package nativesamples counts samples in native functions by address, for functions whose code is known. All other
// native code is counted by function only.
package nativesamples

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/profile/tally"
)

// An At is an address of a native function: the function's index in jvmcode.Native, and an address in its blob.
// Function is -1 in all other code.
type At struct {
	Function int32
	PC       uint64
}

// Nowhere is the At of a sample that is not in a native function whose code is known.
var Nowhere = At{Function: -1}

// maxKeys limits the number of addresses that are counted separately. Samples at further addresses are left out.
const maxKeys = 1 << 18

type key struct {
	At
	pid int
}

// Counts are the samples in native functions. The zero value has none.
type Counts struct {
	at    map[key]tally.Counts
	spots map[At][]int32
}

// Bump counts a sample of a counter in a process. It does nothing if at is Nowhere.
func (c *Counts) Bump(at At, pid, counter int) {
	if at.Function < 0 {
		return
	}
	if c.at == nil {
		c.at = map[key]tally.Counts{}
	}
	k := key{at, pid}
	if c.at[k] == nil && len(c.at) == maxKeys {
		return
	}
	tally.BumpAt(c.at, k, counter)
}

// AddSpot notes that the spot with the given number is at an address. A spot is a place in the code, see package parts.
// AddSpot must be called only once for each number. It does nothing if at is Nowhere.
func (c *Counts) AddSpot(at At, number int32) {
	if at.Function < 0 {
		return
	}
	if c.spots == nil {
		c.spots = map[At][]int32{}
	}
	c.spots[at] = append(c.spots[at], number)
}

// Spots returns the numbers that AddSpot has noted for an address.
func (c *Counts) Spots(at At) []int32 { return c.spots[at] }

// A Function has the samples of one native function.
type Function struct {
	Index  int // as in At
	Counts tally.Counts
	AtPC   map[uint64]tally.Counts
	PIDs   map[uint64][]int // the processes that have samples at each address
}

// Functions returns the functions that have samples, the hottest one first. All Counts have an element for each
// counter.
func (c *Counts) Functions(counters int) []*Function {
	of := map[int32]*Function{}
	keys := slices.SortedFunc(maps.Keys(c.at), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.PC, b.PC), cmp.Compare(a.pid, b.pid))
	})
	for _, k := range keys {
		f := of[k.Function]
		if f == nil {
			f = &Function{int(k.Function), make(tally.Counts, counters), map[uint64]tally.Counts{}, map[uint64][]int{}}
			of[k.Function] = f
		}
		f.Counts.Add(c.at[k])
		tally.AddTo(f.AtPC, k.PC, c.at[k], counters)
		f.PIDs[k.PC] = append(f.PIDs[k.PC], k.pid)
	}
	return slices.SortedFunc(maps.Values(of), func(a, b *Function) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Index, b.Index))
	})
}
