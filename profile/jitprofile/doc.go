// Package jitprofile finds out what HotSpot's own profile says about the instructions of a piece of code, and how C2
// has used it. For example, it finds the classes of a call's receivers, and whether the call was inlined.
//
// The profile ([printassembly.MethodProfile]) belongs to a method, not to a place in the code: it counts all calls of
// the method while it was profiled. So if a method is inlined into several others, its profile is a mix of them all,
// and a [Note] says so. The profile is from the time before C2 compiled the method, because C2's code does not update
// the profile.
//
// A Note says whether a call was inlined only if the code shows it: frames of the callee at the call's bytecode, or a
// call instruction.
package jitprofile
