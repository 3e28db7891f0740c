// Package perfevent samples by the kernel's own interface, perf_event_open(2), without the
// program perf. It knows the kernel's structures and nothing of what is done with the
// samples.
//
//   - [Lookup] finds the event of a name as perf spells it (names_linux.go: the kernel's
//     own events; pmu_linux.go: those of the CPU, by what /sys says of them).
//   - [Open] opens events on the first thread of a process that is about to exec
//     (open_linux.go). [OpenRunning] opens them on all threads of processes that run
//     (running_linux.go).
//   - [Set.Drain] gives the [Record]s that the kernel has written since the last call
//     (ring_linux.go, record_linux.go).
//
// # How the events are opened
//
// The kernel lets a thread's children inherit an event with a ring buffer only if the
// event is of one CPU. So each event is opened once for each CPU. All events of a CPU
// write into one ring buffer. Threads and processes that come later cost no descriptors,
// because their events belong to the one that they inherited.
//
// Traps, with the kernel's functions:
//
//   - A record's time is that of CLOCK_MONOTONIC (use_clockid), and records of one ring
//     are not quite in its order: an interrupt can come while a record is being written.
//     Records of different rings are in no order at all.
//   - With an event that is off, the kernel tells of no mapping and no new thread
//     (perf_iterate_ctx). With enable_on_exec all that the new program maps is told.
//   - PERF_RECORD_LOST is written with the next record that fits. So what is lost at the
//     end is told by the event's own count alone (PERF_FORMAT_LOST, since Linux 6.0).
//   - After a thread's end its events are "hung up", and poll would return at once for
//     ever. The rings are watched edge-triggered for that reason.
//   - A pid of -1 is of a thread that has lost its id on its way out (perf_event_pid).
//   - An anonymous mapping that is executable is named "//anon", and told of again each
//     time that HotSpot commits a part of it (mprotect).
package perfevent
