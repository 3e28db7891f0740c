package jfr

import "fmt"

// Damage says what part of a recording could not be read. The rest was read.
type Damage struct {
	Chunks      int // cut off, or completely unreadable
	Checkpoints int // with missing constants; values that refer to these are null
	Events      int // not in the form of their type, or of an unknown type
	// First are messages about the first faults, for people.
	First []string
}

// Any reports whether anything could not be read.
func (d Damage) Any() bool { return d.Chunks+d.Checkpoints+d.Events > 0 }

// maxFaults is the number of faults in Damage.First.
const maxFaults = 8

func (d *Damage) chunk(err error)      { d.Chunks++; d.note(err) }
func (d *Damage) checkpoint(err error) { d.Checkpoints++; d.note(err) }

// event formats a message only for the first maxFaults faults, because a damaged file can have a fault for every two
// bytes.
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
