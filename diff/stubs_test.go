package diff

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A stub that was renamed between two JDKs is one row. A stub that has the same name on both sides, or no counterpart,
// keeps its name. So does a method that has a stub's name.
func TestPairStubs(t *testing.T) {
	side := func(names ...string) *TrialSide {
		s := &TrialSide{Samples: 100}
		for _, name := range names {
			s.Methods = append(s.Methods, Item{Source: stubSource, Name: "StubRoutines::" + name, Count: 50})
			s.Regions = append(s.Regions, Region{Source: stubSource, Method: "StubRoutines::" + name, Count: 50})
		}
		s.Methods = append(s.Methods, Item{Source: "c2, level 4", Name: "StubRoutines::dlog", Count: 1})
		return s
	}
	names := func(s *TrialSide) (methods, regions []string) {
		for _, m := range s.Methods[:len(s.Methods)-1] {
			methods = append(methods, m.Name)
		}
		assert.Equal(t, "StubRoutines::dlog", s.Methods[len(s.Methods)-1].Name)
		for _, r := range s.Regions {
			regions = append(regions, r.Method)
		}
		return methods, regions
	}
	check := func(a, b *TrialSide, wantA, wantB []string) {
		t.Helper()
		oldA, oldB := *a, *b
		for _, s := range []*TrialSide{&oldA, &oldB} {
			s.Methods, s.Regions = slices.Clone(s.Methods), slices.Clone(s.Regions)
		}
		x, y := pairStubs(a, b)
		methods, regions := names(x)
		assert.Equal(t, [][]string{wantA, wantA}, [][]string{methods, regions})
		methods, regions = names(y)
		assert.Equal(t, [][]string{wantB, wantB}, [][]string{methods, regions})
		assert.Equal(t, []TrialSide{oldA, oldB}, []TrialSide{*a, *b}, "the sides are changed")
	}
	check(side("libmLog", "libmSin", "call_stub"), side("call_stub", "dlog"),
		[]string{"StubRoutines::dlog (libmLog in A)", "StubRoutines::libmSin", "StubRoutines::call_stub"},
		[]string{"StubRoutines::call_stub", "StubRoutines::dlog (libmLog in A)"})
	check(side("dpow"), side("libmPow"), []string{"StubRoutines::dpow (libmPow in B)"},
		[]string{"StubRoutines::dpow (libmPow in B)"})
	check(side("libmLog"), side("libmLog"), []string{"StubRoutines::libmLog"}, []string{"StubRoutines::libmLog"})
}
