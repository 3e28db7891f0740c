package history

// A Warmth says when a JVM became warm, which means that most of its work was then done in code that the JIT compilers
// had finished.
//
// Work is the samples in the code cache and in the threads of the JIT compilers. The garbage collector and the other
// threads of the JVM, native code and the kernel are left out. Cold work is the part of it in the interpreter, in code
// of C1 that collects a profile for C2 (levels 2 and 3), or in the threads of the JIT compilers. A JVM is warm from the
// first moment after which less than [MaxCold] of the work is cold in each of these ranges:
//
//   - the first bin,
//   - every range that begins at that moment and has at least [leastPart] samples, and
//   - each fifth of the samples of work that follow.
//
// So a short burst of cold code, such as the end of the program, does not count, but a phase of the program does. At
// least [LeastWarm] samples of work must follow the moment. Only the starts of bins are tried.
type Warmth struct {
	// Known is false if the JVM has fewer than LeastWarm samples of work, or if the compiler of much of the code is not
	// known. Then only Work, which counts all samples of work, and JITUnknown are set.
	Known bool
	// Warm is false if the JVM was not warm by the end.
	Warm          bool
	FromMonoNanos int64 // when the JVM became warm
	// AtOnce is true if the JVM was warm from its first bin on.
	AtOnce bool
	// Work is the number of samples of work from which shares are computed: those after FromMonoNanos or, if the JVM
	// was not warm by the end, those in the last fifth of the work.
	Work int64
	// Interpreted, C1, JIT and Other are the samples of Work in the interpreter, in C1's code of the levels 2 and 3, in
	// the threads of the compilers, and in all other code.
	Interpreted, C1, JIT, Other int64
	// JITUnknown is true if the sampler recorded no names of threads. Then JIT is 0, and does not count.
	JITUnknown bool
}

const (
	// MaxCold is the share of cold work below which a JVM is warm, from 0 to 1.
	MaxCold = 0.10
	// LeastWarm is the minimum number of samples of work. With fewer, Known is false.
	LeastWarm = 300
	leastPart = LeastWarm / fifths
	fifths    = 5
)

// Warmth returns when a JVM of the history became warm. Bins that begin after the given time on CLOCK_MONOTONIC do not
// count, because a JVM that ends runs new code after its measurement. If the time is 0, all bins count.
func (h *History) Warmth(j *JVM, toMonoNanos int64) Warmth {
	bins := j.All
	if toMonoNanos > 0 && h.StepNanos > 0 {
		bins = bins[:min(max(toMonoNanos-h.FromMonoNanos+h.StepNanos-1, 0)/h.StepNanos, int64(len(bins)))]
	}
	w := workOf(bins)
	n := len(w.cold) - 1
	last := Warmth{Work: w.work[n], JITUnknown: w.unnamed > 0}
	if w.work[n] < LeastWarm || float64(w.unknown) >= MaxCold*float64(w.work[n]) {
		return last
	}
	first := -1
	for t := 0; t < n && w.work[n]-w.work[t] >= LeastWarm; t++ {
		if w.work[t+1] == w.work[t] {
			continue
		}
		if first < 0 {
			first = t
		}
		if w.warmFrom(t) {
			warm := w.shares(bins, t)
			warm.Warm, warm.FromMonoNanos, warm.AtOnce = true, h.FromMonoNanos+int64(t)*h.StepNanos, t == first
			return warm
		}
	}
	from := 0
	for w.work[n]-w.work[from+1] >= w.work[n]/fifths {
		from++
	}
	return w.shares(bins, from)
}

// A work has sums over the bins of a JVM: cold[i] and work[i] are the cold work and all work before bin i.
type work struct {
	cold, work []int64
	unknown    int64 // number of samples in code of an unknown compiler
	unnamed    int64 // samples in native code in threads without names, minus those in all other threads
}

func workOf(bins []Counts) work {
	w := work{cold: make([]int64, len(bins)+1), work: make([]int64, len(bins)+1)}
	for i := range bins {
		b := &bins[i]
		cold := b[RanInterpreter] + b[RanC1Profiled] + b[RanJIT]
		w.cold[i+1] = w.cold[i] + cold
		w.work[i+1] = w.work[i] + cold + b[RanC1] + b[RanC2] + b[RanCompiled] + b[RanStub]
		w.unknown += b[RanCompiled]
		w.unnamed += b[RanUnnamed] - b[RanNative]
	}
	return w
}

// tooCold reports whether the bins [from, to) have too much cold work for a JVM that is warm.
func (w *work) tooCold(from, to int) bool {
	return float64(w.cold[to]-w.cold[from]) >= MaxCold*float64(w.work[to]-w.work[from])
}

// warmFrom reports whether the JVM was warm from bin t on.
func (w *work) warmFrom(t int) bool {
	if w.tooCold(t, t+1) {
		return false
	}
	n := len(w.work) - 1
	whole := w.work[n] - w.work[t]
	start, fifth := t, int64(1) // start and number of the current fifth
	for end := t + 1; end <= n; end++ {
		done := w.work[end] - w.work[t]
		if done >= leastPart && w.tooCold(t, end) {
			return false
		}
		if done*fifths >= fifth*whole && w.work[end] > w.work[start] {
			if w.tooCold(start, end) {
				return false
			}
			start, fifth = end, done*fifths/whole+1
		}
	}
	return true
}

// shares returns a Warmth with the samples of work in bins[from:]: all of them (Work) and those of each kind.
func (w *work) shares(bins []Counts, from int) Warmth {
	out := Warmth{Known: true, JITUnknown: w.unnamed > 0, Work: w.work[len(w.work)-1] - w.work[from]}
	for i := range bins[from:] {
		b := &bins[from+i]
		out.Interpreted += b[RanInterpreter]
		out.C1 += b[RanC1Profiled]
		out.JIT += b[RanJIT]
	}
	out.Other = out.Work - out.Interpreted - out.C1 - out.JIT
	return out
}
