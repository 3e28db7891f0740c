package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
)

// CodeCounts are the samples in the code of one JVM, in all trials together that it is
// in. The sum over all JVMs is what the accounts of all trials have as compiled, stub
// and interpreter.
type CodeCounts struct {
	capture.JVM
	Events []string
	// Unprinted are blobs of code that the log does not have. They are numbered behind
	// those of the log.
	Unprinted []printassembly.Blob
	blobs     map[int]map[uint64]Counts // by the blob's number and the PC
}

// Blobs gives the log's blobs and then the unprinted ones. A blob's place in the list is
// its number, which At takes.
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

// At gives the samples in the blob with a number, by PC; nil for a blob without samples.
func (c *CodeCounts) At(blob int) map[uint64]Counts { return c.blobs[blob] }

// CodeCounts gives the counts of all JVMs that belong to a trial, in the order in which
// the builder was given the JVMs.
func (b *Builder) CodeCounts() []CodeCounts {
	var all []CodeCounts
	index := make([]int, len(b.jvms)) // of each JVM in all; -1 when it is not there
	for i, j := range b.jvms {
		index[i] = -1
		if line := b.lines[j.PID]; line != nil && !line.out {
			index[i] = len(all)
			all = append(all, CodeCounts{JVM: j.JVM, Events: slices.Clone(b.events),
				Unprinted: j.code.gaps, blobs: map[int]map[uint64]Counts{}})
		}
	}
	for _, t := range b.trials {
		for key, counts := range t.code {
			at := all[index[key.jvm]].blobs
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
