package top

import "time"

// What a Model keeps is limited. Programs do not reach most of these limits; anything beyond them is counted, but
// without its details.
const (
	maxPending   = 1 << 18  // samples that wait for a Tick; further ones count as lost
	maxFunctions = 1 << 16  // native functions; further ones have no name; from 2*maxFunctions on: otherFunctions
	maxThreads   = 1 << 14  // threads; the further ones of a JVM count as one thread for each kind of threads
	maxStacks    = 1 << 18  // call stacks; beyond that, only those of the last seconds are kept
	maxKeys      = 1 << 17  // keys since the start; beyond that, stacks are dropped, then the coldest keys are merged
	maxText      = 96 << 20 // bytes of code that is not decoded
	maxDecoded   = 1 << 18  // decoded instructions
	maxFrames    = 1 << 18  // addresses whose inlined methods are kept; more than maxKeys
	maxSources   = 1 << 16  // classes of a JVM whose source files are kept
	maxEnded     = 16       // JVMs that have ended; the samples of older ones count, but they are not listed any more
	maxHistory   = 10 * 60  // seconds of the load that a sparkline can show
	maxEvents    = 500
	// If the code of a sample is not known, it is looked for again in each of the next unresolvedTicks Ticks. That is done
	// for up to maxUnresolved samples of each second.
	maxUnresolved   = 1 << 12
	unresolvedTicks = 10
	// leastRing is the smallest number of seconds for which a Model keeps the samples of each second apart. It is the
	// longest time that [Decaying] looks back.
	leastRing = 30
)

// settleNanos is how old a sample must be to be resolved. gasm top gets a sample up to 150 ms after it was taken,
// and the code of its method is copied some milliseconds later. A younger sample waits for the next Tick. gasm watch
// gets samples up to a second late; those whose code is not known then are resolved in one of the next Ticks.
const settleNanos = 250e6

// Settle is settleNanos as a Duration. A Tick that comes this long after the sampling began is the start of the first
// whole second.
const Settle = time.Duration(settleNanos)
