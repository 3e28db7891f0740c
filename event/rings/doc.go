// Package rings reads what gasm's agent has counted in probed methods. Each thread of the JVM that calls a probed
// method writes its counts and events into a binary file. The code for this is in
// agent/src/main/java/java/lang/GasmProbes.java. The agent also writes a text file about the probes themselves.
//
// # The file
//
// The file of a JVM, probes-4711.ring, consists of words of 8 bytes, which are little-endian. While the JVM runs,
// segments are added to the file. The file can be read at any time. If the JVM is killed, everything that was counted
// until then is in the file. The file begins with a header of 4096 bytes. The words of the header are:
//
//	0  magic number
//	1  process id
//	2  when the file was created, in ns on CLOCK_MONOTONIC
//	3  number of bytes in use
//	4  number of threads for which there was no room
//	5  number of methods for which there was no room in a thread
//	6  when the counting was stopped
//
// Segments follow. Each has a head of 16 words, and then its content. Three words of the head are the same in all
// segments:
//
//	0  kind of the segment, see below
//	1  size in bytes
//	2  number of the slot that the thread uses; -1 for the slot that threads share
//
// Kind 1 is a ring of events. Further words of the head:
//
//	3     the thread's id
//	4     number of events written so far
//	5     number of events for which the ring has room
//	8-15  the thread's name
//
// Each event has 3 words:
//
//	0  the time
//	1  the kind (8 bits), the site (24 bits) and the bytecode index (32 bits)
//	2  the identity hash of the object (32 bits) and the thread's id (32 bits)
//
// Kind 2 has the calls of one site in one thread. Further words of the head:
//
//	3  the site
//	4  number of entries
//	5  number of returns
//	6  number of exits by exception
//	7  nanoseconds in outermost calls
//	8  nanoseconds of the longest call
//
// The content is a histogram of 592 buckets, see [BucketRange].
//
// Kind 3 has the windows of a thread: its calls of methods that are given by --window-method, see [Windows]. This
// segment is a ring as well. If the thread is in a window now, word 6 of the head is the time at which it entered the
// window, and word 7 is the site of the window. Otherwise word 6 is 0. Each window has 3 words:
//
//	0  when it began
//	1  the kind, which is 8 (8 bits), the site (24 bits) and the thread's id (32 bits)
//	2  when it ended
//
// Kind 4 contains segments of kind 2, one after the other. An inner segment of size 0 marks the end: from there on, the
// outer segment is not in use yet.
//
// # The text
//
// The text, probes-4711.txt, has a line for each message of the agent, with tabs between the fields. [ReadReport]
// reads it.
package rings
