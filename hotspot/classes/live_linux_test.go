package classes

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestRead compares the classes in the memory of each JDK's JVM with what the program finds by reflection.
func TestRead(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 8, filepath.Join("testdata", "Listed.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			cmd := exec.Command(jdk.Java(), "-Xshare:auto", "-cp", dir, "Listed")
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // one class file has a name that is not ASCII
			input, err := cmd.StdinPipe()
			require.NoError(t, err)
			output, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer func() {
				input.Close() // ends the program
				assert.NoError(t, cmd.Wait())
			}()
			var want []string
			listed := map[string]bool{}
			for lines := bufio.NewScanner(output); lines.Scan() && lines.Text() != "ready"; {
				want = append(want, lines.Text())
				class, _, _ := strings.Cut(lines.Text(), " ")
				listed[class] = true
			}
			require.NotEmpty(t, want)

			vm, err := vmstructs.Open(cmd.Process.Pid)
			require.NoError(t, err)
			count := 0
			found, err := Read(vm, func(class string) bool {
				count++
				return listed[class]
			})
			require.NoError(t, err)
			var got []string
			for _, c := range found {
				for _, m := range c.Methods {
					got = append(got, fmt.Sprintf("%s %s%s %t %t %t %t", c.Name, m.Name, m.Descriptor,
						c.Flags&Interface != 0, m.Flags&Static != 0, m.Flags&Native != 0, m.Flags&Abstract != 0))
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			assert.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
			assert.Greater(t, count, 400, "classes in all")
		})
	}
}
