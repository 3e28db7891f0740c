// Package gasmtest is what gasm's tests share: golden files, the committed
// captures, and the JDKs, samplers and tools of the machine that runs the tests.
//
// A function whose name starts with Need skips the test when the machine lacks
// something, and says what would provide it. `make test` lists all skipped tests
// at its end; in CI, only the skips that it expects are allowed.
//
// The package imports nothing of gasm's but internal/jdk, so that the tests inside
// every other package can use it.
package gasmtest

import (
	"os"
	"path/filepath"
)

// root is the repository's folder. It is found when the test starts, because a
// test may change its working folder later. It is "" in a test binary that a test
// runs elsewhere, as a helper.
var root = findRoot()

func findRoot() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		// A go.mod alone does not tell: the browser's tests are a module within this one.
		if _, err := os.Stat(filepath.Join(dir, "testdata", "captures")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// Testdata gives the absolute path of a file or folder below the repository's
// testdata folder.
func Testdata(elements ...string) string {
	if root == "" {
		panic("gasmtest: there was no testdata/captures above the working folder when the test started")
	}
	return filepath.Join(append([]string{root, "testdata"}, elements...)...)
}
