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
// That standard error covers only random sampling. The shares of a benchmark can also differ from
// fork to fork, or from one slice of its time to the next. So a second standard error is estimated
// from those differences, and multiplied by a factor of its own ([Noise].SpreadFactor). The larger
// of the two products counts.
//
// Both factors grow with the number of rows that are large enough to change. If two runs of the
// same program are compared a hundred times, only one of these comparisons should show any row at
// all (a Bonferroni correction).
//
// If a side has only one fork, the threshold can't include the differences between one JVM and the
// next. Such differences come from the layout of the heap, from what HotSpot knew about the program
// when C2 compiled it, and from other work on the machine.
//
// # How code is compared
//
// Methods are paired by source and name, frames by name. The regions of a method are paired by how
// much of their code is the same (pair.go). Package asm compares two pieces of code. First it
// replaces everything that differs from run to run, such as addresses.
//
// The code of a pair counts as different when there are samples on instructions that the other side
// does not have. Code in which only registers or stack slots changed does not count as different,
// although the listing shows the change.
//
// # Formats
//
// A [Result] is written as text, as Markdown, as JSON, or as a page for a browser (html.go, with
// html.tmpl, html.css and html.js). Only the JSON has everything. The page shows the same listings
// as the JSON, with A's instructions beside B's, and cuts them into blocks (htmlcode.go). The
// blocks that changed come first, sorted by their change. If both sides have call stacks, the page has a flame graph of
// both (calls.go and calls.js, and the scripts of package htmlpage).
package diff
