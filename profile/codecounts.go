package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// CodeCounts are the samples in the code of one JVM, summed up over all trials that it is in. The sum over all JVMs is
// the sum of Compiled, Stub and Interpreter in the accounts of all trials.
type CodeCounts struct {
	capture.JVM
	Counters []string // the names of the sampler's counters, as in [Profile]
	// Unprinted are blobs of code that the log does not have. They are numbered after the log's blobs.
	Unprinted []printassembly.Blob
	blobs     map[int]map[uint64]tally.Counts // samples by the blob's number and the PC
}

// Blobs returns the log's blobs and then the unprinted ones. The index of a blob is the number by which At identifies
// it.
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

// At returns the samples in the blob with the given number, by PC. It returns nil for a blob without samples.
func (c *CodeCounts) At(blob int) map[uint64]tally.Counts { return c.blobs[blob] }

// CodeCounts returns the counts of all JVMs that belong to a trial, in the order of [Config].JVMs.
func (b *Builder) CodeCounts() []CodeCounts {
	var all []CodeCounts
	index := make([]int, len(b.jvms.List)) // index[j] is the index of JVM j in the result, or -1
	for i, j := range b.jvms.List {
		index[i] = -1
		if p := b.processes[j.PID]; p != nil && p.Measured() {
			index[i] = len(all)
			all = append(all, CodeCounts{JVM: j.JVM, Counters: slices.Clone(b.counters),
				Unprinted: j.Code.Unprinted(), blobs: map[int]map[uint64]tally.Counts{}})
		}
	}
	for _, t := range b.trials {
		for key, counts := range t.code {
			at := all[index[key.jvm]].blobs
			if at[key.blob] == nil {
				at[key.blob] = map[uint64]tally.Counts{}
			}
			tally.AddTo(at[key.blob], key.pc, counts, len(b.counters))
		}
	}
	return all
}
