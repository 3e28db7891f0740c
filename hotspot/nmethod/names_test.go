package nmethod

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExternalName(t *testing.T) {
	cases := map[string]string{
		"java/lang/String":                "java.lang.String",
		"A":                               "A",
		"a/B$$Lambda+0x00007f00120a":      "a.B$$Lambda/0x00007f00120a",
		"scala/x$plus":                    "scala.x$plus",
		"größe/日本":                        "größe.日本",
		"p/\xed\xa0\xb5\xed\xb2\x9c":      "p.𝒜",      // in modified UTF-8 it is two surrogates of three bytes each
		"p/\xed\xa0\xb5":                  `p.\ud835`, // half a letter
		"zero/\xc0\x80":                   "zero.\x00",
		"p/größe\xed\xa0\xb5\xed\xb2\x9c": "p.größe𝒜",
	}
	require.NotEmpty(t, cases)
	for internal, want := range cases {
		assert.Equal(t, want, externalName(internal), "%q", internal)
	}
}
