// Package collect takes samples of running processes by the kernel's perf events: gasm either opens the events itself
// or runs perf, and saves the samples as text. The samplers that don't use perf events are in packages below it.
// Package sampler reads all these texts.
//
//   - Native sampling: [StartNative] opens events on a process that is held before its exec,
//     [AttachNative] on one that already runs (native_linux.go). drain_linux.go turns the
//     kernel's records into text, and kallsyms_linux.go names the kernel's functions. A [Stream]
//     hands out the samples while they are taken.
//   - perf: [StartPerf] attaches perf to a process that is held before its exec, [Perf.Stop] ends the recording, and
//     [Perf.WriteText] turns the recording into text (perf.go; perfrecord.go starts perf, perfwrite.go writes the
//     text).
//   - DTrace: package dtrace.
//   - Instruments' xctrace: package xctrace.
//
// Both samplers here have the same [Options], choose the same events if the user names none
// (perfevents.go), and are refused for the same reasons (perferrors.go, nativeerrors_linux.go). The
// four samplers share what is in other packages below this one: running a program (external), the
// errors (failure), and what the machine says about itself (machine).
//
// [ChooseRate] (rate.go; cost_linux.go measures what a sample costs) chooses how often to sample when the user does not
// say. With [Options].Drawn, the frequency of a recording is then drawn at random, from 3 to 10 % above or below the
// chosen one. Otherwise a program with the same period as the timer of a clock event, which is fixed, would be sampled
// in the same part of its work again and again. A thread that was in each of two methods for half of every 2 ms was
// measured with 0 to 96 % for one of them at 501 Hz, and with 48 to 51 % at drawn frequencies. perf record -F has a
// fixed frequency too. DTrace is not asked for a drawn frequency, because the name of its probe contains the frequency.
// The name would then be different in each capture.
//
// The package prints nothing.
//
// # Native sampling
//
// Package sampler/perfevent has the kernel's interface, and describes its traps. The drain empties the kernel's buffers
// every 0.8 s, or more often if a Stream asks for that, or as soon as one of them is half full. It looks up all names
// at that time. Names of threads come from the kernel's records of new threads and names. Names of functions come from
// the files in the records of mappings (package native), and those of the kernel from /proc/kallsyms. So the text is
// complete as soon as the command has ended. Some traps:
//
//   - perf's tables have names of events that the kernel does not know (mem_load_retired.l1_miss). Such an event can
//     only be sampled by perf.
//   - The timer of cpu-clock starts afresh with each thread, with a whole period. A thread that runs for less than a
//     period is never sampled, neither by perf nor by gasm.
//   - EACCES comes from the kernel's rules (perf_event_paranoid, another user's process), EPERM
//     from a filter of system calls. If the user may not see the kernel, gasm
//     samples user space only, names the event with u as perf does, and says so.
//   - The stubs of imported functions (memset@plt) have no names, because no symbol table
//     has them.
//
// # Running perf
//
// perf follows the held process's first thread (-t with --inherit), and all threads
// and processes that descend from it. perf is not the parent of the command: when perf
// fails or dies, the command goes on. StartPerf returns when perf has confirmed that
// it samples, so no sample of the command is missed. Some traps:
//
//   - On a machine without a counter of cycles, perf asked for cycles opens a clock and
//     says nothing: perf 6.1 opens cpu-clock, perf 6.12 and 7.2 task-clock. gasm sees that
//     there is no counter and asks for cpu-clock itself, so all versions do the same.
//     perfevents.go still compares what perf opened, which is in the header of
//     perf.data, with what it was asked for: [Perf.Events] and [Perf.Notes] report it.
//   - perf 7 leaves out events that it can't open and samples the rest. An older perf
//     refuses the whole list, and so does StartPerf.
//   - If the user may not see the kernel, perf samples user space only and says nothing. The header of perf.data shows
//     that too.
//   - EPERM and EACCES have the same long text about perf_event_paranoid. The sysctl
//     causes EACCES. A seccomp filter causes EPERM, and then the text has "No
//     permission to enable".
//   - A perf that is killed, or whose disk is full, leaves a file that says it holds 0 bytes of data, and `perf script`
//     prints none of the samples. Stop completes the header, so that all that has reached the disk can be read. What
//     was still in the ring buffers (half a MiB per CPU) is lost.
//   - perf ends by itself when the last process that it follows has ended, not when
//     the first one has. It also ends when gasm is killed, so that it does not fill the disk.
//   - If the disk has no room for the first page of its data, perf ends without a message.
//   - A sampler that somebody has stopped (SIGSTOP) does not handle a signal to end, so Stop wakes it up. If the
//     sampler still does not end, Stop tells the user after two seconds, and kills the sampler after ten.
//
// # Pauses
//
// A sampler can pause. In a measurement, samples began again 2 ms after Resume.
//
//   - [Native.Pause] disables the events. The kernel does not report mappings and threads
//     together with a disabled event, so with [Options].Pauses there is one more event, which
//     never happens and stays enabled.
//   - [Perf.Pause] disables perf's events by name, through --control, so that perf's own dummy event stays enabled and
//     reports mappings and threads.
package collect
