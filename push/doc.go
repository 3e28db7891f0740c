// Package push keeps profiles until they are delivered to a destination. A [Destination] is a server, a folder or an
// output. Each has a [Queue] of its own, so that a slow or unreachable one does not delay the others.
//
//	q := push.NewQueue(destination, say)
//	go q.Run(ctx)
//	q.Add(profile)     // never waits
//	q.Close(deadline)  // waits until all profiles are sent, or the deadline has passed
//
// If a profile could not be sent, the queue tries again, after pauses that grow and have a random part, so that a
// thousand senders do not come back at the same moment. The waiting profiles are limited by age and size ([MaxAge],
// [MaxBytes]): the oldest ones are dropped, counted and reported.
//
// A profile can arrive twice: if a connection breaks after a server has stored a profile but before its answer has
// arrived, gasm can't know that. It sends the profile again, with the same ID.
package push
