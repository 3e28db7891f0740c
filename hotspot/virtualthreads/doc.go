// Package virtualthreads counts the virtual threads of a running JVM by what they wait for. It reads the threads from
// the JVM's heap, and also the stacks of the threads that are not mounted on a carrier thread. The JVM does nothing for
// that.
//
//	c, err := virtualthreads.NewCounter(jvms, pid)
//	n, err := c.Count(1000) // looks at about 1000 threads, chosen at random
//	for _, p := range n.Places {
//		fmt.Println(p.Count, p.State, p.Frames[0].Name)
//
// # Where virtual threads are
//
// The class ThreadContainers has a set of the virtual threads that were started directly, unless the JVM runs with
// -Djdk.trackAllThreads=false. It also has a set of the executors that start a thread for each task. These executors,
// and other containers, have sets of their own threads. Threads of structured concurrency are in the set of a
// ThreadFlock. The thread that opened the ThreadFlock has it in a list, which begins at the field headStackableScopes.
// All these sets are ConcurrentHashMaps.
//
// A VirtualThread has a Continuation. While the thread is not mounted, the Continuation has the thread's frames in a
// StackChunk, or in a list of several. A StackChunk is an object that contains a part of a stack: the frames are laid
// out as on a thread's stack (see stack.Frozen). A VirtualThread also has its state as a number, and the object for
// which it is parked.
//
// # Which threads are chosen
//
// If there are more threads than the caller wants to be read, some are chosen at random, and each of them represents
// several. The slots of a set's hash table are divided into equal parts, and slots at a random place in each part are
// read. The larger a set is, the more of its threads are chosen, in proportion. A thread of structured concurrency is
// found only if the thread that opened its scope was chosen. So the estimated number of such threads is right on
// average, but it varies much from count to count if only a few virtual threads have opened scopes with many threads.
//
// # When objects move, and threads run
//
// The collectors Serial, Parallel and G1 move objects only while the program is stopped, and they count these pauses.
// If there was a pause while threads were chosen and read, everything is read again. After three failed attempts, the
// count has no places. Shenandoah also moves objects while the program runs, but it leaves their new addresses in the
// old headers, where gasm reads them. ZGC keeps the new addresses in tables of its own, which gasm does not read, so it
// does not count ZGC's virtual threads.
//
// A thread may run while it is read. So it is read twice: first to find its frames, and then all at once, with one
// system call. That call reads the thread and the headers of the StackChunks before the frames, and again after them.
// If something has changed, the thread is read again. After three attempts, it is counted as Unread.
//
// # Hostile processes
//
// The program may have changed anything that is read. So the numbers of threads, elements, frames and bytes are
// limited, and everything is checked before it is used.
package virtualthreads
