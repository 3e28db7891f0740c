package gasmtest

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Classes are compiled Java programs that the tests of a package share. Main must run the package's tests:
//
//	var programs gasmtest.Classes
//
//	func TestMain(m *testing.M) { os.Exit(programs.Main(m)) }
type Classes struct {
	mu       sync.Mutex
	folder   string
	compiled bool
}

// Main runs the tests of a package, and removes the classes. It returns the exit code.
func (c *Classes) Main(m *testing.M) int {
	defer func() { os.RemoveAll(c.folder) }()
	return m.Run()
}

// Of returns the folder with the compiled classes of the given programs, which are files in testdata/programs such as
// "Doing.java". The first call compiles them, for JDK 8 and newer. All calls in a package must name the same programs.
func (c *Classes) Of(tb testing.TB, programs ...string) string {
	tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder == "" {
		var err error
		c.folder, err = os.MkdirTemp("", "gasm-classes-")
		require.NoError(tb, err)
	}
	if !c.compiled {
		var files []string
		for _, name := range programs {
			files = append(files, Testdata("programs", name))
		}
		CompileJava(tb, c.folder, 8, files...)
		c.compiled = true
	}
	return c.folder
}
