package gasmtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// CONTRIBUTING.md lists all fuzz tests, and no others.
func TestFuzzList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(Testdata()), "CONTRIBUTING.md"))
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^ *\\| `([^`]+)` \\| (Fuzz[A-Za-z, ]+) \\|$")
	listed, there := map[string]bool{}, map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Split(m[2], ", ") {
			listed[m[1]+" "+name] = true
		}
	}
	eachFile(t, func(dir, name string, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(name, "_test.go") && strings.HasPrefix(f.Name.Name, "Fuzz") {
				there[dir+" "+f.Name.Name] = true
			}
		}
	})
	require.NotEmpty(t, there)
	assert.Equal(t, there, listed)
}
