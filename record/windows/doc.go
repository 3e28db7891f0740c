// Package windows finds out at which times and in which JVMs a command is measured. A window is a time in which a
// process is measured. A trial is what was measured, for example a JMH benchmark; it has one or more windows.
//
// The first of these rules that applies determines the trials and their windows ([Rules.Trials]):
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
// While the command runs, a [Keeper] pauses and resumes the sampling as windows close and open.
package windows
