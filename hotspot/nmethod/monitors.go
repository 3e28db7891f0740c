package nmethod

import "github.com/gasm-profiler/gasm/hotspot/unsigned5"

// A Monitor is a monitor that a compiled frame has locked. Its object is in a word of the frame.
type Monitor struct {
	// Offset is where the frame has the reference to the object, in bytes from the frame's stack pointer.
	Offset uint64
	// Narrow is true if the reference is a compressed one, of 32 bits.
	Narrow bool
}

// maxMonitors limits the number of monitors that are read from a frame. A frame has few: one for each synchronized
// block that it is in.
const maxMonitors = 64

// Debug info begins a value with its kind (debugInfo.cpp). After locationValue comes a Location, after
// constantOopValue the number of a constant. A Location (location.hpp) has its own kind in the lowest four bits, then
// a bit that is set if the value is in a register, and then the offset in units of four bytes. The kinds of Locations
// differ between releases, so their numbers are read from HotSpot's tables.
const (
	locationValue    = 0
	constantOopValue = 2

	locationKind     = 15
	locationRegister = 1 << 4
	locationShift    = 5
)

// monitors returns the monitors of a scope whose objects are on the stack. It leaves out monitors whose lock the
// compiler has eliminated, and those whose object is a constant or in a register.
//
// A list of monitors begins with their number. Each monitor has the place of its BasicLock, the object, and a byte that
// is not 0 if the lock was eliminated (MonitorValue in debugInfo.hpp). If an object is encoded neither as a Location
// nor as a constant, the length of the encoding is not known here, so reading ends there.
func (c *Code) monitors(s scope) (all []Monitor) {
	if s.monitors <= 0 || s.monitors >= len(c.scopesData) {
		return nil
	}
	if !c.copier.layout.knowsLocations {
		return nil
	}
	u := unsigned5.New(c.scopesData, s.monitors, c.copier.layout.release)
	for range min(u.Unsigned(), maxMonitors) {
		u.Unsigned() // the BasicLock
		value, owner := u.Unsigned(), u.Unsigned()
		if value != locationValue && value != constantOopValue {
			return all
		}
		eliminated := u.Byte() != 0
		if u.Short() {
			return all
		}
		if value == constantOopValue {
			continue
		}
		kind, l := owner&locationKind, &c.copier.layout
		if !eliminated && owner&locationRegister == 0 && (kind == l.locationOop || kind == l.locationNarrowOop) {
			all = append(all, Monitor{Offset: 4 * uint64(owner>>locationShift), Narrow: kind == l.locationNarrowOop})
		}
	}
	return all
}
