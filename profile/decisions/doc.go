// Package decisions finds out what became of the calls in a piece of compiled code: which were inlined, and why the others
// were not.
//
// What was inlined is in the frames of the code. For each call instruction that is left, the package looks for what the
// compiler has decided about its bytecode in the same compilation (event.Inlined), and for what HotSpot's profile says
// about its receivers (package jitprofile):
//
//   - A decision against inlining has the compiler's reason. [Call.Reason] adds the size of the callee and the limit that
//     it is above, and [Call.Change] says what would make the compiler decide otherwise.
//   - C2 decides nothing about a call for which it has no likely receiver. It leaves it virtual, and has no event of that.
//     So a call that looks for the receiver's method, without a decision, is such a call.
//   - If C2 has inlined the methods of the likely receivers, the call is for the others.
//
// A method that is inlined at several places has several decisions about each of its calls, and no event says about which
// place it is. If these decisions disagree about a call that the code has, it has all their reasons.
package decisions
