package push

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// A Profile is what one JVM did in an interval. It must not be changed after it was added to a Queue.
type Profile struct {
	ID       string  // random, different for each Profile
	Labels   []Label // sorted by name, each name once
	From, To time.Time
	Kind     Kind
	Samples  int64  // number of samples, or of events if the Kind is not CPU
	CPUNanos int64  // CPU time that the samples stand for, in ns
	Lost     int64  // number of samples that were lost in the interval, in all JVMs
	Pprof    []byte // in pprof's format, gzipped
}

// A Kind says what the samples of a Profile are.
type Kind string

// The kinds of profiles. The zero value is CPU.
const (
	CPU   Kind = ""
	Lock  Kind = "lock"  // waits of threads for a lock
	Alloc Kind = "alloc" // allocations, or samples of allocations
)

// String returns the Kind's name.
func (k Kind) String() string { return cmp.Or(string(k), "cpu") }

// A Label describes all samples of a Profile. Names are those of OpenTelemetry: "service.name".
type Label struct{ Name, Value string }

// Label returns the value of the label with the given name, or "".
func (p *Profile) Label(name string) string {
	for _, l := range p.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Names of labels that every Profile has.
const (
	ServiceName = "service.name"
	HostName    = "host.name"
	ProcessID   = "process.pid"
)

// A Destination accepts profiles.
type Destination interface {
	// Send delivers a profile. It returns a *RefusedError if the destination will never take this profile, and a
	// *BusyError if the destination says when it wants to be asked again. After any other error, the profile is sent
	// again later. Send is not called by several goroutines at once.
	Send(ctx context.Context, p *Profile) error
	// String returns the destination's name for messages, without secrets.
	String() string
}

// A RefusedError means that sending the same profile again is useless.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// A BusyError means that the destination wants a pause before the profile is sent again.
type BusyError struct {
	Reason string
	After  time.Duration // the pause; 0 if the destination does not say how long
}

func (e *BusyError) Error() string {
	if e.After == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s (again after %s)", e.Reason, e.After)
}
