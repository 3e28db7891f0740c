package gasmtest

import (
	"go/ast"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// needsLive are the functions of this package whose callers sample or start JVMs.
var needsLive = []string{"NeedPerf", "NeedNative", "NeedDTrace", "NeedBPFTrace", "NeedJava"}

// TestStages checks the list that scripts/gotest.sh makes by searching the text of the files. The parsed code must
// agree on which packages have tests that sample or start JVMs (the stage "live"), and which packages start goroutines
// ("race": their tests run with the race detector). In the latter packages, tests that call NeedNoRaceDetector run
// without the detector too ("plain"). Only tests may call NeedNoRaceDetector, because the script takes the names of its
// callers for names of tests.
func TestStages(t *testing.T) {
	const command = "cmd/gasm" // its tests run a program without the race detector
	want := map[string]map[string]bool{}
	plain := map[string][]string{}
	eachFile(t, func(dir, name string, file *ast.File) {
		if !listed(dir) {
			return
		}
		if want[dir] == nil {
			want[dir] = map[string]bool{}
		}
		test := strings.HasSuffix(name, "_test.go")
		if test {
			plain[dir] = append(plain[dir], plainTests(t, file)...)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				want[dir]["race"] = want[dir]["race"] || !test && dir != command
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					break
				}
				_, ofField := f.X.(*ast.SelectorExpr) // b.Kind.Java() is a method of a blob's kind, and starts no JVM
				switch {
				case test && f.Sel.Name == "Java" && !ofField:
					want[dir]["live"] = true
				case !test && dir != command && (f.Sel.Name == "Go" || f.Sel.Name == "AfterFunc"):
					want[dir]["race"] = true
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && test && x.Name == "gasmtest" && slices.Contains(needsLive, n.Sel.Name) {
					want[dir]["live"] = true
				}
			}
			return true
		})
	})

	for dir, tests := range plain {
		if len(tests) > 0 {
			assert.True(t, want[dir]["race"], "%s is not tested with the race detector: %v", dir, tests)
			slices.Sort(tests)
			want[dir]["plain="+strings.Join(tests, ",")] = true
		}
	}

	list := exec.Command("scripts/gotest.sh", "--list")
	list.Dir = filepath.Dir(Testdata())
	out, err := list.Output()
	require.NoError(t, err)
	got := map[string]map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line) // live github.com/gasm-profiler/gasm/record/jvmevents race lane=alone
		require.GreaterOrEqual(t, len(words), 2, line)
		dir := strings.TrimPrefix(words[1], module)
		got[dir] = map[string]bool{}
		for _, word := range append(words[2:], words[0]) {
			got[dir][word] = true
		}
		assert.True(t, got[dir]["live"] || !strings.Contains(line, " lane="), line)
	}
	require.NotEmpty(t, got)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for dir := range want {
		for _, word := range []string{"live", "race"} {
			assert.Equal(t, want[dir][word], got[dir][word], "%s: %s", dir, word)
		}
		ofPlain := func(words map[string]bool) (found []string) {
			for word := range words {
				if strings.HasPrefix(word, "plain=") {
					found = append(found, word)
				}
			}
			return found
		}
		assert.Equal(t, ofPlain(want[dir]), ofPlain(got[dir]), dir)
	}
}

// plainTests returns the names of the tests in a file that call NeedNoRaceDetector.
func plainTests(t *testing.T, file *ast.File) (names []string) {
	t.Helper()
	for _, decl := range file.Decls {
		ast.Inspect(decl, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "NeedNoRaceDetector" {
				f, ok := decl.(*ast.FuncDecl)
				require.True(t, ok && strings.HasPrefix(f.Name.Name, "Test"), "NeedNoRaceDetector is not called by a test")
				names = append(names, f.Name.Name)
			}
			return true
		})
	}
	return names
}

// listed reports whether a folder is a package of the main module: testdata contains separate programs, and three
// folders are modules of their own.
func listed(dir string) bool {
	return !strings.Contains("/"+dir+"/", "/testdata/") && dir != "packaging" && dir != "report/page/browsertest" &&
		dir != "push/otlp/collectortest"
}
