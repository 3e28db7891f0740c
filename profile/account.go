package profile

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// An Account says where the samples of one counter went. Each of its fields is a number of samples. A trial is what was
// measured, such as one JMH benchmark, and its windows are the times of the measurement. The sums are:
//
//	Total    = OtherProcess + OtherJVM + OtherTrial + OutsideWindow + OtherThread + OutsideMethod + Printing + Lost + Profiled
//	Profiled = Compiled + Stub + Interpreter + Native + Kernel + Unresolved
type Account struct {
	Total         int64
	OtherProcess  int64 // of processes other than the command's JVMs
	OtherJVM      int64 // of those JVMs of the command that ran another program, were not measured, or were not chosen
	OtherTrial    int64 // of the JVMs of other trials, inside or outside their windows
	OutsideWindow int64 // of this trial's JVMs, taken before, between or after the trial's windows
	OtherThread   int64 // in the windows, but of threads that [Options.Threads] leaves out
	OutsideMethod int64 // in the windows, but taken while the thread was not in [Options.WindowMethod]
	Printing      int64 // in the windows, but taken while HotSpot printed code for gasm, see package printing
	Lost          int64 // dropped by the sampler, according to the sampler
	Profiled      int64 // in the profile

	Compiled    int64 // compiled Java methods, and the wrappers of native methods
	Stub        int64 // stubs, adapters, runtime blobs
	Interpreter int64
	Native      int64 // libjvm, libc, the program's own libraries
	Kernel      int64
	Unresolved  int64 // at addresses that are in or near the code cache, but in no blob of the log
}

// Balanced reports whether both sums of the account hold.
func (a Account) Balanced() bool {
	return a.Total == a.Others()+a.OutsideWindow+a.OtherThread+a.OutsideMethod+a.Printing+a.Lost+a.Profiled &&
		a.Profiled == a.Compiled+a.Stub+a.Interpreter+a.Native+a.Kernel+a.Unresolved
}

// Others returns the number of samples of processes that are not JVMs of this profile.
func (a Account) Others() int64 { return a.OtherProcess + a.OtherJVM + a.OtherTrial }

// accounts returns the account of each counter. The parts of Profiled are summed up from the same maps as everything
// else in the profile, but Profiled itself was counted sample by sample. So an account that is balanced shows that no
// sample of the profile is missing from its tables.
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
			OtherThread: excluded[otherThread][e], OutsideMethod: excluded[outsideMethod][e], Printing: excluded[ofPrinting][e]}
		a.OtherProcess = total[e] - jvms.named[e] - jvms.unnamed[e]
		a.OtherTrial = jvms.named[e] - own.named[e]
		a.OtherJVM = jvms.unnamed[e] - own.unnamed[e]
		a.OutsideWindow = own.named[e] + own.unnamed[e] - inside[e] - a.OtherThread - a.OutsideMethod - a.Printing
	}
	w.addCode(accounts)
	return accounts
}

// addCode sets the rows from Compiled to Unresolved, which say in what kind of code the samples were. Kernel is already
// set.
func (w *work) addCode(accounts []Account) {
	for key, c := range w.trial.code {
		kind := w.code.blob(blobRef{key.jvm, key.blob}).Kind
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

// jvmTotals are the sums of all samples of JVMs, inside or outside their windows. named is the sum over the JVMs that
// belong to a trial with a name; unnamed is the sum over all other JVMs.
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
