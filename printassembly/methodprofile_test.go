package printassembly

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const profileHead = "<hotspot_log version='160 1' process='7' time_ms='1'>\n"

// TestMethodProfiles writes profiles, with names that need escaping, and reads them again.
func TestMethodProfiles(t *testing.T) {
	profiles := []MethodProfile{
		{Method: "a.B::it's a 'class1=' test",
			Sites: []ProfileSite{
				{BCI: 17, Line: 12, Bytecode: "invokevirtual", Others: 20,
					Types: []ProfileType{{"Kr<e>is", 50}, {"'\n Größe", 30}}},
				{BCI: 9, Line: 11, Bytecode: "ifne", Taken: 90, NotTaken: 10},
				{BCI: 4, Bytecode: "instanceof", Types: []ProfileType{{"[Ljava.lang.String;", 5}}, Failed: 3, More: true,
					NullSeen: true},
			},
			Traps: []Trap{{"class_check", 2}, {"unstable_if", 255}}},
		{Method: "c.D::e", Traps: []Trap{{"null_check", 1}}},
	}
	text := []byte(profileHead)
	for i := range profiles {
		text = AppendMethodProfile(text, i+1, &profiles[i])
	}
	text = AppendProfiles(text, CodeKey{ID: 42}, []int{2, 1})
	text = AppendProfiles(text, CodeKey{ID: 42}, []int{1})
	text = AppendProfiles(text, CodeKey{42, true}, []int{1})
	text = AppendProfiles(text, CodeKey{ID: 43}, []int{1, 99})
	l, err := NewLog(strings.NewReader(string(text)), int64(len(text)), "log")
	require.NoError(t, err)
	assert.Zero(t, l.Damaged)
	assert.Equal(t, []*MethodProfile{&profiles[1], &profiles[0]}, l.Profiles.Of(CodeKey{ID: 42}))
	assert.Equal(t, []*MethodProfile{&profiles[0]}, l.Profiles.Of(CodeKey{42, true}), "JDK 8 numbers OSR code separately")
	assert.Equal(t, []*MethodProfile{&profiles[0]}, l.Profiles.Of(CodeKey{ID: 43}))
	assert.Empty(t, l.Profiles.Of(CodeKey{43, true}))
	assert.Empty(t, l.Profiles.Of(CodeKey{ID: 44}))
	compiled := 0
	for code := range l.Profiles.CompiledWith {
		compiled++
		assert.Contains(t, []CodeKey{{42, false}, {42, true}, {43, false}}, code)
	}
	assert.Equal(t, 3, compiled)
}

// TestDamagedProfiles: lines that make no sense are left out, and so are sites without a profile.
func TestDamagedProfiles(t *testing.T) {
	text := profileHead + `<profile_branch bci='1' line='1' bytecode='ifne' taken='1' not_taken='1'/>
<profiles compile_id='1' ids='1'/>
<method_profile id='x' method='A::b'/>
<profile_branch bci='1' line='1' bytecode='ifne' taken='1' not_taken='1'/>
<method_profile id='1' method='A::b' class_check='0' unstable_if='256' null_check='-1' Bad='1' age='3'/>
<profile_branch bci='-1' line='1' bytecode='ifne' taken='1' not_taken='1'/>
<profile_branch bci='1' line='1' bytecode='ifne' taken='99999999999999999999' not_taken='1'/>
<profile_branch bci='1' line='1' bytecode='<if>' taken='1' not_taken='1'/>
<profile_branch bci='1' line='1' taken='1' not_taken='1'/>
<profile_call bci='2' line='1' bytecode='invokevirtual' class1='C' count1='x'/>
<profile_call bci='3' line='1' bytecode='invokevirtual' class1='C' count1='4' class3='D' count3='5'/>
<profiles compile_id='y' ids='1'/>
<profiles compile_id='2' ids='1 1 z 1'/>
<profiles compile_id='3' ids='`
	l, err := NewLog(strings.NewReader(text), int64(len(text)), "log")
	require.NoError(t, err)
	want := &MethodProfile{Method: "A::b", Traps: []Trap{{"age", 3}},
		Sites: []ProfileSite{{BCI: 3, Line: 1, Bytecode: "invokevirtual", Types: []ProfileType{{"C", 4}}}}}
	assert.Equal(t, []*MethodProfile{want}, l.Profiles.Of(CodeKey{ID: 2}))
	for _, id := range []int{0, 1, 3} {
		assert.Empty(t, l.Profiles.Of(CodeKey{ID: id}))
	}
}

// TestManyProfiles: only a limited number of profiles is kept for a piece of code, the first ones. A profile whose
// number the code already has, or one too many, is ignored. That takes about the same time with many profiles as with
// one; an implementation that searched through all profiles took 100 times as long.
func TestManyProfiles(t *testing.T) {
	numbers := make([]int, maxInlined+100)
	var p Profiles
	for i := range numbers {
		numbers[i] = i
		p.tag(AppendMethodProfile(nil, i, &MethodProfile{Method: "A::b" + strconv.Itoa(i)}))
	}
	took := func(id, profiles int) time.Duration { // the shortest time for a line that adds nothing
		p.tag(AppendProfiles(nil, CodeKey{ID: id}, numbers[:profiles]))
		want := min(profiles, maxInlined)
		again := AppendProfiles(nil, CodeKey{ID: id}, slices.Repeat([]int{numbers[want-1]}, 1000))
		shortest := time.Duration(math.MaxInt64)
		for range 10 {
			began := time.Now()
			p.tag(again)
			shortest = min(shortest, time.Since(began))
		}
		require.Len(t, p.Of(CodeKey{ID: id}), want)
		assert.Equal(t, "A::b"+strconv.Itoa(want-1), p.Of(CodeKey{ID: id})[want-1].Method)
		return shortest
	}
	one := took(1, 1)
	assert.Less(t, took(2, maxInlined-1), 20*one, "almost full")
	assert.Less(t, took(3, len(numbers)), 20*one, "full")
}
