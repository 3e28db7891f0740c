package jfr

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// BenchmarkReader reads a real recording with 200,000 events of a program and some of the JVM's, and looks at the
// time and some fields of each.
func BenchmarkReader(b *testing.B) {
	jdks := gasmtest.NeedJDKs(b, withRecorder)
	path := record(b, jdks[len(jdks)-1], recordedClasses(b), "default", "small", "200000")
	info, err := os.Stat(path)
	require.NoError(b, err)
	for _, bench := range []struct {
		name string
		look func(e *Event) int64
	}{
		{"types", func(e *Event) int64 { return e.StartTicks() }},
		{"fields", func(e *Event) int64 {
			n := e.Field("number").Int() + e.Field("nanoTime").Int()
			if t := e.Thread(); t != nil {
				n += t.OSID
			}
			return n
		}},
		{"all fields", readAll},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				r := open(b, path)
				for r.Scan() {
					bench.look(r.Event())
					events++
				}
				if r.Err() != nil || r.Damage().Any() || events < 200_000 {
					b.Fatal(r.Err(), r.Damage(), events)
				}
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// readAll reads each field of an event, including texts, the thread and the stack.
func readAll(e *Event) (n int64) {
	for _, v := range e.Fields() {
		switch v.Kind() {
		case Null, Array:
		case Bool, Int, Char:
			n += v.Int()
		case Float:
			n += int64(v.Float())
		case String:
			n += int64(len(v.Text()))
		case Struct:
			if t := v.Thread(); t != nil {
				n += t.OSID
			} else if s := v.Stack(); s != nil {
				n += int64(len(s.Frames))
			}
		}
	}
	return n
}
