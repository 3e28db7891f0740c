package push

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// Limits for the profiles that wait for one destination. Beyond them, the oldest profiles are dropped.
const (
	// MaxAge is the age at which a profile is dropped, counted from the end of its interval. Pyroscope refuses profiles
	// that are older than an hour.
	MaxAge = time.Hour
	// MaxBytes is the maximum size of all waiting profiles together.
	MaxBytes = 64 << 20
)

// Pauses between two tries. Each pause is 1.5 times as long as the one before, and is then made up to a half shorter or
// longer at random.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	// mostAsked is the longest pause that a destination can ask for.
	mostAsked = 5 * time.Minute
)

// Stats count the profiles of a Queue.
type Stats struct {
	Sent    int64
	Dropped int64 // because they were too old or too many, or because the Queue was closed
	Refused int64 // by the destination
	Retries int64 // failed tries that were repeated
	Waiting int
	Bytes   int64 // size of the waiting profiles
}

// Text returns a message with the counts. The parameter to is the name of the destination.
func (s Stats) Text(to string) string {
	text := fmt.Sprintf("%s: %s sent", to, layout.Plural(int(s.Sent), "profile"))
	if s.Dropped > 0 {
		text += fmt.Sprintf(", %d dropped", s.Dropped)
	}
	if s.Refused > 0 {
		text += fmt.Sprintf(", %d refused", s.Refused)
	}
	if s.Retries > 0 {
		text += ", after " + layout.Plural(int(s.Retries), "failed attempt")
	}
	return text
}

// A Queue sends profiles to one destination.
type Queue struct {
	to       Destination
	say      func(string)
	maxAge   time.Duration
	maxBytes int64
	pauses   *backoff.ExponentialBackOff

	mu      sync.Mutex
	waiting []*Profile // oldest first; if the field sending is true, the first one is being sent
	sending bool
	closing bool
	stats   Stats
	said    time.Time // when the last failure was reported
	away    bool      // a failure was reported, and nothing was sent since
	untold  int64     // dropped profiles that were not reported yet

	wake    chan struct{} // has an element if the list waiting may have changed
	stopped chan struct{} // closed when Run has returned
}

// NewQueue returns an empty Queue. The Queue calls say with messages for the user, at most a few per minute.
func NewQueue(to Destination, say func(text string)) *Queue {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = firstPause, longestPause
	return &Queue{to: to, say: say, maxAge: MaxAge, maxBytes: MaxBytes, pauses: pauses,
		wake: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// String returns the destination's name.
func (q *Queue) String() string { return q.to.String() }

// Add adds a profile. It never blocks.
func (q *Queue) Add(p *Profile) {
	q.mu.Lock()
	q.waiting = append(q.waiting, p)
	q.stats.Bytes += int64(len(p.Pprof))
	for q.stats.Bytes > q.maxBytes && len(q.waiting) > 1 {
		at := 0
		if q.sending {
			at = 1 // the first one is being sent, and may still arrive
		}
		if at == len(q.waiting)-1 {
			break
		}
		q.remove(at)
		q.drop(1)
	}
	q.mu.Unlock()
	q.notify()
}

// remove removes the waiting profile at an index.
func (q *Queue) remove(at int) {
	q.stats.Bytes -= int64(len(q.waiting[at].Pprof))
	copy(q.waiting[at:], q.waiting[at+1:])
	q.waiting[len(q.waiting)-1] = nil
	q.waiting = q.waiting[:len(q.waiting)-1]
}

func (q *Queue) drop(n int64) {
	q.stats.Dropped += n
	q.untold += n
}

func (q *Queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Stats returns the current counts.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Waiting = len(q.waiting)
	return s
}

// Run sends profiles until ctx is done, or until the Queue is closed and empty.
func (q *Queue) Run(ctx context.Context) {
	defer close(q.stopped)
	for {
		p, closing := q.next()
		if p != nil {
			if err := q.deliver(ctx, p); ctx.Err() != nil && err != nil {
				return
			}
			continue
		}
		if closing {
			return
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return
		}
	}
}

// next returns the oldest profile, without removing it from the Queue, or nil if there is none.
func (q *Queue) next() (p *Profile, closing bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		p, q.sending = q.waiting[0], true
	}
	return p, q.closing
}

// errTooOld means that a profile has reached MaxAge and is not sent any more.
var errTooOld = errors.New("it is too old")

// deliver sends a profile, with as many tries as necessary, and removes it from the Queue. If ctx is done first, the
// profile stays in the Queue.
func (q *Queue) deliver(ctx context.Context, p *Profile) error {
	try := func() (struct{}, error) {
		if time.Since(p.To) > q.maxAge {
			return struct{}{}, backoff.Permanent(errTooOld)
		}
		return struct{}{}, retryable(q.to.Send(ctx, p))
	}
	// The pause is not reset before the next profile. So if the destination is unreachable, the pause stays long, and
	// each profile is tried only once more before it is too old.
	_, err := backoff.Retry(ctx, try, backoff.WithBackOff(lasting{q.pauses}), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) { q.failed(err) }))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending = false
	refused, isRefused := errors.AsType[*RefusedError](err)
	switch {
	case err == nil:
		q.stats.Sent++
		q.pauses.Reset()
		q.back()
	case errors.Is(err, errTooOld):
		q.drop(1)
		q.complain("")
	case isRefused:
		q.stats.Refused++
		q.complain("refuses a profile: " + refused.Reason)
	default: // ctx is done
		return err
	}
	q.remove(0)
	return nil
}

// retryable wraps err so that package backoff gives up or waits as err demands.
func retryable(err error) error {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return backoff.Permanent(refused)
	}
	if busy, ok := errors.AsType[*BusyError](err); ok && busy.After > 0 {
		after := min(busy.After, mostAsked)
		after += rand.N(after/2 + 1) // other senders were asked for the same pause, so a random part spreads them
		return &laterError{err, &backoff.RetryAfterError{Duration: after}}
	}
	return err
}

// A laterError makes package backoff wait for a given time.
type laterError struct {
	error
	pause *backoff.RetryAfterError
}

func (e *laterError) Unwrap() []error { return []error{e.error, e.pause} }

// The type lasting is a BackOff whose pauses package backoff can't reset when it begins with the next profile.
type lasting struct{ *backoff.ExponentialBackOff }

func (lasting) Reset() {}

// failed counts and reports a failed try.
func (q *Queue) failed(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Retries++
	q.complain(err.Error() + "; " + layout.Plural(len(q.waiting), "profile") + " waiting")
}

// saidEvery is the minimum time between two reports of failures.
const saidEvery = time.Minute

// complain reports a failure, and how many profiles were dropped, unless a failure was reported in the last minute.
func (q *Queue) complain(text string) {
	if time.Since(q.said) < saidEvery {
		return
	}
	if q.untold > 0 {
		dropped := layout.Plural(int(q.untold), "profile") + " dropped, because they waited for too long or were too many"
		if text != "" {
			dropped = "; " + dropped
		}
		text += dropped
		q.untold = 0
	}
	if text == "" {
		return
	}
	q.said, q.away = time.Now(), true
	q.say(q.to.String() + ": " + text)
}

// back reports that the destination takes profiles again, if a failure was reported before.
func (q *Queue) back() {
	if q.away {
		q.away, q.said = false, time.Time{}
		q.say(q.to.String() + ": takes profiles again")
	}
}

// Close waits until all profiles are sent or ctx is done, and returns the counts. Profiles that were not sent count as
// dropped. When ctx is done, the context of Run must be done too, or soon after.
func (q *Queue) Close(ctx context.Context) Stats {
	q.mu.Lock()
	q.closing = true
	q.mu.Unlock()
	q.notify()
	select {
	case <-q.stopped:
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Dropped += int64(len(q.waiting))
	return s
}
