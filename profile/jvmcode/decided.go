package jvmcode

import (
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/decisions"
)

// decided has the recorded decisions of a JVM, by compile id. JDK 8 numbers on-stack replacements separately, so two
// compilations may have the same id there. That does no harm, because their decisions are about different methods.
type decided struct {
	from int64 // when the recording began, in ns on CLOCK_MONOTONIC
	byID map[int][]event.Inlined
}

// ReadInlining reads what the compilers have decided about calls in the sampled code. The notes say what could not be
// read.
func (s *JVMs) ReadInlining(c *capture.Capture, sampled map[Ref]bool) (notes []string) {
	type compilation struct{ pid, id int }
	wanted := map[compilation]bool{}
	for r := range sampled {
		if j := s.List[r.JVM]; j.Code.Blob(r.Index).Kind.Java() {
			wanted[compilation{j.PID, j.Code.Blob(r.Index).ID}] = true
		}
	}
	byPID, notes := c.ReadInlining(func(pid, id int) bool { return wanted[compilation{pid, id}] })
	for pid, recorded := range byPID {
		j := s.Of(pid)
		if j == nil {
			continue
		}
		j.decided = &decided{from: recorded.FromMonoNanos, byID: map[int][]event.Inlined{}}
		for _, d := range recorded.Decided {
			j.decided.byID[d.CompileID] = append(j.decided.byID[d.CompileID], d)
		}
	}
	return notes
}

// inCompilationNanos is the assumed maximum duration of a compilation. If code was installed less than that after the
// recording began, some decisions about it may have been made before, and be missing.
const inCompilationNanos = inCompilation * 1e6

// Decided returns what is known about the calls in the code of a blob. It returns nil if no decisions of its JVM were
// recorded, for native code, and for code of C1 that collects a profile for C2, because C2's code soon replaces it. It
// also returns nil for code of a JVMCI compiler that has no decisions: such a compiler need not report any.
func (c *Reader) Decided(r Ref) *decisions.Code {
	b := c.Blob(r)
	if !b.Kind.Java() || b.Compiler == "" || b.Compiler == "c1" && b.Level > 1 {
		return nil
	}
	j := c.jvms[r.JVM]
	if j.decided == nil || b.Compiler == "jvmci" && len(j.decided.byID[b.ID]) == 0 {
		return nil
	}
	code, ok := c.decided[r]
	if !ok {
		source := decisions.Source{Decided: j.decided.byID[b.ID], Sizes: j.bytecodeSizes, Limits: j.Log.InliningLimits,
			Notes:    c.Profiled(r).At,
			Complete: j.StartMonoNanos+b.UptimeMillis*1e6-inCompilationNanos >= j.decided.from}
		code = decisions.Of(c.Listing(r), &source)
		c.decided[r] = code
	}
	return code
}

// bytecodeSizes returns the sizes of the bytecode of all compiled methods with a name, in bytes, each once.
func (j *JVM) bytecodeSizes(method string) []int {
	if j.sizes == nil {
		j.sizes = map[string][]int{}
		for i := range j.Log.Blobs {
			if b := &j.Log.Blobs[i]; b.BytecodeSize > 0 && !slices.Contains(j.sizes[b.Name], b.BytecodeSize) &&
				len(j.sizes[b.Name]) < maxSizes {
				j.sizes[b.Name] = append(j.sizes[b.Name], b.BytecodeSize)
			}
		}
	}
	return j.sizes[method]
}

// maxSizes limits the sizes that are kept for one name. Few methods are overloaded that often.
const maxSizes = 100
