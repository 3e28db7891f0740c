//go:build !linux

package processend

// Await only waits for stop, and returns false. It is not needed, because gasm attaches to JVMs only on Linux.
func Await(_ int, _ uint64, stop <-chan struct{}) bool {
	<-stop
	return false
}
