// Package rings reads what probed methods have counted: the file that gasm's agent has a JVM's threads write
// (agent/src/main/java/java/lang/GasmProbes.java), and what the agent tells of the probes.
//
// The file of a JVM, probes-4711.ring, is little-endian, in words of 8 bytes. It grows by segments while the JVM runs, and
// may be read at any time; after a kill it has all that was counted. A header of 4096 bytes comes first:
//
//	0 magic  1 process id  2 when it began, of CLOCK_MONOTONIC  3 bytes in use
//	4 threads that had no room  5 methods that had no room in a thread  6 when it was stopped
//
// A segment has 16 words and then its content. Word 0 is its kind, 1 its size in bytes, 2 the number of the thread's slot, -1
// of that which threads share.
//
//   - 1, a ring: 3 the thread's id, 4 how many events were ever written, 5 how many there is room for, 8 to 15 the thread's
//     name. Events of 3 words follow: the time; kind, 24 bits for the site, and 32 for the bytecode index; the object's identity
//     hash, and the thread's id.
//   - 2, the calls of a site in a thread: 3 the site, 4 entries, 5 returns, 6 exits by exception, 7 nanoseconds of outermost
//     calls, 8 of the longest call; and then 592 buckets, see [BucketRange].
//   - 3, the windows of a thread, as a ring: 6 when the one began that lasts, 7 its site. The three words are: when it began;
//     8, the site, and the thread; when it ended.
//
// Kind 4 has segments of calls in it, up to one of size 0, which is not in use yet.
//
// The text, probes-4711.txt, has a line for each thing that the agent tells, with tabs between the fields; [ReadReport] reads it.
package rings
