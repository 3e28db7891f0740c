// Package calltree counts samples by their call stacks, and sums them up as trees.
//
//   - A [Counter] counts samples one by one. It has a limit, so that its memory does not grow with the samples.
//   - A [Set] has what a Counter has counted, and knows the frames of each sample: those of the sampled code itself,
//     which the stack does not have (see package callstack), and those of the stack.
//   - A [Tree] is made from a Set. [Set.TopDown] begins with the threads, and goes from callers to callees.
//     [Set.Callers] begins with the code in which samples were taken, and goes from callees to callers.
//   - [Set.Totals] has the samples of each method with everything that it has called, and [Set.Split] divides the
//     samples between callers.
//
// In a tree, all frames of a method or function become one, whatever its line was, and whether it was compiled, inlined
// or interpreted. A node says which of these its frames were, and their line if all of them have the same one.
//
// The samples of a node are exactly those of its children, those that end at the node itself, and those of children
// that were left out because they have too few.
package calltree
