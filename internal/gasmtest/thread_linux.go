package gasmtest

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// OnEndingThread calls a function in a thread that ends after that. It is not the process's first thread, which the
// runtime never ends, and whose user is that of the process.
func OnEndingThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine, unless it is unlocked
		if unix.Gettid() == unix.Getpid() {
			OnEndingThread(f) // this goroutine waits, and keeps the first thread
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}
