// Package report writes profiles in all formats of reports: text, JSON, pprof's format, collapsed stacks, and a page
// for a browser. It also writes annotated logs and lists of events.
//
// [Formats] is the list of the formats of reports. Each of them writes what profile.Of returns, and opens no files. The
// formats are in packages of their own, which do not import one another: text, page (the page for a browser), and
// stacks (pprof and collapsed stacks). Package schema has the types of the JSON. Three further packages have what
// several formats need: amount for shares and amounts per operation, names for commands, programs and source files, and
// callers for trees of calls as lines of text.
package report
