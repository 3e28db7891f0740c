// Package perfetto writes the events and the samples of a capture as a trace for [Perfetto]'s UI and its
// trace_processor.
//
// A trace is a sequence of TracePackets in the protobuf format, without anything around them (perfetto/trace/trace.proto
// and trace_packet.proto). It is not Chrome's JSON, because that has no call stacks for samples, and a tid in it stands
// for a row of the picture, so that events of one thread which overlap need invented threads. What this package writes:
//
//   - a ClockSnapshot, which says that the times of the trace are of CLOCK_MONOTONIC, and what time of day that is;
//   - a TrackDescriptor for each JVM, for each of its threads, and for each kind of event that concerns the whole JVM;
//   - TrackEvents: the events. Events of a track that overlap without one being inside the other, as those of virtual
//     threads, are on further tracks of the same name, which Perfetto draws as one;
//   - PerfSamples: the samples, each with the frames of its stack. Samples of different counters are in different packet
//     sequences, because Perfetto has a counter for each sequence;
//   - a PerfSample that says how many samples the sampler has lost.
//
// Strings, frames and stacks are written once and have numbers from then on ("interned data"). Nothing else is kept in
// memory, so that a trace can be larger than the memory.
//
// [Perfetto]: https://perfetto.dev
package perfetto
