// Package dtrace takes samples by running DTrace. [Start] makes DTrace sample the whole machine,
// [Tracer.Stop] ends the sampling, and package sampler reads the text that DTrace has printed. The
// package can also run a [Script] that asks DTrace for something else, and list probes ([List]).
//
// tracer.go starts and stops DTrace, output.go saves what DTrace prints, pause.go leaves out
// samples of pauses, keep_linux.go makes DTrace end when gasm is killed, and errors.go recognises
// what DTrace and sudo print when they refuse.
//
// DTrace runs [Program] and samples all processes. Only afterwards gasm finds out which samples
// belong to the command, by their pids. DTrace can't sample the command alone: on macOS a JVM can't
// be started under DTrace, and on both systems DTrace would miss a JVM's children. DTrace must run
// as root, for example by sudo -n. Start returns when the BEGIN probe has printed its mark, and
// Stop when the END probe has printed its own. Some traps:
//
//   - One SIGTERM ends DTrace: it prints the samples that it has, and then the END probe's line.
//     A second SIGTERM loses samples. If DTrace prints nothing for ten seconds after the
//     SIGTERM, it is killed. After the END probe's line DTrace takes up to ten seconds to end if
//     all CPUs are busy; [Tracer.Wait] waits for that.
//   - DTrace for Linux wakes up for each sample that it prints, and would take samples of this
//     work too. So the program leaves DTrace itself out, and gasm reads DTrace's text from a
//     small pipe only four times a second. In between, DTrace sleeps and its buffers fill. Run
//     in this way, it takes 3 to 17 % of a core at 1001 to 1997 Hz on two CPUs. Samples of the
//     kernel cost the most, because DTrace names their functions.
//   - When gasm is killed, nobody reads the pipe. On macOS, DTrace then ends by SIGPIPE at the
//     next sample. On Linux, DTrace ignores SIGPIPE, and a shell that waits for the end of gasm
//     sends it SIGTERM (keep_linux.go). Both also work if DTrace runs under sudo, on Linux as
//     long as sudo -n is permitted.
//   - Two failures are a [failure.StoppedError]; the file then has the samples that were taken
//     before. One is that the text can't be written to the file: DTrace goes on nevertheless.
//     The other is that sudo no longer permits gasm to stop DTrace.
//   - When a buffer (4 MB per CPU) has no room for samples, DTrace drops them and says
//     so on stderr while it samples: [Tracer.Lost].
//   - A DTrace for Linux that starts while another one starts or ends may find its own
//     BEGIN probe gone (this happened to about one in 25). gasm starts it again.
//   - Linux has no profile probe above 5000 Hz. DTrace then refuses, and does not choose
//     another frequency.
//   - SystemTap installs a script named dtrace too, which prints its usage on stdout.
//   - When a seccomp filter blocks the system call bpf, DTrace complains of the limit of locked
//     memory. That message is misleading, because the limit does not apply to root.
//   - During a pause DTrace goes on, and gasm leaves out the samples by their times, because
//     DTrace would take seconds to start again. See [Tracer.Pause].
package dtrace
