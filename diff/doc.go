// Package diff compares two profiles of a program: which methods, frames and
// regions have another share of the samples than before by more than chance
// would give them, and how their machine code differs.
//
// # What is noise
//
// A profile is a sample. Two runs of the same program differ by chance, so a
// change counts only above a threshold: [Noise] times the standard error of
// the difference of two shares, and at least [Options.MinChange]. The standard
// error is that of drawing samples at random, or what the forks of a benchmark
// or the slices of its time show by themselves where that is more. The factor
// grows with the number of rows that could change, so that all rows together
// stay below a chance of one in a hundred. With one fork on each side, what
// differs from one JVM to the next is not in it: heap layout, what C2 made of
// its first impressions, the machine's other work.
//
// # How code is compared
//
// Methods go together by source and name, frames by name. The regions of a
// method are paired by how much of their code is the same, with what differs
// from run to run left out: addresses, constants near the program counter,
// embedded objects and classes, padding. A pair's code counts as different
// when samples lie on instructions that the other side has not; other
// registers or stack slots alone do not make it different, though the listing
// shows them.
package diff
