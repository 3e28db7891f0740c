// Package follow reads the code of one JVM from its memory while it runs, and writes it to a log in the form in which
// HotSpot would have printed it. The JVM needs no flag and writes nothing.
//
// A [Follower] polls the code cache (package codecache) for blobs that appeared and disappeared. Its caller passes it
// the program counters of samples. When a sample is in a compiled method for the first time, the Follower copies the
// method (package nmethod). Other methods are not copied, because a program compiles thousands of methods, but has
// samples in only a few hundred of them. The Follower's log has the form that package printassembly reads:
//
//	<hotspot_log version='160 1' process='2490' time_ms='1795221479359'>   the head, as HotSpot writes it
//	StubRoutines::libmLog [0x…, 0x…] (631 bytes)                           a blob that is not a method
//	<nmethod compile_id='138' compiler='c2' … stamp='0.579' seen='0.589'/> each method, when it is first seen
//	Compiled method (c2) …                                                 a copy of each method that has samples
//	<source_file class='Foo' name='Foo.kt'/>                               source file of each class in copied frames
//
// Copying a method takes about a millisecond, most of which is spent on the names in its debug info. In a JVM that
// compiles thousands of methods, copying them all would take as much CPU time as a third compiler thread. So copies
// have a budget of CPU time. When it is used up, a method is copied with the debug info of its sampled instructions
// only, and completed later, when there is time (excerpts.go).
//
// # Times
//
// HotSpot does not record when it installed a method. If a method is seen at one poll and was not there at the poll
// before, it was installed at some time between the two. Its stamp in the log is the time of the earlier poll. The
// reason: code that HotSpot has just compiled is hot, whereas the method that was in the same memory before had not run
// for some time. Otherwise HotSpot would not have freed its memory. So a sample between the two polls most likely
// belongs to the new method. [Result].Ambiguous counts such samples.
//
// # How often the code cache is polled
//
// A poll that finds nothing new takes a few microseconds. While new methods appear, the pause between polls is 10 ms,
// or up to 40 ms if polls are so slow that they would otherwise take more than 4 % of a CPU. Each poll without news
// doubles the pause, up to 2.6 s. A sample ends the pause at once, so a pause is long only while the JVM runs no code.
// At the end of a pause, the JVM is not polled if another reader of shared.JVMs has polled it during the pause, as the
// walks of stacks do. gasm watch and gasm top have longer shortest pauses (Options.ShortestPause).
package follow
