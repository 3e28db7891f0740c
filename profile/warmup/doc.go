// Package warmup says what the JIT compilers of a profile's JVMs did: which compilations took longest, which methods
// took most of their time, which methods they compiled again and again, and where execution went from compiled code to
// the interpreter. It only reads events, see [Events].
//
// The tables are about the whole run of the JVMs, and not just about the windows, because most of the compilers' work
// is done before anything is measured. Compilations and deoptimizations that began within a window are marked.
//
// # What the sources know
//
// Flight Recorder has the compilations with their times and sizes, and the deoptimizations. HotSpot's log has the
// starts of all compilations from the start of the JVM, and when HotSpot stopped using code. Compilations from USDT
// probes have times, but no id and no level. An unknown number is 0, and each type with sums says how many numbers were
// known.
package warmup
