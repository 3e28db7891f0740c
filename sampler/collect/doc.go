// Package collect takes samples of running processes with the kernel's perf events. Either gasm opens the events itself
// or it runs perf. Both ways save the samples as text, which package sampler reads. The samplers that don't use perf
// events are in subpackages.
//
//   - Native sampling: [StartNative] opens events on a process that is held before its exec, and [AttachNative] opens
//     events on a process that already runs (native_linux.go). drain_linux.go turns the kernel's records into text,
//     kallsyms_linux.go names the kernel's functions, and stacks_linux.go writes call stacks. A [Stream] hands out the
//     samples while they are taken.
//   - perf: [StartPerf] attaches perf to a process that is held before its exec, [Perf.Stop] ends the recording, and
//     [Perf.WriteText] turns the recording into text (perf.go; perfrecord.go starts perf, perfwrite.go writes the
//     text).
//   - DTrace: package dtrace.
//   - Instruments' xctrace: package xctrace.
//
// Native sampling and perf have the same [Options], and choose the same events if the user names none (perfevents.go).
// The kernel refuses both for the same reasons (perferrors.go, nativeerrors_linux.go). All four samplers share some
// subpackages: external runs a program, failure has the errors, and machine has the facts about the machine.
//
// [ChooseRate] (rate.go) chooses how often to sample when the user does not say. It uses the cost of a sample, which
// cost_linux.go measures. With [Options].Drawn, the actual frequency is drawn at random, 3 to 10 % above or below the
// chosen one. The reason is that the timer of a clock event has a fixed period. A program with the same period would
// be sampled in the same part of its work again and again. For example, a thread alternated between two methods and
// spent 1 ms in each. At 501 Hz, one of these methods had 0 to 96 % of the samples, depending on the run. At drawn
// frequencies it had 48 to 51 %. perf record -F has a fixed frequency too. gasm does not draw a frequency for DTrace,
// because the name of DTrace's probe contains the frequency and would then be different in each capture.
//
// The package prints nothing.
//
// # Native sampling
//
// Package sampler/perfevent has the kernel's interface, and describes its pitfalls. The drain empties the kernel's
// buffers every second, or more often if a Stream asks for that, or as soon as one of them is half full. It looks up
// all names at that time. Names of threads come from the kernel's records of new threads and names. Names of functions
// come from the files in the records of mappings (package native), and those of the kernel from /proc/kallsyms. So the
// text is complete as soon as the command has ended. Some pitfalls:
//
//   - perf's tables have names of events that the kernel does not know (mem_load_retired.l1_miss). Such an event can
//     only be sampled by perf.
//   - The timer of cpu-clock starts a new, whole period with each thread. A thread that runs for less than a
//     period is never sampled, neither by perf nor by gasm.
//   - EACCES comes from the kernel's rules (perf_event_paranoid, another user's process), EPERM from a filter of system
//     calls. If the user may not sample the kernel, gasm samples user space only. It tells the user so, and adds u to
//     the event's name, as perf does.
//   - The stubs of imported functions (memset@plt) have no names, because no symbol table
//     has them.
//
// # Call stacks
//
// With [Options].Walk, native sampling also records call stacks. The [Walk] finds the frames in user space; it belongs
// to another package, because it has to know HotSpot. The drain adds the kernel's frames. It writes the stacks to a
// file of its own (package callstack), and the ID of a stack to the line of the sample. Before it writes the lines of
// samples, it writes the stacks to which they refer. If the stacks can't be written, the recording goes on without
// stacks, and a note says so.
//
// Samples with stacks need much room in the kernel's buffers. While there are such samples, the buffers are emptied
// every 50 ms, or when one is half full. A walk may have to wait for a file or for the memory of another process. So
// the records are copied into a [queue], and another goroutine walks the stacks and writes the text. When the recording
// ends, gasm walks the last stacks for up to 20 seconds. If there is no progress for five seconds, or if the context of
// Stop is done, it gives up earlier. It then writes the remaining samples without walking their stacks
// ([Options].GiveUp).
//
// # Running perf
//
// perf follows the held process's first thread (-t with --inherit), and all threads
// and processes that descend from it. perf is not the parent of the command: when perf
// fails or dies, the command goes on. StartPerf returns when perf has confirmed that
// it samples, so no sample of the command is missed. Some pitfalls:
//
//   - On a machine without a counter of cycles, perf silently opens a clock instead: perf 6.1 opens
//     cpu-clock, perf 6.12 and 7.2 open task-clock. gasm sees that there is no counter and asks for
//     cpu-clock itself, so all versions do the same. The header of perf.data says which events perf
//     has opened. perfevents.go compares them with the events that perf was asked for. [Perf.Events]
//     and [Perf.Notes] report the result.
//   - perf 7 leaves out events that it can't open and samples the rest. An older perf
//     refuses the whole list, and so does StartPerf.
//   - If the user may not sample the kernel, perf samples user space only and says nothing. This also shows in the
//     header of perf.data.
//   - EPERM and EACCES have the same long text about perf_event_paranoid. The sysctl causes EACCES. A seccomp filter
//     causes EPERM, and then the text contains "No permission to enable".
//   - A perf that is killed, or whose disk is full, leaves a file that says it holds 0 bytes of data. `perf script`
//     prints none of its samples. Stop completes the header, so that everything that has reached the disk can be read.
//     What was still in the ring buffers (half a MiB per CPU) is lost.
//   - With [Options].Chains, perf records chains of return addresses, as far as there are frame pointers.
//     [Perf.WriteStacks] writes them as package callstack describes (perfstacks.go). In such a recording, perf script
//     prints the addresses of functions in their files, also for the sampled function. gasm would need the addresses in
//     memory to look up the functions, so it keeps perf's names.
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
