// Package diff compares two profiles of a program, A and B. It finds the methods,
// frames and regions whose share of the samples changed by more than chance explains,
// and shows how their machine code differs.
//
// # What counts as noise
//
// A profile is a sample, so two runs of the same program differ by chance. A change of
// a share is shown only when it reaches a threshold: at least [Options].MinChange, and
// at least [Noise].Factor times the standard error of the difference of the two shares.
//
// This standard error is the one that random sampling causes. The shares of a benchmark can also
// differ from fork to fork, or from one slice of its time to the next. A second standard error is
// estimated from these differences, with a factor of its own ([Noise].SpreadFactor). The larger of
// the two products counts.
//
// The factor grows with the number of rows that are large enough to change. It is chosen so
// that of a hundred comparisons of two runs of the same program, only one shows any row at
// all (a Bonferroni correction).
//
// With one fork on each side, the differences between one JVM and the next are not part of
// the threshold. Such differences come from the heap's layout, from what HotSpot knew about
// the program when C2 compiled it, and from what else the machine did at the time.
//
// # How code is compared
//
// Methods are paired by source and name, frames by name. The regions of a method are paired by how
// much of their code is the same (pair.go). Package asm compares two pieces of code. Before it does
// so, it replaces everything that differs from run to run, such as addresses.
//
// The code of a pair counts as different when there are samples on instructions that the
// other side does not have. Other registers or other stack slots alone do not make code
// different, although the listing shows them.
//
// # Formats
//
// A [Result] is written as text, as Markdown, as JSON, or as a page for a browser (html.go, with
// html.tmpl, html.css and html.js). Only the JSON has everything. The page has the same listings as
// the JSON, with A's instructions beside B's, cut into blocks (htmlcode.go). It lists the blocks
// that changed first, sorted by their change.
package diff
