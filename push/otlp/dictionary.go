package otlp

import (
	"encoding/binary"
	"strings"

	pprof "github.com/google/pprof/profile"
	v1 "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
)

// A dictionary builds the tables that all profiles of a request refer to. The first entry of each table is the zero
// value, as the protocol requires, and each other entry is in its table once.
type dictionary struct {
	out       *v1.ProfilesDictionary
	strings   map[string]int32
	mappings  map[*pprof.Mapping]int32
	functions map[*pprof.Function]int32
	locations map[*pprof.Location]int32
	frameType map[string]int32 // attributes, by value
	stacks    map[string]int32 // by the indices of their locations
}

func newDictionary() *dictionary {
	return &dictionary{
		out: &v1.ProfilesDictionary{StringTable: []string{""}, MappingTable: []*v1.Mapping{{}},
			LocationTable: []*v1.Location{{}}, FunctionTable: []*v1.Function{{}}, StackTable: []*v1.Stack{{}},
			LinkTable:      []*v1.Link{{TraceId: make([]byte, 16), SpanId: make([]byte, 8)}},
			AttributeTable: []*v1.KeyValueAndUnit{{}}},
		strings: map[string]int32{"": 0}, mappings: map[*pprof.Mapping]int32{nil: 0},
		functions: map[*pprof.Function]int32{nil: 0}, locations: map[*pprof.Location]int32{},
		frameType: map[string]int32{"": 0}, stacks: map[string]int32{"": 0},
	}
}

// added returns the index of the table's entry for a key. If the key is new, the entry is appended first.
func added[K comparable, V any](known map[K]int32, table *[]V, key K, entry func() V) int32 {
	index, ok := known[key]
	if !ok {
		value := entry() // may add entries to other tables
		index = int32(len(*table))
		known[key] = index
		*table = append(*table, value)
	}
	return index
}

func (d *dictionary) text(s string) int32 {
	return added(d.strings, &d.out.StringTable, s, func() string { return strings.ToValidUTF8(s, "_") })
}

func (d *dictionary) valueType(t *pprof.ValueType) *v1.ValueType {
	if t == nil {
		return nil
	}
	return &v1.ValueType{TypeStrindex: d.text(t.Type), UnitStrindex: d.text(t.Unit)}
}

func (d *dictionary) stack(locations []*pprof.Location) int32 {
	indices := make([]int32, len(locations))
	var key []byte
	for i, l := range locations {
		indices[i] = d.location(l)
		key = binary.AppendUvarint(key, uint64(indices[i]))
	}
	return added(d.stacks, &d.out.StackTable, string(key), func() *v1.Stack {
		return &v1.Stack{LocationIndices: indices}
	})
}

func (d *dictionary) location(l *pprof.Location) int32 {
	return added(d.locations, &d.out.LocationTable, l, func() *v1.Location {
		out := &v1.Location{MappingIndex: d.mapping(l.Mapping), Address: l.Address}
		for _, line := range l.Line {
			out.Lines = append(out.Lines, &v1.Line{FunctionIndex: d.function(line.Function), Line: line.Line})
		}
		if attribute := d.frame(l.Mapping); attribute != 0 {
			out.AttributeIndices = []int32{attribute}
		}
		return out
	})
}

// mapping returns the index of a mapping. Its addresses are left out, because the locations have none either, and
// because mappings of different JVMs are equal without them.
func (d *dictionary) mapping(m *pprof.Mapping) int32 {
	return added(d.mappings, &d.out.MappingTable, m, func() *v1.Mapping {
		return &v1.Mapping{FilenameStrindex: d.text(m.File)}
	})
}

func (d *dictionary) function(f *pprof.Function) int32 {
	return added(d.functions, &d.out.FunctionTable, f, func() *v1.Function {
		return &v1.Function{NameStrindex: d.text(f.Name), SystemNameStrindex: d.text(f.SystemName),
			FilenameStrindex: d.text(f.Filename), StartLine: f.StartLine}
	})
}

// frame returns the index of the attribute for the kind of code that a mapping contains. It returns 0 for a mapping of
// marks such as "[cut]".
func (d *dictionary) frame(m *pprof.Mapping) int32 {
	kind := ""
	switch {
	case m == nil:
	case m.File == "[code cache]", m.File == "[interpreter]":
		kind = "jvm"
	case m.File == "[kernel]":
		kind = "kernel"
	case !strings.HasPrefix(m.File, "["):
		kind = "native"
	}
	return added(d.frameType, &d.out.AttributeTable, kind, func() *v1.KeyValueAndUnit {
		return &v1.KeyValueAndUnit{KeyStrindex: d.text("profile.frame.type"), Value: textValue(kind)}
	})
}
