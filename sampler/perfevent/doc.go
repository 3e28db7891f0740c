// Package perfevent samples through the kernel's own interface, perf_event_open(2), without the program
// perf. It knows the kernel's structures, but not what is done with the samples.
//
//   - [Lookup] finds the event of a name as perf spells it (names_linux.go: the kernel's
//     own events; pmu_linux.go: those of the CPU, as /sys describes them).
//   - [Open] opens events on the first thread of a process that is about to exec
//     (open_linux.go). [OpenRunning] opens them on all threads of running processes
//     (running_linux.go).
//   - [Set.Drain] returns the [Record]s that the kernel has written since the last call
//     (ring_linux.go, record_linux.go).
//
// # How the events are opened
//
// A thread's children can inherit an event with a ring buffer only if the event is for one
// CPU. So each event is opened once for each CPU. All events of a CPU
// write into one ring buffer. Threads and processes that come later cost no descriptors,
// because their events belong to the event that they inherited.
//
// Traps, with the kernel's functions:
//
//   - A record's time is that of CLOCK_MONOTONIC (use_clockid). The records of one ring
//     are not quite in the order of their times, because an interrupt can come while a record
//     is being written. Records of different rings are in no order at all.
//   - The kernel reports no mappings and no new threads together with a disabled event
//     (perf_iterate_ctx). With enable_on_exec it reports everything that the new program maps.
//   - PERF_RECORD_LOST is written with the next record that fits. So only the event's own count
//     includes what is lost at the end (PERF_FORMAT_LOST, since Linux 6.0).
//   - After a thread's end its events are "hung up", and from then on poll would return at
//     once. So the rings are watched edge-triggered.
//   - A pid of -1 is that of an ending thread that has lost its id (perf_event_pid).
//   - An anonymous executable mapping is named "//anon". The kernel reports it again each
//     time that HotSpot commits a part of it (mprotect).
package perfevent
