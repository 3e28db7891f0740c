//go:build !linux

package wallclock

import "errors"

// A Recorder records one JVM.
type Recorder struct{}

// Start returns an error, because gasm reads running JVMs on Linux only.
func Start(int, Options) (*Recorder, error) {
	return nil, errors.New("gasm looks at the threads of running JVMs on Linux only")
}

// Done returns nil.
func (r *Recorder) Done() <-chan struct{} { return nil }

// Stop returns an empty Result.
func (r *Recorder) Stop() Result { return Result{} }
