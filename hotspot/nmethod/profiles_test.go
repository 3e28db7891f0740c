package nmethod

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/hotspot/methoddata"
	"github.com/gasm-profiler/gasm/printassembly"
)

// profiledCopier returns a Copier that has read these methods and their profiles. A method's address and the number of
// its profile are its index, counted from 1.
func profiledCopier(methods ...*method) *Copier {
	c := &Copier{methods: map[uint64]*method{}}
	c.profiler = &profiler{reader: &methoddata.Reader{}, numbers: map[uint64]int{}, used: map[printassembly.CodeKey]map[uint64]bool{}}
	for i, m := range methods {
		c.methods[uint64(i+1)], c.profiler.numbers[uint64(i+1)] = m, i+1
	}
	return c
}

// profiledCode returns code of C2 with frames of the methods at some addresses.
func (c *Copier) profiledCode(id int, kind string, methods ...uint64) *Code {
	code := &Code{Installed: &printassembly.Installed{ID: id, Compiler: "c2", Kind: kind}, copier: c, methods: methods, used: map[int]bool{}}
	for i := range methods {
		code.used[i+1] = true
	}
	return code
}

// TestAppendProfilesOSR: JDK 8 numbers OSR code separately, so a compile id may be that of two pieces of code.
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
