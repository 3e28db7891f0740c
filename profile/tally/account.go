package tally

// An Account says where the samples of one counter went. Each of its fields is a number of samples. A trial is what was
// measured, such as one JMH benchmark, and its windows are the times of the measurement. The sums are:
//
//	Total    = OtherProcess + OtherJVM + OtherTrial + OutsideWindow + OtherThread + OutsideMethod + NotUnder + Printing + Lost + Profiled
//	Profiled = Compiled + Stub + Interpreter + Native + Kernel + Unresolved
//	Profiled = Whole + Cut + Frozen + Unwalked, unless the profile has no call stacks
type Account struct {
	Total         int64
	OtherProcess  int64 // of processes other than the command's JVMs
	OtherJVM      int64 // of those JVMs of the command that ran another program, were not measured, or were not chosen
	OtherTrial    int64 // of the JVMs of other trials, inside or outside their windows
	OutsideWindow int64 // of this trial's JVMs, taken before, between or after the trial's windows
	OtherThread   int64 // in the windows, but of threads that were not chosen
	OutsideMethod int64 // in the windows, but taken while the thread was not in the chosen method
	NotUnder      int64 // in the windows, but without the chosen method among their frames
	Printing      int64 // in the windows, but taken while HotSpot printed code for gasm, see package profile/printing
	Lost          int64 // dropped by the sampler, as the sampler itself reports
	Profiled      int64 // in the profile

	Compiled    int64 // compiled Java methods, and the wrappers of native methods
	Stub        int64 // stubs, adapters, runtime blobs
	Interpreter int64
	Native      int64 // libjvm, libc, the program's own libraries
	Kernel      int64
	Unresolved  int64 // at addresses that are in or near the code cache, but in no blob of the log

	Whole    int64 // with a call stack that has all frames
	Cut      int64 // with a stack whose outer frames were not copied
	Frozen   int64 // with a stack whose outer frames were those of a virtual thread, in the heap
	Unwalked int64 // with a stack whose outer frames could not be found, or without one
}

// Balanced reports whether all sums of the account hold.
func (a Account) Balanced() bool {
	return a.Total == a.Others()+a.OutsideWindow+a.OtherThread+a.OutsideMethod+a.NotUnder+a.Printing+a.Lost+a.Profiled &&
		a.Profiled == a.Compiled+a.Stub+a.Interpreter+a.Native+a.Kernel+a.Unresolved &&
		(a.Stacks() == 0 || a.Stacks() == a.Profiled)
}

// Others returns the number of samples of processes that are not JVMs of this profile.
func (a Account) Others() int64 { return a.OtherProcess + a.OtherJVM + a.OtherTrial }

// Stacks returns the number of samples for which it is known whether their call stack is whole. It is 0 if the profile
// has no call stacks.
func (a Account) Stacks() int64 { return a.Whole + a.Cut + a.Frozen + a.Unwalked }
