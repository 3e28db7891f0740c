// Package decisions finds out which calls in a piece of compiled code were inlined, and why the others were not.
//
// Inlined methods appear in the frames of the code. For each remaining call instruction, the package looks for the
// compiler's decision about its bytecode in the same compilation (event.Inlined), and for the receivers in HotSpot's
// profile (package jitprofile):
//
//   - A decision against inlining has the compiler's reason. [Call.Reason] adds the callee's size and the limit that it
//     exceeds, and [Call.Change] says what would make the compiler decide otherwise.
//   - If C2 has no likely receiver for a call, it leaves the call virtual without a decision, so there is no event.
//     Therefore the package assumes this of each call without a decision that looks up the method of the receiver's
//     class.
//   - If C2 has inlined the methods of the likely receivers, the remaining call is for all other receivers.
//
// If a method is inlined at several places, there are several decisions about each of its calls, and the events do not
// say which place they are about. If these decisions about a call disagree, the [Call] has the reasons of all of them.
package decisions
