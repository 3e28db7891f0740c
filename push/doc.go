// Package push keeps profiles until a destination has taken them. A [Destination] is a server, a folder or an output. Each
// has a [Queue] of its own, so that one that is slow or away does not delay the others.
//
//	q := push.NewQueue(destination, say)
//	go q.Run(ctx)
//	q.Add(profile)     // never waits
//	q.Close(deadline)  // waits until all profiles are sent, or the deadline has passed
//
// A profile that could not be sent is tried again, after a pause that grows and has a random part, so that a thousand
// senders do not come back at the same moment. What waits is limited ([MaxAge], [MaxBytes]): the oldest profiles are
// dropped, counted and reported.
//
// A profile can arrive twice: if a connection breaks after a server has stored the profile and before the server's answer
// has arrived, gasm can't know that, and sends it again, with the same ID.
package push
