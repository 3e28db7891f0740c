// Package waits divides the wall-clock time of JVMs' threads by what the threads did: how long each of them was on a
// processor, waited for one, or was blocked, in which state and where.
//
// The data come from files in the format of package wall. A [Counter] reads them one after the other, in one pass. It
// clips spells to the windows, chooses threads as the other tables of a profile do, and sums up the times of the rest.
// [Counter.Table] makes the [Table] of a trial from these sums.
//
// # What adds up
//
// The [Times] of a thread add up to its wall-clock time: the time from its birth to its end, as far as it was recorded
// and is in a window. The Times of pools are the sums of those of their threads. [Account] says where all recorded time
// of all threads went.
//
// A spell has the time that the thread ran, the time that it waited for a processor, and the time that it was blocked.
// The first two count as the states on processor and runnable, whatever the state of the spell is. The third one counts
// as the spell's state and at its place. If the spell's state is on processor, it is not known where the thread was
// blocked, so the blocked time counts as unseen. If a window begins or ends within a spell, each of the three times is
// divided in proportion.
//
// # Idle threads
//
// A thread is idle if it was blocked all the time in the queue from which the threads of its pool take their work, or
// where it waits for connections or requests. Small exceptions are allowed. It may have run for a thousandth of its
// time, because threads with a timeout wake up to check their queue. It may have waited for a processor, or not been
// seen, for a twentieth of its time. The JVM's own threads, such as those of a collector and the one that started the
// JVM, count as waiting in their queue whenever they are blocked. For other threads, the frames of the stack decide
// (queueFrames). Idle threads are counted like others. Reports leave them out by default, and say how many there are.
package waits
