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
		assert.Equal(t, want, s.MatchesClass(class) && s.MatchesMethod(method, parameters), "%s and %s::%s(%s)", spec, class, method, strings.Join(parameters, ", "))
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
