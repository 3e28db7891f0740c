// Package windows says when a command is measured: which times are its windows, of which JVMs, and which trials they
// belong to.
//
// A trial has windows, and each window belongs to a process. The first of these rules that applies determines them
// ([Rules.Trials]):
//
//   - a delay and a length ([Rules.Delay], [Rules.Length]);
//   - lines of the command's output that match the user's expressions ([Output]);
//   - a file that the program writes its windows to (file.go), as gasm's profiler for JMH does;
//   - JMH's progress lines (jmh.go), on stdout or in the file that JMH's -o names (jmhfile.go);
//   - the whole run.
//
// If JMH writes its results as JSON, the scores of the trials come from there (jmhresult.go). Otherwise they come from
// JMH's lines or from the window file.
//
// While the command runs, a [Keeper] switches the sampling as windows open and close.
package windows
