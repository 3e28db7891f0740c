package push

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fake is a Destination that answers with given errors.
type fake struct {
	mu      sync.Mutex
	answers []error // of the next calls; later calls succeed
	calls   []string
	taken   []string
	blocked chan struct{} // if not nil, Send waits until it is closed
	entered chan struct{} // gets an element when Send waits
}

func (f *fake) String() string { return "fake" }

func (f *fake) Send(ctx context.Context, p *Profile) error {
	if f.blocked != nil {
		f.entered <- struct{}{}
		select {
		case <-f.blocked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, p.ID)
	if len(f.answers) > 0 {
		err := f.answers[0]
		f.answers = f.answers[1:]
		if err != nil {
			return err
		}
	}
	f.taken = append(f.taken, p.ID)
	return nil
}

// profileOf returns a profile with that many bytes, whose interval ended the duration age ago.
func profileOf(id string, bytes int, age time.Duration) *Profile {
	return &Profile{ID: id, To: time.Now().Add(-age), Pprof: make([]byte, bytes)}
}

// quick returns a Queue with negligible pauses, and a function that returns its messages.
func quick(to Destination) (*Queue, func() []string) {
	var mu sync.Mutex
	var said []string
	q := NewQueue(to, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, text)
	})
	q.pauses.InitialInterval, q.pauses.MaxInterval = time.Microsecond, time.Millisecond
	return q, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(said)
	}
}

func TestQueue(t *testing.T) {
	down := errors.New("connection refused")
	for _, test := range []struct {
		name    string
		answers []error
		calls   []string
		taken   []string
		want    Stats
		said    []string
	}{
		{"all is well", nil, []string{"a", "b"}, []string{"a", "b"}, Stats{Sent: 2}, nil},
		{"down for a while", []error{down, down, down}, []string{"a", "a", "a", "a", "b"}, []string{"a", "b"},
			Stats{Sent: 2, Retries: 3},
			[]string{"fake: connection refused; 2 profiles waiting", "fake: takes profiles again"}},
		{"busy", []error{&BusyError{"it answers 429", 0}}, []string{"a", "a", "b"}, []string{"a", "b"},
			Stats{Sent: 2, Retries: 1},
			[]string{"fake: it answers 429; 2 profiles waiting", "fake: takes profiles again"}},
		{"busy, with a pause", []error{&BusyError{"it answers 429", time.Millisecond}}, []string{"a", "a", "b"},
			[]string{"a", "b"}, Stats{Sent: 2, Retries: 1},
			[]string{"fake: it answers 429 (again after 1ms); 2 profiles waiting", "fake: takes profiles again"}},
		{"refused once", []error{&RefusedError{"it answers 400"}}, []string{"a", "b"}, []string{"b"},
			Stats{Sent: 1, Refused: 1},
			[]string{"fake: refuses a profile: it answers 400", "fake: takes profiles again"}},
		{"refused after a retry", []error{down, &RefusedError{"it answers 400"}}, []string{"a", "a", "b"}, []string{"b"},
			Stats{Sent: 1, Refused: 1, Retries: 1},
			[]string{"fake: connection refused; 2 profiles waiting", "fake: takes profiles again"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{answers: test.answers}
			q, said := quick(f)
			q.Add(profileOf("a", 10, 0))
			q.Add(profileOf("b", 10, 0))
			go q.Run(t.Context())
			assert.Equal(t, test.want, q.Close(t.Context()))
			assert.Equal(t, test.calls, f.calls)
			assert.Equal(t, test.taken, f.taken)
			assert.Equal(t, test.said, said())
		})
	}
}

// TestQueueLimits checks that profiles that are too old or too many are dropped and counted, the oldest first.
func TestQueueLimits(t *testing.T) {
	f := &fake{}
	q, said := quick(f)
	q.maxBytes = 100
	for i := range 15 {
		q.Add(profileOf(strconv.Itoa(i), 10, 0))
	}
	assert.Equal(t, Stats{Dropped: 5, Waiting: 10, Bytes: 100}, q.Stats())
	q.Add(profileOf("large", 1000, 0)) // larger than the limit, but kept because it is the only one
	assert.Equal(t, Stats{Dropped: 15, Waiting: 1, Bytes: 1000}, q.Stats())
	q.Add(profileOf("old", 10, MaxAge+time.Second))
	go q.Run(t.Context())
	assert.Equal(t, Stats{Dropped: 17}, q.Close(t.Context()))
	assert.Equal(t, []string{"fake: 17 profiles dropped, because they waited for too long or were too many"}, said())
	assert.Empty(t, f.calls)
}

// TestQueueAway checks that a destination that is unreachable for longer than MaxAge costs one try per profile, and
// that the queue does not grow.
func TestQueueAway(t *testing.T) {
	f := &fake{answers: make([]error, 1000)}
	for i := range f.answers {
		f.answers[i] = errors.New("away")
	}
	q, _ := quick(f)
	q.maxAge = time.Nanosecond
	go q.Run(t.Context())
	for range 1000 {
		q.Add(profileOf("p", 10, 0))
	}
	s := q.Close(t.Context())
	assert.EqualValues(t, 1000, s.Dropped)
	assert.Zero(t, s.Sent+s.Bytes)
}

// TestQueueBlocked checks that a profile that is being sent is not dropped, that Add does not wait for it, and that
// Close gives up when its context is done. The remaining profiles count as dropped.
func TestQueueBlocked(t *testing.T) {
	f := &fake{blocked: make(chan struct{}), entered: make(chan struct{}, 1)}
	q, _ := quick(f)
	q.maxBytes = 50
	ctx, cancel := context.WithCancel(t.Context())
	go q.Run(ctx)
	q.Add(profileOf("sent", 10, 0))
	<-f.entered
	for i := range 10 {
		q.Add(profileOf(strconv.Itoa(i), 10, 0))
	}
	assert.Equal(t, Stats{Dropped: 6, Waiting: 5, Bytes: 50}, q.Stats())
	assert.Equal(t, "sent", q.waiting[0].ID)
	assert.Equal(t, "9", q.waiting[4].ID)
	over, done := context.WithCancel(t.Context())
	done()
	assert.Equal(t, Stats{Dropped: 11, Bytes: 50}, q.Close(over))
	cancel()
	<-q.stopped
}

// TestQueuePauses checks that the pauses grow and vary at random.
func TestQueuePauses(t *testing.T) {
	q := NewQueue(&fake{}, func(string) {})
	var all []time.Duration
	for range 30 {
		all = append(all, q.pauses.NextBackOff())
	}
	require.Less(t, all[0], 2*time.Second)
	assert.Greater(t, slices.Max(all), 30*time.Second)
	assert.LessOrEqual(t, slices.Max(all), 90*time.Second)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), 30)
}

// TestRetryable checks that the pause that a destination asks for is limited, and that senders do not all pause equally
// long.
func TestRetryable(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		err := retryable(&BusyError{"busy", 24 * time.Hour})
		later, ok := errors.AsType[*laterError](err)
		require.True(t, ok)
		assert.GreaterOrEqual(t, later.pause.Duration, mostAsked)
		assert.LessOrEqual(t, later.pause.Duration, 3*mostAsked/2)
		seen[later.pause.Duration] = true
	}
	assert.Greater(t, len(seen), 90)
}
