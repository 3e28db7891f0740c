//go:build !linux

package processend

// Await waits for stop, and returns false. It does not wait for the process: gasm attaches to JVMs only on Linux, so
// nobody needs that here.
func Await(_ int, _ uint64, stop <-chan struct{}) bool {
	<-stop
	return false
}
