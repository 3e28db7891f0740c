// Package decisions finds out what became of the calls in a piece of compiled code: which were inlined, and why the others
// were not.
//
// What was inlined is in the frames of the code. For each call instruction that is left, the package looks for what the
// compiler has decided about its bytecode in the same compilation (event.Inlined), and for what HotSpot's profile says
// about its receivers (package jitprofile):
//
//   - A decision against inlining has the compiler's reason. [Call.Reason] adds the callee's size and the limit that it
//     exceeds, and [Call.Change] says what would make the compiler decide otherwise.
//   - If C2 has no likely receiver for a call, it leaves the call virtual without a decision, so there is no event. So
//     a call without a decision that looks up the method of the receiver's class is such a call.
//   - If C2 has inlined the methods of the likely receivers, the call is for the others.
//
// A method that is inlined at several places has several decisions about each of its calls, and no event says about
// which place it is. If these decisions about a call disagree, the [Call] has the reasons of all of them.
package decisions
