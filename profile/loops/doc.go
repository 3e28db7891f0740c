// Package loops says what a loop of machine code is, and how fast it could run at best: its vector width, unrolling,
// range checks, polls, calls and spills, and the longest chain of instructions in which each one waits for the result
// of the one before it, from one round of the loop to the next.
//
// A chain is a lower bound on the time of a round: no processor is faster than the sum of the latencies. The bound
// holds under these assumptions:
//
//   - Every load hits the L1 cache, and every jump is predicted. A loop that misses the cache is slower.
//   - Latencies are the lowest of the processors that the table in latency.go stands for. Moves between registers and
//     idioms that set a register to zero take no time.
//   - Chains through memory are not followed, so a loop that stores a value and loads it again may be slower.
//   - Rounds take one of the usual paths through the loop. Where paths differ, the bound is that of the fastest one.
//     Detours with calls, and those with hardly any samples, are left out, which [Bound.Usual] says.
//
// The analysis knows x86-64, in both syntaxes. Of aarch64 it only counts what is in a loop. If a path has an instruction
// that the table does not know, there is no bound.
package loops
