// Package wall says what each thread of a JVM did over the wall clock's time: whether it ran, waited for a processor,
// or was blocked, and where. It writes and reads the file wall-<pid>.txt of a capture, which `gasm profile --wall` and
// `gasm attach --wall` record.
//
//	w := wall.NewWriter(file, wall.Head{PID: 4711, Hertz: 20, FromMonoNanos: now})
//	w.Thread(&wall.Thread{Number: 1, TID: 4712, NID: 4712, JavaID: 1, BornMonoNanos: now, Name: "main"})
//	w.Spell(&wall.Spell{Thread: 1, FromMonoNanos: now, ToMonoNanos: later, State: wall.Sleep, Stack: stack})
//
//	for r := wall.NewReader(file, name); r.Scan(); {
//		switch record := r.Record().(type) { // *wall.Head, *wall.Thread, *wall.Ended, *wall.Lock, *wall.Spell …
//
// # Spells
//
// A thread's life within the recorded time is cut into spells: intervals in which it was in one state, at one place.
// The spells of a thread follow each other without a gap and without an overlap. Each of them is split into three
// times, whose sum is exactly its length: how long the thread ran, how long it was runnable but had no processor, and
// how long it was blocked. The kernel counts the first two (schedstat), and the third one is the rest.
//
// gasm looks at a thread several times a second. If the thread has not run between two looks, it was blocked at one
// place all the time, and both looks belong to the same spell. Such a spell is exact. Otherwise it is not known what
// the thread did in between, except for how long it ran and was runnable. The time between two such looks is divided by
// these rules:
//
//   - If the thread was blocked at both looks, at the same place, it is one spell. If the places differ, each spell has
//     half of the time, and half of the time that the thread ran.
//   - If it was blocked at one look and ran at the other, there is a spell of the first place with the blocked time,
//     and a spell [OnProcessor] with the other times.
//   - If it ran at both looks, and was blocked in between, the place is not known. These looks are passed over, and the
//     time belongs to the places that were found before and after them. After a second it belongs to the one that was
//     found last.
//
// So the blocked time of a thread that is often blocked for short times is right as a sum, and its distribution to
// places is that of the looks. The spells OnProcessor have no stack, because the capture's samples show where the
// thread ran. If such a spell has Blocked time, the place is not known.
//
// Time for which nothing is known is [Unseen]: before the first look at a thread, while gasm could not look, or if the
// thread moved on each time while gasm read its stack (the detail is then "moved").
//
// # The file
//
// The first line is the head: the version of the format, the process id, the looks per second, and the time from which
// the JVM was looked at. All times are in ns, of CLOCK_MONOTONIC.
//
//	gasm wall 1 4711 20 1884749632617
//
// A thread has a number, its id as gasm sees it, its id in the JVM's own PID namespace, the id of its java.lang.Thread
// or "-", the time from which it is known, and its full name. If a thread is renamed, another line with its number has
// the new name. A line "ended" has the time at which a thread was gone.
//
//	thread 1 4712 4712 1 1884749632617 "main"
//	ended 1 1894749632617
//
// Frames and stacks have the form that package callstack describes. If the outermost frames of a stack are missing, a
// mark takes the place of its root. The innermost frames are those of the kernel, if they could be read.
//
//	f 1 compiled 7f3c44d0a1f4 138 17 42 "" "Foo::bar"
//	s 1 0 1
//
// A lock has a number, its kind, the address of its object when it was read, the class of the object, the class that
// the object represents if it is a java.lang.Class or else "", the number of the thread that owned the lock or "-", and
// the stack where that thread got it or "-". Objects move, so an address does not identify a lock for long. If the same
// object has another owner later, it is written as another lock.
//
//	lock 1 monitor 7f0010 "pkg.Pool" "" 2 1
//	lock 2 synchronizer 7f0020 "java.util.concurrent.locks.ReentrantLock$NonfairSync" "" - -
//
// A detail is what a spell waited for, or which system call it was in. It has a number, and its text.
//
//	detail 1 "read from socket 127.0.0.1:40512 to 127.0.0.1:5432"
//
// A spell has the number of its thread, the time at which it began, its length, how much of the length the thread ran
// and how much it was runnable, the state, the numbers of its stack, lock and detail, and the id of the virtual thread
// that was mounted on the thread. Each of the last four may be "-".
//
//	spell 1 1884749632617 50000000 1200000 0 monitor 1 1 - -
//
// A spell is written when it has ended. So that little is lost if gasm is killed, a long spell is also written before
// its end, with the word "open" and without a length: it lasts at least until the time in the last line "now".
//
//	open 1 1884799632617 park 1 2 - -
//	now 1885749632617
//
// Virtual threads that are not mounted are only counted: how many waited at a place at a certain time. A line has the
// time, the number of threads, the state, the stack and the lock.
//
//	virtual 1884749632617 9812 sleep 1 -
//
// The last line ends the recorded time. It counts the looks; how many of these found that the thread ran each time
// while it was read ("moved"); how many could not read the thread; how many looks were left out because they would have
// cost too much; and the threads. Its last number is by how many ns times were clamped, because the kernel's counters
// said more than the clock.
//
//	end 1894749632617 4000 12 0 0 31 1200
//
// A line that begins with # is a comment. If gasm was killed, the last line may be cut, and there is no line "end".
package wall
