// Package perfevent samples through the kernel's own interface, perf_event_open(2), without the program
// perf. It knows the kernel's structures, but not what is done with the samples.
//
//   - [Lookup] finds an event by its name in perf. The kernel's own events are in names_linux.go, and those of the
//     CPU, which /sys describes, in pmu_linux.go.
//   - [Open] opens events on the first thread of a process that is about to exec (open_linux.go).
//     [OpenRunning] opens them on all threads of running processes (running_linux.go).
//   - [Set.Drain] returns the [Record]s that the kernel has written since the last call (ring_linux.go, record.go,
//     record_linux.go).
//
// # How the events are opened
//
// A thread's children can inherit an event with a ring buffer only if the event is restricted to one CPU. So each event
// is opened once for each CPU. All events of a CPU write into one ring buffer. Threads and processes that are created
// later need no file descriptors, because each event that they inherit belongs to one that is already open.
//
// Pitfalls, with the names of the kernel's functions:
//
//   - The time of a record is that of CLOCK_MONOTONIC (use_clockid). The records of one ring are not quite in the
//     order of their times, because an interrupt can come while a record is being written. Between the
//     records of different rings there is no order at all.
//   - As long as an event is disabled, the kernel reports no mappings and no new threads for it
//     (perf_iterate_ctx). With enable_on_exec it reports all mappings of the new program.
//   - PERF_RECORD_LOST is written before the next record that fits. Records that are lost at the end are
//     therefore counted only in the event's own count (PERF_FORMAT_LOST, since Linux 6.0).
//   - When a thread ends, its events become "hung up". From then on, poll would return at once every
//     time, so the rings are watched edge-triggered.
//   - A record with the pid -1 is from an ending thread that has lost its id (perf_event_pid).
//   - An anonymous executable mapping is named "//anon". The kernel reports it again each
//     time that HotSpot commits a part of it (mprotect).
//
// # Stacks
//
// With [Options].Stacks, a sample has what a walk of the stack needs: the thread's registers, the top of its stack and
// the kernel's call chain, as a [ThreadState] (threadstate.go; stacks_linux.go).
//
// The kernel reserves room for the largest stack in each record, however short the stack is. At 1000 Hz, records of 64
// KiB take 64 MB/s for each busy CPU. So the rings are larger than without stacks. They are mapped before the events
// are opened, because the size of the stacks is an attribute of the events, and this size depends on how much memory
// this user may lock. Root gets up to 64 MiB for each CPU at 1000 Hz, and at most 512 MiB for all CPUs. Another user
// gets perf_event_mlock_kb for each CPU, and RLIMIT_MEMLOCK in addition.
//
// Drain keeps records for 20 ms, until they are in order. With stacks it leaves them in the ring for that time, and
// copies only what it can't leave there, for example if the ring is half full. In a measurement with a JVM, draining a
// sample took 3 us with a stack of 64 KiB, and 1 us without. Copying the stack would have taken 10 us more.
//
// Pitfalls:
//
//   - The memory in a stack need not be that of the stack: the kernel copies up to the first page that can't be read,
//     and another mapping may follow the stack.
//   - A stack is that of user space, and so are the registers. The kernel's own stack is only in the call chain.
//   - A thread that is ending may have no registers or no stack, because it has given its memory back.
package perfevent
