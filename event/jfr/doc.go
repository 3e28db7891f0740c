// Package jfr reads recordings of Java Flight Recorder: all their events, also the
// program's own, with all their fields.
//
//	r := jfr.NewReader(f, size, "run.jfr")
//	for r.Scan() {
//		e := r.Event()
//		if e.Type().Name == "jdk.JavaMonitorEnter" {
//			fmt.Println(e.StartTicks(), e.Field("monitorClass").Field("name").Text())
//		}
//	}
//	err := r.Err()      // the file could not be read, or is no recording
//	lost := r.Damage()  // what of it could not be read
//
// [Events] gives those of a recording that package event has kinds for, and the program's own, as one type with times on
// CLOCK_MONOTONIC. [FindAnchor] finds how the recording's ticks are translated to it, and [Settings] makes the .jfc file with
// which JFR records these events and little else. Package hotspot/jcmd has a JVM that runs begin and end a recording.
//
// # The format
//
// A recording is a sequence of chunks (versions 2.0 and 2.1: JDK 11 to 28, and what JDK 8
// has from them). A chunk has a header of 68 bytes, big-endian (JfrChunkWriter, ChunkHeader.java):
//
//	 0  "FLR\0", 2 bytes major version, 2 bytes minor
//	 8  size of the chunk, position of its last checkpoint, position of its metadata
//	32  wall clock at its start in nanoseconds; how many it lasted
//	48  ticks at its start; ticks a second
//	64  state: 0 finished, 255 while the header is being written, else a generation
//	67  flags: 1 integers are compressed (they always are), 2 the recording's last chunk
//
// Then events follow. Each begins with its size and the id of its type. All integers but the header's
// have seven bits a byte, the lowest first, and a set high bit where another byte follows;
// the ninth byte has eight bits. Float and double are big-endian. Two ids are not of events:
//
//   - 0 is metadata: a table of strings and a tree of elements that says which types there are
//     and which fields each has, with annotations (metadata.go). Ids differ from run to run.
//   - 1 is a checkpoint: constants by type and key (pools.go). A field that the metadata marks with
//     constantPool has a key in place of the value: threads, classes, methods, stack traces. What
//     an event refers to often comes after it, so a chunk is looked through for these two
//     before its events are read.
//
// # What is odd
//
//   - A type with one field and the attribute simpleType stands for this field: a GCName
//     is a string. [Value] hides that.
//   - A string begins with a byte: 0 null, 1 empty, 2 a key of the pool of strings, 3 UTF-8 (HotSpot's,
//     which writes NUL and what is above U+FFFF in its own way), 4 UTF-16, 5 Latin-1.
//   - int, short and char are written as unsigned; a negative int takes five bytes.
//   - Of several constants with the same key the first of the chunk counts, as for the jfr tool.
//   - A key without constant is null.
//   - An event's class that was loaded in the middle of a chunk is in its last metadata. A JVM that
//     ends in the middle of a chunk (kill -9) leaves the metadata and checkpoints of its last flush, which
//     is at most a second old since JDK 14, and events behind them. The header's size is that of the
//     flush, so such a chunk is read to the end of the file. JDK 11 writes metadata only when
//     it finishes a chunk: of an unfinished one nothing can be read.
//   - The weight of an allocation's sample is what its thread has allocated since its last one: [FirstSamples].
//   - Events are in no order: a thread's full buffers come behind the one that it fills.
//   - The jfr tool prints times of later chunks by the clock of the first chunk with the same types, which is some hundred
//     nanoseconds off, and spans of ticks as doubles. It sorts the events of a chunk by when they ended.
//   - The wall clock in the header of JDK 8 and 11 has whole milliseconds ([Clock]).
//
// # Damage
//
// A recording may be cut, or made by an enemy. What can't be read is counted
// ([Damage]), and the rest is read. All that is kept is bounded by the file's size, each byte is looked at
// a bounded number of times, and types can't contain themselves but by key.
package jfr
