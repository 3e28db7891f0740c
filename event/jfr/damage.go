package jfr

import "fmt"

// Damage says what of a recording could not be read. The rest was.
type Damage struct {
	Chunks      int // that are cut, or of which nothing can be read
	Checkpoints int // whose constants are missing, at least in part: values that refer to them are null
	Events      int // that do not fit their type, or have none
	// First are the first faults, as text for people.
	First []string
}

// Any tells whether something could not be read.
func (d Damage) Any() bool { return d.Chunks+d.Checkpoints+d.Events > 0 }

// maxFaults is how many faults are told of.
const maxFaults = 8

func (d *Damage) chunk(err error)      { d.Chunks++; d.note(err) }
func (d *Damage) checkpoint(err error) { d.Checkpoints++; d.note(err) }

// event makes no text of what is not told of: there may be an event for every two bytes.
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

// A VersionError is a recording of a version that this package does not read.
type VersionError struct{ Major, Minor uint16 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("it is of version %d.%d, and gasm reads those of JDK 11 and newer (2.x): record with such a JDK", e.Major, e.Minor)
}
