package wildcard

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "abc", true},
		{"a*", "a", true}, {"a*", "ba", false}, {"*a", "ba", true}, {"*a", "ab", false}, {"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "a-b-c", true}, {"a*b*c", "a-c-b", false}, {"a*b*c", "abc", true}, {"*b*", "abc", true},
		{"a**c", "abc", true},
		{"get*", "getNode", true}, {"*::get", "java.util.HashMap::get", true},
	} {
		assert.Equal(t, c.want, Match(c.pattern, c.text), "%q, %q", c.pattern, c.text)
	}
}
