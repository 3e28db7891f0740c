// Package dtrace takes samples by running DTrace: [Start] has DTrace sample the whole machine,
// [Tracer.Stop] ends that, and package sampler reads the text. It can also run a [Script] that asks
// DTrace for something else, and list probes ([List]).
//
// tracer.go starts and stops DTrace, output.go saves what DTrace prints, pause.go leaves out samples of
// pauses, keep_linux.go makes DTrace end when gasm is killed, and errors.go knows what DTrace and sudo
// print when they refuse.
//
// DTrace runs [Program] and samples all processes. Which samples belong to the
// command is found out afterwards, by their pids: on macOS a JVM can't be started
// under DTrace, and on both systems DTrace would miss a JVM's children. DTrace needs
// root, or sudo -n. Start returns when the BEGIN probe has printed its mark,
// Stop when the END probe has. Some traps:
//
//   - One SIGTERM ends DTrace: it prints the samples that it has, then the END probe's
//     line. A second SIGTERM loses samples. A DTrace that prints nothing for ten seconds
//     after the first one is killed. After the END probe's line DTrace takes up to ten
//     seconds to end if all CPUs are busy; [Tracer.Wait] waits for that.
//   - DTrace for Linux wakes up for each sample that it prints, and samples itself
//     doing so. So the program leaves DTrace itself out, and gasm fetches DTrace's
//     text from a small pipe four times a second. In between DTrace sleeps and its
//     buffers fill. It then takes 3 to 17 % of a core at 1001 to 1997 Hz on two CPUs.
//     Samples of the kernel cost the most, because DTrace names their functions.
//   - When gasm is killed, nobody reads the pipe. The next sample ends DTrace by
//     SIGPIPE, also when it runs under sudo.
//   - DTrace goes on when its text can't be written, and sudo's permission may have
//     run out when DTrace is to be stopped. Both are a [failure.StoppedError], with the
//     samples until then in the file.
//   - When a buffer (4 MB per CPU) has no room for samples, DTrace drops them and says
//     so on stderr while it samples: [Tracer.Lost].
//   - A DTrace for Linux that starts while another one starts or ends may find its own
//     BEGIN probe gone (this happened to about one in 25). gasm starts it again.
//   - Linux has no profile probe above 5000 Hz. DTrace then refuses, and does not choose
//     another frequency.
//   - SystemTap installs a script named dtrace too, which prints its usage on stdout.
//   - When a seccomp filter blocks bpf, DTrace complains of the limit of locked memory,
//     which does not apply to root.
//   - To pause, DTrace goes on and its samples are left out, by their times, because DTrace would
//     take seconds to start again. See [Tracer.Pause].
package dtrace
