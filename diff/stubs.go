package diff

import (
	"slices"
	"strings"
)

// renamedStubs maps old names of HotSpot's stubs to their names in newer JDKs. These stubs are the
// intrinsics of java.lang.Math. In JDK 17 their names refer to HotSpot's own libm (libmSin), in JDK
// 25 only to what they compute (dsin).
var renamedStubs = map[string]string{
	"StubRoutines::libmSin": "StubRoutines::dsin", "StubRoutines::libmCos": "StubRoutines::dcos",
	"StubRoutines::libmTan": "StubRoutines::dtan",
	"StubRoutines::libmExp": "StubRoutines::dexp", "StubRoutines::libmPow": "StubRoutines::dpow",
	"StubRoutines::libmLog": "StubRoutines::dlog", "StubRoutines::libmLog10": "StubRoutines::dlog10",
}

// stubSource is the Source of stubs.
const stubSource = "stub"

// pairStubs returns copies of the sides. In these copies, a stub that was only renamed has the same
// name on both sides: "StubRoutines::dlog (libmLog in A)".
func pairStubs(a, b *TrialSide) (_, _ *TrialSide) {
	namesA, namesB := map[string]string{}, map[string]string{}
	for before, after := range renamedStubs {
		short := strings.TrimPrefix(before, "StubRoutines::")
		switch {
		case a.hasStub(before) && b.hasStub(after):
			namesA[before] = after + " (" + short + " in A)"
			namesB[after] = namesA[before]
		case a.hasStub(after) && b.hasStub(before):
			namesB[before] = after + " (" + short + " in B)"
			namesA[after] = namesB[before]
		}
	}
	return a.withStubs(namesA), b.withStubs(namesB)
}

func (t *TrialSide) hasStub(name string) bool {
	return slices.ContainsFunc(t.Methods, func(i Item) bool { return i.Source == stubSource && i.Name == name })
}

// withStubs returns a copy with renamed stubs. names maps old names to new ones. If the map is
// empty, withStubs returns t itself.
func (t *TrialSide) withStubs(names map[string]string) *TrialSide {
	if len(names) == 0 {
		return t
	}
	renamed := *t
	renamed.Methods, renamed.Regions = slices.Clone(t.Methods), slices.Clone(t.Regions)
	for i := range renamed.Methods {
		if m := &renamed.Methods[i]; m.Source == stubSource && names[m.Name] != "" {
			m.Name = names[m.Name]
		}
	}
	for i := range renamed.Regions {
		if r := &renamed.Regions[i]; r.Source == stubSource && names[r.Method] != "" {
			r.Method = names[r.Method]
		}
	}
	return &renamed
}
