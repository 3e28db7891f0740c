package stack

import "time"

// longestAsk is how long a walk waits for the JVM's memory. Reading it usually takes microseconds. It takes some
// milliseconds when the code cache is read for the first time, and some seconds on a very busy machine. It never ends
// if the JVM has mapped its memory from a file system that does not answer. The caller keeps the samples meanwhile.
const longestAsk = 10 * time.Second

// within runs f, which reads the JVM's memory, in another goroutine. It waits for the result, but no longer than
// longestAsk, and not at all after GiveUp. ok is false if there is no result by then. After that, until f has returned,
// each call of within returns false at once. So the goroutine that writes the samples is not blocked by a JVM. f must
// not change what the caller can see.
func within[T any](j *jvm, f func() T) (value T, ok bool) {
	if j.asked.Swap(true) {
		return value, false
	}
	answer := make(chan T, 1)
	go func() {
		value := f()
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

// ask is within for a walk. If there is no result in time, the walk ends.
func ask[T any](k *walk, f func() T) T {
	value, ok := within(k.jvm, f)
	k.late = k.late || !ok
	return value
}

// GiveUp makes all walks return soon. From now on, nobody waits for the memory of a JVM or for a file. Any goroutine may
// call it, once.
func (w *Walker) GiveUp() { close(w.givenUp) }
