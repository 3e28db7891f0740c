package profile

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// An Account says where the samples of one counter went.
type Account = tally.Account

// accounts returns the account of each counter. The row Profiled was counted while the samples were added, one by one.
// The rows that divide it (by kind of code, for example) are summed up only now, from the maps from which the tables of
// the profile are made. So if these rows add up to Profiled, no sample is missing from the tables.
func (w *work) accounts(jvms jvmTotals) []Account {
	t := w.trial
	own := newJVMTotals(w.n) // the totals of this trial's JVMs
	for _, pid := range t.PIDs {
		own.add(w.b.processes[pid])
	}
	total, lost, inside, kernel := w.counts(w.b.totals), w.counts(w.b.lost), w.counts(t.inside), w.counts(t.kernel)
	var excluded [exclusions]tally.Counts
	for why, c := range t.excluded {
		excluded[why] = w.counts(c)
	}
	accounts := make([]Account, w.n)
	for e := range accounts {
		a := &accounts[e]
		*a = Account{Total: total[e] + lost[e], Lost: lost[e], Profiled: inside[e], Kernel: kernel[e],
			OtherThread: excluded[otherThread][e], OutsideMethod: excluded[outsideMethod][e], NotUnder: excluded[notUnder][e],
			Printing: excluded[ofPrinting][e]}
		a.OtherProcess = total[e] - jvms.named[e] - jvms.unnamed[e]
		a.OtherTrial = jvms.named[e] - own.named[e]
		a.OtherJVM = jvms.unnamed[e] - own.unnamed[e]
		a.OutsideWindow = own.named[e] + own.unnamed[e] - inside[e] - a.OtherThread - a.OutsideMethod - a.NotUnder -
			a.Printing
	}
	w.addCode(accounts)
	if t.stacks != nil {
		whole, cut, frozen, unwalked :=
			w.ends(calltree.Whole), w.ends(calltree.Cut), w.ends(calltree.Frozen), w.ends(calltree.Unwalked)
		for e := range accounts {
			a := &accounts[e]
			a.Whole, a.Cut, a.Frozen, a.Unwalked = whole[e], cut[e], frozen[e], unwalked[e]
		}
	}
	return accounts
}

// ends returns the number of samples whose stacks end as e says: whole, cut, frozen or unwalked.
func (w *work) ends(e calltree.End) tally.Counts { return w.counts(w.trial.stacks.Ends(e)) }

// addCode sets the rows Compiled, Interpreter, Stub, Native and Unresolved: the kinds of code that the samples were in.
// The row Kernel is already set.
func (w *work) addCode(accounts []Account) {
	for key, c := range w.trial.code {
		kind := w.code.Blob(jvmcode.Ref{JVM: key.jvm, Index: key.blob}).Kind
		for e, n := range c {
			switch {
			case kind.Java():
				accounts[e].Compiled += n
			case kind == printassembly.Interpreter:
				accounts[e].Interpreter += n
			default:
				accounts[e].Stub += n
			}
		}
	}
	for key, c := range w.trial.native {
		if w.b.functions.At(key.function).Module == kernelModule {
			continue
		}
		for e, n := range c {
			accounts[e].Native += n
		}
	}
	for _, c := range w.trial.unresolved {
		for e, n := range c {
			accounts[e].Unresolved += n
		}
	}
}

// jvmTotals count all samples of JVMs, inside or outside their windows. named is the sum over the JVMs that belong to a
// trial with a name; unnamed is the sum over all other JVMs.
type jvmTotals struct{ named, unnamed tally.Counts }

func newJVMTotals(counters int) jvmTotals {
	return jvmTotals{make(tally.Counts, counters), make(tally.Counts, counters)}
}

func (t *jvmTotals) add(p *process) {
	if p.Named() {
		t.named.Add(p.samples)
	} else {
		t.unnamed.Add(p.samples)
	}
}
