package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// A PerEvent is a JSON object with one value for each event. Unlike a map, it keeps the order of the events.
type PerEvent[T any] struct {
	Events []string
	Values []T // in the order of Events
}

// Counts are samples by event.
type Counts = PerEvent[int64]

// PerJVM are counts in the order of Profile.JVMs. It is nil for a single JVM.
type PerJVM = []Counts

// Slices are samples over time, by event; see Profile.Slices.
type Slices = PerEvent[[]int64]

// Of returns the value of an event, or the zero value if the object has no such event.
func (p PerEvent[T]) Of(event string) T {
	var none T
	if i := slices.Index(p.Events, event); i >= 0 {
		return p.Values[i]
	}
	return none
}

// IsZero reports whether there are no events. encoding/json calls it for a field with omitzero.
func (p PerEvent[T]) IsZero() bool { return len(p.Events) == 0 }

// MarshalJSON writes the object with its members in the order of Events.
func (p PerEvent[T]) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, event := range p.Events {
		key, err := json.Marshal(event)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(p.Values[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, key...), ':'), value...)
	}
	return append(text, '}'), nil
}

// maxEvents is the maximum number of events in a report. Reading a report with more of them fails.
const maxEvents = 64

// UnmarshalJSON reads an object. If several members have the same name, the last one counts, as everywhere in
// encoding/json.
func (p *PerEvent[T]) UnmarshalJSON(text []byte) error {
	*p = PerEvent[T]{}
	dec := json.NewDecoder(bytes.NewReader(text))
	if start, err := dec.Token(); err != nil || start == nil { // null
		return err
	} else if start != json.Delim('{') {
		return fmt.Errorf("%.40s is not an object of events", text)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value T
		if err := dec.Decode(&value); err != nil {
			return err
		}
		event := key.(string) // the keys of an object are strings
		if i := slices.Index(p.Events, event); i >= 0 {
			p.Values[i] = value
			continue
		}
		if len(p.Events) == maxEvents {
			return fmt.Errorf("too many events: more than %d", maxEvents)
		}
		p.Events, p.Values = append(p.Events, event), append(p.Values, value)
	}
	_, err := dec.Token()
	return err
}

// An Address is written as a string, "0x7fdec8ed6360", because many readers of JSON lose the last digits of a number of
// 64 bits.
type Address uint64

// MarshalText writes the address in hexadecimal.
func (a Address) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(a)), nil }

// UnmarshalText reads an address in hexadecimal: "0x7fdec8ed6360".
func (a *Address) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 0, 64)
	if err != nil {
		return fmt.Errorf("%q is not an address", text)
	}
	*a = Address(n)
	return nil
}
