package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/callsites"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// readInlining reads what the compilers have decided about the calls in sampled code.
func (b *Builder) readInlining(c *capture.Capture) (notes []string) {
	sampled := map[jvmcode.Ref]bool{}
	for _, t := range b.trials {
		for key := range t.code {
			sampled[jvmcode.Ref{JVM: key.jvm, Index: key.blob}] = true
		}
	}
	return b.jvms.ReadInlining(c, sampled)
}

// mostCallers limits the number of pieces of code whose calls are listed in Profile.Calls.
const mostCallers = 200

// calls returns the calls in the hot code of a profile. It returns nil if the compilers' decisions were not recorded.
func (w *work) calls(p *Profile, merged []*mergedCode) *callsites.Table {
	table := callsites.NewBuilder(w.n)
	var called map[[2]uint64]tally.Counts // by JVM and return address
	n := 0
	for i, from := range byTotal(merged, w.n) {
		if n == mostCallers {
			break
		}
		if w.opts.Skips(from.Kind) || p.Share(from.total) < leastListed && i > 0 || w.code.Decided(from.Ref) == nil {
			continue
		}
		if called == nil {
			called = w.calledFrom()
		}
		n++
		lines, _ := from.lines(w.code.Listing(from.Ref), w.code, w.n)
		piece := callsites.Piece{Source: from.Source(), Method: from.Name, CompileID: from.ID, PID: from.pid,
			Code: w.code.Decided(from.Ref), Lines: lines}
		if w.trial.stacks != nil {
			piece.Called = func(returns uint64) tally.Counts {
				sum := make(tally.Counts, w.n)
				for _, s := range from.blobs {
					sum.Add(called[[2]uint64{uint64(s.JVM), returns - from.Lo + s.Lo}])
				}
				return sum
			}
		}
		table.Add(&piece)
	}
	t := table.Table()
	if t == nil && n > 0 {
		w.warnf("the compilers' decisions about calls were recorded, but there is no table of calls: the hot code has none, or no frames to match them with")
	}
	return t
}

// A totalledCode is merged code with its samples in all forks.
type totalledCode struct {
	*mergedCode
	total tally.Counts
}

// byTotal sorts merged code by its samples in all forks, hottest first.
func byTotal(merged []*mergedCode, counters int) []totalledCode {
	all := make([]totalledCode, len(merged))
	for i, from := range merged {
		all[i] = totalledCode{from, make(tally.Counts, counters)}
		for _, s := range from.blobs {
			all[i].total.Add(s.counts)
		}
	}
	slices.SortStableFunc(all, func(a, b totalledCode) int { return tally.Compare(a.total, b.total) })
	return all
}

// calledFrom counts the samples in compiled code by the JVM and the address to which the code returns.
func (w *work) calledFrom() map[[2]uint64]tally.Counts {
	called := map[[2]uint64]tally.Counts{}
	if w.trial.stacks == nil {
		return called
	}
	w.trial.stacks.Each(w.n, func(k calltree.Key[spot], c tally.Counts) {
		if k.Spot.jvm < 0 || !w.code.Blob(k.Spot.ref()).Kind.Java() {
			return
		}
		if f, _ := w.b.stacks.Frame(k.Stack); f != nil && f.CompileID > 0 {
			tally.AddTo(called, [2]uint64{uint64(k.Spot.jvm), f.PC}, c, w.n)
		}
	})
	return called
}
