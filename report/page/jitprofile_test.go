package page

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// Names of classes and methods are escaped as data, even those from HotSpot's own profile.
func TestJITProfile(t *testing.T) {
	const hostile = "<b>&\u202e"
	note := &jitprofile.Note{Method: "a.B::" + hostile, ProfileSite: &printassembly.ProfileSite{Bytecode: "invokevirtual",
		BCI: 3, Line: 7,
		Types: []printassembly.ProfileType{{Class: hostile, Count: 100}}}}
	assert.Equal(t, `x <q class="jit">receivers while profiled: &lt;b&gt;&amp;\u202e 100 %</q>`,
		string(appendJITNote([]byte("x"), &code.Line{Note: note})))
	assert.Empty(t, appendJITNote(nil, &code.Line{}))
	l := &profile.Listing{Profiled: &jitprofile.Code{Loose: []*jitprofile.Note{note},
		Traps: make([]jitprofile.MethodTraps, mostJIT+2)}}
	l.Profiled.Traps[0] = jitprofile.MethodTraps{Method: hostile,
		Traps: []printassembly.Trap{{Reason: "class_check", Count: 2}}}
	about := aboutJITProfile(l)
	assert.Len(t, about, mostJIT+2)
	assert.Equal(t, `<b>&\u202e was deoptimised before this code was copied: class_check 2`, about[0],
		"the template escapes HTML")
	assert.Equal(t, "and so were 2 more methods inlined here", about[mostJIT])
	assert.Equal(t, `a.B::<b>&\u202e:7 (bci 3): receivers while profiled: <b>&\u202e 100 %`, about[mostJIT+1])
	assert.Nil(t, aboutJITProfile(&profile.Listing{}))
}
