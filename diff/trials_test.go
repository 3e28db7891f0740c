package diff

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPairTrials(t *testing.T) {
	trial := func(name string) TrialSide { return TrialSide{Name: name} }
	program := func(main, jdk string) TrialSide { return TrialSide{Program: main, JDK: jdk} }
	for _, c := range []struct {
		what string
		a, b []TrialSide
		want []int
	}{
		{"the only ones", []TrialSide{trial("a")}, []TrialSide{trial("b")}, []int{0}},
		{"trials by name", []TrialSide{trial("a"), trial("b")}, []TrialSide{trial("b"), trial("c"), trial("a")}, []int{2, 0}},
		{"programs by name", []TrialSide{program("A", "17"), program("B", "17")},
			[]TrialSide{program("B", "17"), program("A", "17")}, []int{1, 0}},
		{"another JDK", []TrialSide{program("A", "17"), program("B", "17")},
			[]TrialSide{program("B", "25"), program("A", "25")}, []int{1, 0}},
		{"the same JDK before another one", []TrialSide{program("A", "17"), program("A", "25")},
			[]TrialSide{program("A", "25"), program("A", "26")}, []int{1, 0}},
		{"no counterpart", []TrialSide{program("A", "17"), program("B", "17")},
			[]TrialSide{program("C", "17"), program("B", "17")}, []int{-1, 1}},
		{"a trial is no program", []TrialSide{trial("A"), program("B", "")}, []TrialSide{program("A", ""), program("B", "")},
			[]int{-1, 1}},
		{"one name twice", []TrialSide{trial("a"), trial("a")}, []TrialSide{trial("a")}, []int{0, -1}},
		{"nothing", nil, []TrialSide{trial("a")}, []int{}},
	} {
		assert.Equal(t, c.want, pairTrials(c.a, c.b), c.what)
	}
}

func TestTitle(t *testing.T) {
	for want, trial := range map[string]TrialSide{
		"a.B.c (n=1)":   {Name: "a.B.c (n=1)", Program: "Fork"},
		"Main (JDK 17)": {Program: "Main", JDK: "17"},
		"Main":          {Program: "Main"},
		"the whole run": {},
	} {
		assert.Equal(t, want, trial.Title())
	}
}
