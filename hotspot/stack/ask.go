package stack

import (
	"runtime"
	"time"
)

// longestAsk is how long a walk waits for a read of the JVM's memory. A read usually takes microseconds. It takes a few
// milliseconds when the code cache is read for the first time, and a few seconds on a very busy machine. It never ends
// if the memory is mapped from a file system that does not answer. Samples that arrive meanwhile have to wait.
const longestAsk = 10 * time.Second

// A reader is a goroutine that reads the memory of JVMs for a Walker. It is kept between two calls, because to start a
// goroutine for each takes longer than most reads. It ends when the garbage collector has found that nobody has the
// reader any more, so a Walker need not be closed, and a reader whose call takes too long can just be dropped.
type reader struct {
	calls chan<- func()
	done  <-chan struct{} // has a value after each call
	timer *time.Timer
}

func newReader() *reader {
	calls, done := make(chan func(), 1), make(chan struct{}, 1)
	go func() { // it must not refer to the reader
		for call := range calls {
			call()
			done <- struct{}{}
		}
	}()
	r := &reader{calls, done, time.NewTimer(longestAsk)}
	runtime.AddCleanup(r, func(calls chan<- func()) { close(calls) }, (chan<- func())(calls))
	return r
}

// do runs f in the reader's goroutine. It returns false if f has not returned after longestAsk or when givenUp is
// closed. After that, the reader can't be used any more.
func (r *reader) do(f func(), givenUp <-chan struct{}) (ok bool) {
	r.timer.Reset(longestAsk)
	defer r.timer.Stop()
	r.calls <- f
	select {
	case <-r.done:
		return true
	case <-r.timer.C:
	case <-givenUp:
	}
	return false
}

// within calls f, which reads the JVM's memory, in another goroutine, so that a JVM can't block the goroutine that
// writes the samples. It waits for f's result until longestAsk has passed or GiveUp is called. Without a result, ok is
// false. Until f has returned, further calls of this function return false at once. f must not change what the caller
// can see.
func within[T any](j *jvm, f func() T) (value T, ok bool) {
	if j.asked.Swap(true) {
		return value, false
	}
	var answer T
	ok = j.w.inReader(func() {
		j.w.elsewhere.During(func() { answer = f() })
		j.asked.Store(false)
	})
	if ok {
		value = answer
	}
	return value, ok
}

// inReader runs f in the Walker's reader. Like [reader.do], it returns false if f has not returned in time.
func (w *Walker) inReader(f func()) (ok bool) {
	r := w.reader
	if w.reader = nil; r == nil {
		r = newReader()
	}
	if ok = r.do(f, w.givenUp); ok {
		w.reader = r
	}
	return ok
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
