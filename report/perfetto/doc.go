// Package perfetto writes the events and the samples of a capture as a trace for [Perfetto]'s UI and its
// trace_processor.
//
// A trace is a sequence of TracePackets in the protobuf format, without anything around them
// (perfetto/trace/trace.proto and trace_packet.proto). Perfetto also reads Chrome's JSON, but that has no call stacks
// for samples. And in JSON a thread id stands for a row of the picture, so overlapping events of one thread would need
// invented threads. This package writes:
//
//   - a ClockSnapshot, which says that the times of the trace are of CLOCK_MONOTONIC, and what time of day that is;
//   - a TrackDescriptor for each JVM, for each of its threads, and for each kind of event that concerns the whole JVM;
//   - TrackEvents: the events. Perfetto requires that two events of a track do not overlap, unless one is inside the
//     other. Events that overlap otherwise, such as those of virtual threads, are on further tracks. All further
//     tracks of a thread have the same name, so Perfetto draws them as one;
//   - a track below each thread, with a TrackEvent for each spell of the thread's wall-clock time, if that was
//     recorded. The name of such a TrackEvent is the state;
//   - PerfSamples: the samples, each with the frames of its stack. Samples of different counters are in different
//     packet sequences, because Perfetto has a counter for each sequence;
//   - a PerfSample that says how many samples the sampler has lost.
//
// Strings, frames and stacks are written once, and are referred to by number from then on ("interned data"). Only these
// are kept in memory, so a trace can be larger than the memory.
//
// [Perfetto]: https://perfetto.dev
package perfetto
