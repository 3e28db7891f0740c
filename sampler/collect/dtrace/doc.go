// Package dtrace takes samples by running DTrace. [Start] makes DTrace sample the whole machine,
// and [Tracer.Stop] ends the sampling. Package sampler reads the text that DTrace has printed.
// Package dtrace can also run a [Script] that asks DTrace for something else, and list probes
// ([List]).
//
// tracer.go starts and stops DTrace, and output.go saves what DTrace prints. pause.go leaves out
// samples that were taken in a pause. keep_linux.go makes DTrace end when gasm is killed. errors.go
// recognises what DTrace and sudo print when they refuse to run.
//
// DTrace runs [Program] and samples all processes. Afterwards gasm finds out from the pids which samples belong to the
// command. DTrace can't sample the command alone: on macOS a JVM can't be started under DTrace, and on both systems
// DTrace would miss a JVM's children. DTrace must run as root, for example by sudo -n. Start returns as soon as the
// BEGIN probe has printed its mark. Stop returns when the END probe has printed another mark. Some traps:
//
//   - One SIGTERM ends DTrace: it prints the samples that it has, and then the mark of the END
//     probe. A second SIGTERM would lose samples. If DTrace prints nothing for ten seconds after
//     the SIGTERM, gasm kills it. After the mark, DTrace takes up to ten more seconds to end if all
//     CPUs are busy; [Tracer.Wait] waits for that.
//   - DTrace for Linux wakes up for each sample that it prints, and would sample itself doing this.
//     So the program leaves DTrace itself out, and gasm reads DTrace's text from a small pipe only
//     four times a second. In between, DTrace sleeps and its buffers fill. With these two measures
//     DTrace takes 3 to 17 % of a core, at 1001 to 1997 Hz on two CPUs. Samples of the kernel cost
//     the most, because DTrace looks up the names of their functions.
//   - When gasm is killed, nobody reads the pipe any more. On macOS, SIGPIPE then ends DTrace at
//     the next sample. On Linux, DTrace ignores SIGPIPE, so a shell waits for the end of gasm and
//     then sends SIGTERM to DTrace (keep_linux.go). Both also work if DTrace runs under sudo, but
//     on Linux only as long as sudo -n is permitted.
//   - If the text can't be written to the file, DTrace goes on, and Stop returns a
//     [failure.StoppedError]. The same error is returned if sudo no longer permits gasm to stop
//     DTrace. In both cases the file has the samples that were taken before.
//   - DTrace has a buffer of 4 MB for each CPU. When a buffer is full, DTrace drops samples and
//     says so on stderr. [Tracer.Lost] returns how many.
//   - If a DTrace for Linux starts while another one starts or ends, it may not find its own BEGIN
//     probe. This happens to about one in 25. gasm then starts DTrace again.
//   - On Linux there is no profile probe above 5000 Hz. If gasm asks for more, DTrace refuses: it
//     does not choose another frequency.
//   - SystemTap also installs a script named dtrace. It prints its usage on stdout.
//   - If a seccomp filter blocks the system call bpf, DTrace complains about the limit of locked
//     memory. That message is misleading, because the limit does not apply to root.
//   - During a pause DTrace goes on sampling, because it would take seconds to start again. gasm
//     leaves out the samples of the pause by their times. See [Tracer.Pause].
package dtrace
