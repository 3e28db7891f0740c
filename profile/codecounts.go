package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// CodeCounts are the samples in the code of one JVM, over all trials that it is
// in. Their sum is what these trials' accounts have as compiled, stub and
// interpreter, JVM by JVM.
type CodeCounts struct {
	PID    int
	Log    *printassembly.Log
	Events []string
	// Unprinted is the code that the log does not have. Its first piece is the
	// blob that follows the last one of the log's index.
	Unprinted []printassembly.Blob
	blobs     map[int]map[uint64]Counts
}

// Blobs are the log's blobs and then the unprinted ones; a blob's place is its
// name for At.
func (c *CodeCounts) Blobs() []*printassembly.Blob {
	var all []*printassembly.Blob
	for i := range c.Log.Blobs {
		all = append(all, &c.Log.Blobs[i])
	}
	for i := range c.Unprinted {
		all = append(all, &c.Unprinted[i])
	}
	return all
}

// At gives the samples in a blob, named by its place in the log's index, by
// program counter. A blob without samples has nil.
func (c *CodeCounts) At(blob int) map[uint64]Counts { return c.blobs[blob] }

// CodeCounts gives the counts of all JVMs that belong to a trial, in the order
// in which the builder got them.
func (b *Builder) CodeCounts() []CodeCounts {
	var all []CodeCounts
	place := make([]int, len(b.jvms)) // of each JVM in all
	for i, j := range b.jvms {
		place[i] = -1
		if len(b.ofPID[j.PID]) > 0 {
			place[i] = len(all)
			all = append(all, CodeCounts{PID: j.PID, Log: j.Log, Events: slices.Clone(b.events),
				Unprinted: j.code.gaps, blobs: map[int]map[uint64]Counts{}})
		}
	}
	for _, t := range b.trials {
		for key, counts := range t.code {
			at := all[place[key.jvm]].blobs
			if at[key.blob] == nil {
				at[key.blob] = map[uint64]Counts{}
			}
			sum := at[key.blob][key.pc]
			if sum == nil {
				sum = make(Counts, len(b.events))
				at[key.blob][key.pc] = sum
			}
			sum.Add(counts)
		}
	}
	return all
}
