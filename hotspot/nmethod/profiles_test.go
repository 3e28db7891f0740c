package nmethod

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/hotspot/methoddata"
	"github.com/gasm-profiler/gasm/printassembly"
)

// profiledCopier returns a Copier that has read these methods and their profiles. The address of a method and the
// number of its profile are both its index, counted from 1.
func profiledCopier(methods ...*method) *Copier {
	c := &Copier{methods: map[uint64]*method{}}
	c.profiler = &profiler{reader: &methoddata.Reader{}, numbers: map[uint64]int{},
		used: map[printassembly.CodeKey][]uint64{}}
	for i, m := range methods {
		c.methods[uint64(i+1)], c.profiler.numbers[uint64(i+1)] = m, i+1
	}
	return c
}

// profiledCode returns code of C2 with frames of the methods at some addresses.
func (c *Copier) profiledCode(id int, kind string, methods ...uint64) *Code {
	code := &Code{Installed: &printassembly.Installed{ID: id, Compiler: "c2", Kind: kind}, copier: c, methods: methods,
		used: map[int]bool{}}
	for i := range methods {
		code.used[i+1] = true
	}
	return code
}

// TestAppendProfilesOSR: JDK 8 numbers OSR code separately, so two pieces of code may have the same compile id.
func TestAppendProfilesOSR(t *testing.T) {
	c := profiledCopier(&method{name: "A::a"}, &method{name: "B::b"})
	for _, code := range []struct {
		kind    string
		methods []uint64
		want    string
	}{
		{"", []uint64{1}, "<profiles compile_id='5' ids='1'/>\n"},
		{"osr", []uint64{1}, "<profiles compile_id='5' osr='1' ids='1'/>\n"},
		{"", []uint64{1, 2}, "<profiles compile_id='5' ids='2'/>\n"},
		{"osr", []uint64{1}, ""},
	} {
		assert.Equal(t, code.want, string(c.profiledCode(5, code.kind, code.methods...).AppendProfiles(nil)), "%+v", code)
	}
}

// withLines returns a method with bytecodes on n consecutive source lines, of which the line first is the lowest.
func withLines(name string, first, n int) *method {
	m := &method{name: name}
	for i := range n {
		m.lines = append(m.lines, lineNumber{i, first + i})
	}
	return m
}

// TestDistinguishable: of methods with the same name, those that share a line with another one have no profile.
func TestDistinguishable(t *testing.T) {
	var many, most []*method
	for i := range maxOverloads + 1 {
		many = append(many, withLines("A::a", 10*i+1, 10))
	}
	many = append(many, withLines("B::b", 1, 10))
	most = many[1:]
	for name, c := range map[string]struct {
		methods []*method
		want    string
	}{
		"other names":   {[]*method{withLines("A::a", 1, 3), withLines("B::b", 1, 3), {name: "C::c"}}, "1 2 3"},
		"other lines":   {[]*method{withLines("A::a", 1, 3), withLines("A::a", 4, 3)}, "1 2"},
		"a line of two": {[]*method{withLines("A::a", 1, 3), withLines("A::a", 3, 3), withLines("A::a", 6, 1)}, "3"},
		"a line of three": {[]*method{withLines("A::a", 1, 3), withLines("A::a", 3, 1), withLines("A::a", 3, 2),
			withLines("A::a", 9, 1)}, "4"},
		"no lines": {[]*method{withLines("A::a", 1, 3), {name: "A::a"}, withLines("B::b", 1, 3)}, "3"},
		"a line twice": {[]*method{{name: "A::a", lines: []lineNumber{{0, 1}, {4, 2}, {8, 1}}}, withLines("A::a", 3, 1)},
			"1 2"},
		"the most": {most, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"},
		"too many": {many, "18"},
	} {
		copier, used := profiledCopier(c.methods...), addresses(1, len(c.methods))
		want := "<profiles compile_id='5' ids='" + c.want + "'/>\n"
		assert.Equal(t, want, string(copier.profiledCode(5, "", used...).AppendProfiles(nil)), name)
	}
	// The lines of a new method are also compared with those of a method that was looked at before.
	c := profiledCopier(withLines("A::a", 1, 3), withLines("A::a", 3, 3))
	assert.NotEmpty(t, c.profiledCode(5, "", 1).AppendProfiles(nil))
	assert.Empty(t, c.profiledCode(5, "", 1, 2).AppendProfiles(nil))
}

// addresses returns n consecutive numbers, beginning with first, as addresses.
func addresses(first, n int) (at []uint64) {
	for i := range n {
		at = append(at, uint64(first+i))
	}
	return at
}

// TestDistinguishableWork counts allocations to check that the work of distinguishable grows with the number of
// lines, and not with its square.
func TestDistinguishableWork(t *testing.T) {
	const lines = 5000
	var methods []*method
	for i := range maxOverloads {
		methods = append(methods, withLines("A::a", i*lines+1, lines))
	}
	methods = append(methods, withLines("B::b", 1, 1))
	c := profiledCopier(methods...)
	allocations := func(fresh, used []uint64) float64 {
		return testing.AllocsPerRun(1, func() { assert.Len(t, c.distinguishable(fresh, used), len(fresh)) })
	}
	all := addresses(1, maxOverloads)
	four, sixteen := allocations(all[:4], all[:4]), allocations(all, all)
	assert.Less(t, sixteen, 8*four, "four times as many lines are four times the work, not 16 times")
	all = append(all, maxOverloads+1)
	assert.Less(t, allocations(all[maxOverloads:], all), 20.0, "lines of methods of other names")

	code := c.profiledCode(5, "", all...)
	assert.NotEmpty(t, code.AppendProfiles(nil))
	assert.Less(t, testing.AllocsPerRun(1, func() { assert.Empty(t, code.AppendProfiles(nil)) }), 20.0,
		"no method is fresh")
}
