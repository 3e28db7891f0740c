package jfr

import "fmt"

// Damage counts the parts of a recording that could not be read. Everything else was read.
type Damage struct {
	Chunks      int // chunks that are cut off or completely unreadable, and places with foreign bytes between chunks
	Checkpoints int // checkpoints that could not be read completely; values that refer to their missing constants are null
	Events      int // events that do not have the fields of their type, or whose type is unknown
	// First describes the first faults, at most maxFaults of them.
	First []string
}

// Any reports whether anything could not be read.
func (d Damage) Any() bool { return d.Chunks+d.Checkpoints+d.Events > 0 }

// maxFaults is the maximum number of messages in Damage.First.
const maxFaults = 8

func (d *Damage) chunk(err error)      { d.Chunks++; d.note(err) }
func (d *Damage) checkpoint(err error) { d.Checkpoints++; d.note(err) }

// event counts an event that can't be read. It formats a message only for the first maxFaults faults, because a
// damaged file can have a fault for every two bytes.
func (d *Damage) event(format string, arg any) {
	if d.Events++; len(d.First) < maxFaults {
		d.note(fmt.Errorf(format, arg))
	}
}

func (d *Damage) note(err error) {
	if len(d.First) < maxFaults {
		d.First = append(d.First, err.Error())
	}
}

// A VersionError reports a recording in a format version that this package does not read.
type VersionError struct{ Major, Minor uint16 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("its version is %d.%d, but gasm reads 2.x only: record with JDK 11 or newer", e.Major, e.Minor)
}
