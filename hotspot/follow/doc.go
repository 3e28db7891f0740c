// Package follow has the code of one JVM while it runs, out of its memory, and writes it
// down as HotSpot would have printed it. The JVM needs no flag and writes nothing.
//
// A [Follower] polls the code cache (package codecache) for blobs that came and went. It
// is told the program counters of samples, and copies (package nmethod) each compiled
// method when a sample is in it for the first time: a program compiles thousands of
// methods, and has samples in a few hundred of them. Its log is of the form that package
// printassembly reads:
//
//	<hotspot_log version='160 1' process='2490' time_ms='1795221479359'>   the head, as HotSpot writes it
//	StubRoutines::libmLog [0x…, 0x…] (631 bytes)                           what is no method
//	<nmethod compile_id='138' compiler='c2' … stamp='0.579'/>              each method, when it is seen first
//	Compiled method (c2) …                                                 a copy of each method that has samples
//	<source_file class='Foo' name='Foo.kt'/>                               the file of each class in frames of copies, once
//
// To copy a method takes a millisecond, nearly all of it for the names in its debug info. A
// JVM that compiles thousands of methods would wait for that as much as for a third
// compiler's thread. So copies have a budget, and what is beyond it has the debug info of
// sampled instructions alone until there is time for the rest (excerpts.go).
//
// # Times
//
// HotSpot does not note when it installed a method. A method that is seen at one poll, and
// was not at the one before, came at some time between the two. Its stamp is the time of
// the poll before: what HotSpot has just compiled is hot, while the method whose memory it
// took had not been run for some time, or its memory would not have been free. So of the
// two a sample from between the polls belongs to the new one, most likely. How many such
// samples there were is a figure of the [Result].
//
// # How often it looks
//
// A poll in which nothing is new takes some microseconds. While methods come, the pause is
// 10 ms, or up to 40 ms where polls are so slow that they would take more than 4 % of a
// processor; each poll without news doubles it, up to 2.6 s. Samples have the Follower look
// at once, so a pause is long only while the JVM runs no code.
package follow
