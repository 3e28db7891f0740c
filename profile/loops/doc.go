// Package loops describes loops of machine code: their vector width, unrolling, range checks, polls, calls and spills.
// It also computes how fast a loop could run at best. For that, it finds the longest chain of instructions, from one
// round of the loop to the next, in which each instruction waits for the result of the one before it.
//
// A chain is a lower bound on the time of a round: no processor is faster than the sum of the latencies. The bound
// holds under these assumptions:
//
//   - Every load hits the L1 cache, and every jump is predicted. A loop that misses the cache is slower.
//   - For each latency, the lowest one of the processors in the table in latency.go is taken. Moves between registers,
//     and idioms that set a register to zero, take no time.
//   - Chains through memory are not followed, so a loop that stores a value and loads it again may be slower.
//   - Rounds take one of the usual paths through the loop. Where paths differ, the bound is that of the fastest one.
//     Detours with calls, and those with hardly any samples, are left out; then [Bound.Usual] is true.
//
// The analysis knows x86-64, in both syntaxes. For aarch64 it only counts the kinds of instructions in a loop. If a
// path has an instruction that the table does not know, there is no bound.
package loops
