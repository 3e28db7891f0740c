// Package report writes profiles in all formats of reports: text, JSON, pprof's format, collapsed stacks, and a page
// for a browser. It also writes annotated logs and lists of events.
//
// [Formats] is the list of the formats of reports. Each of them writes what profile.Of returns, and opens no files. The
// formats are in packages of their own, which do not know one another: text, page (the page for a browser), and stacks
// (pprof and collapsed stacks); schema has the types of the JSON. What several of them need is below them: amount has
// shares and amounts per operation, names has commands, programs and source files.
package report
