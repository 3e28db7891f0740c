// Package jfr reads recordings of Java Flight Recorder. It reads all events with all their fields, including events of
// types that the program itself defines.
//
//	r := jfr.NewReader(f, size, "run.jfr")
//	for r.Scan() {
//		e := r.Event()
//		if e.Type().Name == "jdk.JavaMonitorEnter" {
//			fmt.Println(e.StartTicks(), e.Field("monitorClass").Field("name").Text())
//		}
//	}
//	err := r.Err()     // an I/O error, or the file is not a recording
//	lost := r.Damage() // the parts that could not be read
//
// The package also has what gasm needs to make recordings and to show them together with samples:
//
//   - [Events] converts events to event.Event, with times on CLOCK_MONOTONIC. It returns events for which package event
//     has a kind, and all events of the program's own types.
//   - [FindAnchor] finds out how a recording's ticks relate to CLOCK_MONOTONIC.
//   - [Settings] returns a .jfc file that makes JFR record these events and little else.
//
// Package hotspot/jcmd starts and stops a recording in a running JVM.
//
// The API may change between minor versions before 1.0.
//
// # The format
//
// A recording is a sequence of chunks. This package reads the format versions 2.0 and 2.1, which JDK 11 to 28 and the
// backport to JDK 8 write. A chunk begins with a header of 68 bytes, big-endian (JfrChunkWriter, ChunkHeader.java):
//
//	 0  "FLR\0", 2 bytes major version, 2 bytes minor
//	 8  size of the chunk, position of its last checkpoint, position of its metadata
//	32  wall clock at the chunk's start in ns since 1970, duration of the chunk in ns
//	48  ticks at the chunk's start, ticks per second
//	64  state: 0 finished, 255 while the header is being written, else a generation
//	67  flags: 1 integers are compressed (always set), 2 the last chunk of the recording
//
// The header is followed by events. Each event begins with its size and the id of its type. Integers outside the header
// are compressed: seven bits per byte, lowest bits first; a set high bit means that another byte follows; the ninth
// byte has eight bits. Float and double are big-endian. Two type ids are special:
//
//   - 0 is metadata. It has a table of strings, and a tree of elements that define the types, their fields and their
//     annotations (metadata.go). The ids of types differ from run to run.
//   - 1 is a checkpoint. It has constants, each with a type and a key (pools.go). Threads, classes, methods and stack
//     traces are constants. If the metadata marks a field with constantPool, events have the key of a constant there
//     instead of a value. A constant often comes after the events that refer to it. So the Reader collects the metadata
//     and the checkpoints of a chunk before it reads the chunk's events.
//
// # Peculiarities
//
//   - If a type has a single field and the attribute simpleType, it only wraps that field. For example, a GCName is
//     just a string. A [Value] is then the inner value.
//   - The first byte of a string is its encoding: 0 null, 1 empty, 2 a key in the pool of strings, 3 UTF-8 (HotSpot's
//     variant, which encodes NUL and characters above U+FFFF differently), 4 UTF-16, 5 Latin-1.
//   - int, short and char are written as unsigned integers; a negative int takes five bytes.
//   - If several constants have the same key, the first one in the chunk wins, as in the jfr tool.
//   - A key for which there is no constant stands for null.
//   - If the class of an event was loaded in the middle of a chunk, only the chunk's last metadata event has the
//     event's type.
//   - If the JVM ends in the middle of a chunk (kill -9), the file has the metadata and the checkpoints of the last
//     flush and the events after it. Since JDK 14, HotSpot flushes every second. The size in the header is from the
//     last flush, so the Reader ignores it and reads such a chunk to the end of the file. JDK 11 writes metadata only
//     when it finishes a chunk, so nothing of an unfinished chunk can be read.
//   - The weight of an allocation sample is the number of bytes that its thread has allocated since the thread's
//     previous sample, see [FirstSamples].
//   - Events are not sorted by time. Even the events of one thread are not, because the JVM may write the thread's full
//     buffers after the buffer that the thread is still filling.
//   - The times that the jfr tool prints may be wrong by several hundred nanoseconds, because for later chunks it uses
//     the clock of the first chunk that has the same types. The tool also uses floating point to convert time spans,
//     and it sorts the events of a chunk by their end.
//   - The wall clock in the headers of JDK 8 and 11 is truncated to milliseconds ([Clock]).
//
// # Damage
//
// A recording may be cut off, or an attacker may have made it. [Damage] counts the parts that can't be read, and
// everything else is read. The memory and the time for reading are at most proportional to the size of the file, as
// no byte is read more than a fixed number of times. A type can contain itself only if the inner value is the key of a
// constant. Any other type that contains itself counts as damaged.
package jfr
