package stack

import "time"

// longestAsk is how long a walk waits for a read of the JVM's memory. A read usually takes microseconds. It takes a few
// milliseconds when the code cache is read for the first time, and a few seconds on a very busy machine. It never ends
// if the memory is mapped from a file system that does not answer. Samples that arrive meanwhile have to wait.
const longestAsk = 10 * time.Second

// within calls f, which reads the JVM's memory, in another goroutine, so that a JVM can't block the goroutine that
// writes the samples. It waits for f's result until longestAsk has passed or GiveUp is called. Without a result, ok is
// false. Until f has returned, further calls of this function return false at once. f must not change what the caller
// can see.
func within[T any](j *jvm, f func() T) (value T, ok bool) {
	if j.asked.Swap(true) {
		return value, false
	}
	answer := make(chan T, 1)
	go func() {
		var value T
		j.elsewhere.During(func() { value = f() })
		j.asked.Store(false)
		answer <- value
	}()
	timer := time.NewTimer(longestAsk)
	defer timer.Stop()
	select {
	case value = <-answer:
		return value, true
	case <-timer.C:
	case <-j.givenUp:
	}
	return value, false
}

// ask calls within for a walk. If there is no result in time, it sets k.late, which ends the walk.
func ask[T any](k *walk, f func() T) T {
	value, ok := within(k.jvm, f)
	k.late = k.late || !ok
	return value
}

// GiveUp makes all walks return soon: no walk waits for the memory of a JVM or for a file any more. Any goroutine may
// call it, but only once.
func (w *Walker) GiveUp() { close(w.givenUp) }
