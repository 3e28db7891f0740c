// Package gasmtest contains what gasm's tests share: golden files, the committed
// captures, and access to the JDKs, samplers and tools of the machine.
//
// A function whose name starts with Need skips the test when the machine lacks
// something, and says how to get it. `make test` lists all skipped tests at its end;
// in CI, only the skips in .ci/expected-skips.txt are allowed.
//
// Of gasm's packages it imports only internal/jdk, so that the internal tests of every
// other package can use it.
package gasmtest

import (
	"os"
	"path/filepath"
)

// root is the repository's folder. It is found when the test program starts, because a
// test may change the working folder later. It is "" in a test program that another
// test runs elsewhere, as a helper.
var root = findRoot()

func findRoot() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		// go.mod does not identify it: the browser's tests are a module within this one.
		if _, err := os.Stat(filepath.Join(dir, "testdata", "captures")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// Testdata returns the absolute path of a file or folder below the repository's
// testdata folder.
func Testdata(elements ...string) string {
	if root == "" {
		panic("gasmtest: there was no testdata/captures above the working folder when the test started")
	}
	return filepath.Join(append([]string{root, "testdata"}, elements...)...)
}
