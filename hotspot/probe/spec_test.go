package probe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMatches(t *testing.T) {
	check := func(spec, class, method string, want bool, parameters ...string) {
		t.Helper()
		s, err := ParseMethod(spec, SDT)
		require.NoError(t, err)
		assert.Equal(t, want, s.MatchesClass(class) && s.MatchesMethod(method, parameters), "%s and %s::%s(%s)", spec,
			class, method, strings.Join(parameters, ", "))
	}
	check("Svc::tiny", "Svc", "tiny", true)
	check("Svc::tiny", "org.acme.Svc", "tiny", false)
	check("*Svc::tiny", "org.acme.Svc", "tiny", true, "int")
	check("org.*.S*c::t*y", "org.acme.deep.Svc", "tiny", true)
	check("org.*.S*c::t*y", "org.Svc", "tiny", false)
	check("Svc::*", "Svc", "<init>", true)
	check("Svc::*", "Svc", "<clinit>", false)
	check("Svc::<clinit>", "Svc", "<clinit>", true)
	check("a*a::m", "a", "m", false)
	check("a*a::m", "aa", "m", true)
	check("Svc::tiny(int, String)", "Svc", "tiny", true, "int", "java.lang.String")
	check("Svc::tiny(int, String)", "Svc", "tiny", false, "int")
	check("Svc::tiny(Inner[])", "Svc", "tiny", true, "org.Outer$Inner[]")
	check("Svc::tiny(ring)", "Svc", "tiny", false, "java.lang.String")
	check("Svc::tiny()", "Svc", "tiny", true)
	check("Svc::tiny()", "Svc", "tiny", false, "int")
}

// TestParse: what the user writes is a valid method or class, or the message says what it should be.
func TestParse(t *testing.T) {
	s, err := ParseMethod("org.acme.Svc::tiny( int ,String[])", Methods)
	require.NoError(t, err)
	assert.Equal(t, Spec{Text: "org.acme.Svc::tiny( int ,String[])", Kind: Methods, Class: "org.acme.Svc",
		Method: "tiny", Arguments: []string{"int", "String[]"}}, s)
	assert.Equal(t, "method\torg.acme.Svc::tiny( int ,String[])\torg.acme.Svc\ttiny\tint,String[]\t-", s.line())
	s, err = ParseMethod("Svc::tiny()", Allocations)
	require.NoError(t, err)
	assert.Equal(t, []string{}, s.Arguments)
	s, err = ParseClass("org.acme.*", Locks)
	require.NoError(t, err)
	assert.Equal(t, Spec{Text: "org.acme.*", Kind: Locks, Class: "org.acme.*", Method: "*"}, s)
	for text, want := range map[string]string{
		"":                "is not a method: use CLASS::METHOD",
		"Svc":             "is not a method: use CLASS::METHOD",
		"::tiny":          "is not a method: use CLASS::METHOD",
		"Svc::":           "is not a method: use CLASS::METHOD",
		"Svc::tiny(int":   "the list of argument types must end with a )",
		"Svc::tiny(int)x": "the list of argument types must end with a )",
		"Svc::tiny(int,)": "a type of its arguments is missing",
		"org/Svc::tiny":   "has a /",
		"Svc::ti\tny":     "has more than one line",
		"**::tiny":        "* alone would change every class of the JVM",
	} {
		_, err := ParseMethod(text, Methods)
		assert.ErrorContains(t, err, want, text)
	}
	for text, want := range map[string]string{"": "is not a class", "Svc::tiny": "is not a class", "a/b": "has a /",
		"*": "* alone", "a\nb": "has more than one line"} {
		_, err := ParseClass(text, Locks)
		assert.ErrorContains(t, err, want, text)
	}
}

// TestMerge: if the same method is counted and is a window, the two specs become one. The order is that in which the
// methods are mentioned first.
func TestMerge(t *testing.T) {
	spec := func(text string, kind Kind, window bool) Spec {
		s, err := ParseMethod(text, kind)
		require.NoError(t, err)
		s.Window = window
		return s
	}
	merged := Merge([]Spec{spec("A::b", Methods, false), spec("A::c", Methods, true), spec("A::b", SDT, false),
		spec("A::b", Methods, true), spec("A::c", Methods, false)})
	assert.Equal(t, []Spec{spec("A::b", Methods, true), spec("A::c", Methods, true), spec("A::b", SDT, false)}, merged)
	assert.True(t, strings.HasSuffix(merged[0].line(), "\tA\tb\t-\twindow"), merged[0].line())
}
