// Package gasmtest contains what gasm's tests share: golden files, the committed
// captures, and access to the JDKs, samplers and tools of the machine.
//
// A function whose name starts with Need skips the test if the machine lacks something, with a message that says how to
// get what is missing. `make test` lists all skipped tests at its end. In CI, only the skips in .ci/expected-skips.txt
// are allowed.
//
// The package imports no other package of gasm except internal/jdk. So all other packages can use it in their internal
// tests without an import cycle.
package gasmtest

import (
	"os"
	"path/filepath"
)

// root is the repository's folder. It is found when the test program starts, because a test may change the working
// folder later. It is "" if the test program starts outside of the repository. For example, a test may run its own
// program again as a helper, in another folder.
var root = findRoot()

func findRoot() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		// go.mod does not identify the repository's folder, because the browser tests below it have a go.mod too.
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
