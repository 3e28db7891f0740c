// Package wall says how each thread of a JVM spent wall-clock time: when it ran, waited for a processor, or was
// blocked, and where. It writes and reads the file wall-<pid>.txt of a capture, which `gasm profile --wall` and `gasm
// attach --wall` record.
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
// The recorded part of a thread's life is divided into spells: intervals in which the thread was in one state, at one
// place. The spells of a thread follow each other without a gap and without an overlap. The length of a spell is
// exactly the sum of three times: how long the thread ran, how long it was runnable but had no processor, and how long
// it was blocked. The kernel counts the first two (schedstat), and the third one is the rest.
//
// gasm looks at a thread several times a second. If the thread has not run between two looks, it was blocked at one
// place all the time, and both looks are part of the same spell. Such a spell is exact. Otherwise gasm knows only how
// long the thread ran and was runnable between the looks. It divides the time between the two looks by these rules:
//
//   - If the thread is blocked at the second look, all of the time goes to a spell with the place of that look. But if
//     the thread ran at the first look, that spell gets only the blocked time, and a spell [OnProcessor] before it
//     gets the time that the thread ran and was runnable.
//   - If the thread was blocked at the first look and runs at the second one, the blocked time goes to a spell with
//     the place of the first look, and the other time to a spell OnProcessor after it.
//   - If it ran at both looks, and was blocked in between, the place is not known. gasm then ignores the second look,
//     so that the interval goes on. Its blocked time goes to the place where the thread is blocked at a later look. If
//     there is no such look within a second, it goes to the place where the thread was blocked last.
//
// So if a thread is often blocked for short times, the sum of its blocked time is right, and a place gets the more of
// this time the more looks have found the thread there. The spells OnProcessor have no stack, because the capture's
// samples show where the thread ran. If such a spell has Blocked time, the place where the thread was blocked is not
// known.
//
// A spell is [Unseen] if nothing is known about its time: before the first look at a thread, while gasm could not
// look, or if the thread ran each time while gasm read its stack (the detail is then "moved").
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
// the new name. A line "ended" has the time at which gasm noticed that a thread had ended.
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
// A lock has a number, its kind, the address of its object when gasm read it, the class of the object, the class that
// the object represents if it is a java.lang.Class or else "", the number of the thread that owned the lock or "-",
// and that thread's stack at the place where it acquired the lock or "-". Objects move, so an address does not
// identify a lock for long. If the same object has another owner later, it is written as another lock.
//
//	lock 1 monitor 7f0010 "pkg.Pool" "" 2 1
//	lock 2 synchronizer 7f0020 "java.util.concurrent.locks.ReentrantLock$NonfairSync" "" - -
//
// A detail is a text about the thing for which a thread waited in a spell, or the name of the system call that it was
// in. The line has the detail's number and its text.
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
// its end, with the word "open" and without a length. Such a spell lasts at least until the time in the last line
// "now".
//
//	open 1 1884799632617 park 1 2 - -
//	now 1885749632617
//
// Virtual threads that are not mounted are only counted. The line "virtuals" has the time of a count, the number of
// virtual threads, the number of those that gasm looked at, and how many of these were mounted or could not be read.
// gasm chooses these threads at random. If they are not all, the number of virtual threads is an estimate. The last
// number is that of virtual threads that gasm can't look at, because the JVM has no list of them. The other numbers
// don't include them. A line "virtual" follows for each place where threads waited: the same time, the number of
// threads, the state, the stack and the lock. The number is an estimate, too, if gasm did not look at all threads. The
// lock has no address: it only has the class of the objects.
//
//	virtuals 1884749632617 10000 300 3 0 0
//	virtual 1884749632617 9812 sleep 1 -
//	virtual 1884749632617 88 park 2 1
//
// The last line ends the recorded time. Its numbers are: the end of the recorded time; the looks; the looks without a
// stack, because the thread ran each time that gasm read it ("moved"); the looks at a thread that could not be read;
// the looks that were left out because they would have cost too much; the threads; the number of ns by which gasm
// reduced times because the kernel's counters exceeded the clock; the threads that were not recorded because there
// were too many; the threads whose files in /proc were opened for each look because too many files were open; 1 if the
// recording ended because the file had reached its largest size, or else 0; and 1 if a BPF iterator said how often all
// threads had run, or else 0.
//
//	end 1894749632617 4000 12 0 0 31 1200 0 0 0 1
//
// A line that begins with # is a comment. If gasm was killed, the last line may be cut, and there is no line "end".
package wall
