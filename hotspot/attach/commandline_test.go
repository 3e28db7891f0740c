package attach

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClassPathOfArguments(t *testing.T) {
	for line, want := range map[string]string{
		"java":                                         "",
		"java Main -cp x":                              "",
		"java -cp a:b Main -cp x":                      "a:b",
		"java -classpath a -Xmx1g Main":                "a",
		"java --class-path a -cp b Main":               "b",
		"java --class-path=a --add-opens x=y -ea Main": "a",
		"java -cp a -jar b.jar -cp x":                  "b.jar",
		"java -jar":                                    "",
		"java -cp":                                     "",
		"java -p mods -cp a -m mod/Main -cp x":         "a",
		"java @file -cp a Main":                        "a",
	} {
		assert.Equal(t, want, classPathOfArguments(strings.Fields(line)), line)
	}
}
