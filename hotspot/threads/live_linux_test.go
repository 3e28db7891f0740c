package threads

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// known are the names of the program's threads.
var known = []string{"a", "exactly-15-byte", "one more than the kernel keeps", "türkçe ve üçüncü uzun isim",
	"线程-1 一个很长的名字", "a 'quoted' <name> & more"}

// TestRead reads the threads of a JVM of each JDK, with each collector and each form of references, before and after
// collections. It compares them with the names that the program gave them, and with the names that the kernel keeps.
func TestRead(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 8, gasmtest.Testdata("programs", "Names.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		for _, options := range []string{
			"-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseShenandoahGC", "-XX:+UseZGC",
			"-XX:+UseZGC -XX:+ZGenerational",
			"-XX:-UseCompressedOops -XX:-UseCompressedClassPointers", "-XX:+UseCompactObjectHeaders",
			"-XX:-UseCompactObjectHeaders", "-Xmx40g",
		} {
			t.Run(jdk.Name()+"/"+strings.ReplaceAll(strings.ReplaceAll(options, "-XX:", ""), " ", ""), func(t *testing.T) {
				arguments := append([]string{"-XX:+UnlockExperimentalVMOptions", "-Xms64m"}, strings.Fields(options)...)
				if exec.Command(jdk.Java(), append(slices.Clone(arguments), "-version")...).Run() != nil {
					t.Log("this build does not have it")
					return
				}
				readNames(t, jdk, append(arguments, "-cp", dir, "Names"))
			})
		}
	}
}

func readNames(t *testing.T, jdk gasmtest.JDK, arguments []string) {
	t.Helper()
	cmd := exec.Command(jdk.Java(), arguments...)
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		input.Close() // ends the program
		assert.NoError(t, cmd.Wait())
	}()
	lines := bufio.NewScanner(output)
	await := func(text string) {
		for lines.Scan() && lines.Text() != text {
		}
		require.Equal(t, text, lines.Text())
	}
	await("ready")
	vm, err := vmstructs.Open(cmd.Process.Pid)
	require.NoError(t, err)
	r, err := NewReader(vm)
	require.NoError(t, err)
	checkNames(t, r, cmd.Process.Pid)
	for range 3 {
		_, err := input.Write([]byte("\n"))
		require.NoError(t, err)
		await("collected")
		checkNames(t, r, cmd.Process.Pid)
	}
}

func checkNames(t *testing.T, r *Reader, pid int) {
	t.Helper()
	all, err := r.Read()
	require.NoError(t, err)
	names := map[string]int{}
	for _, thread := range all {
		assert.NotContains(t, names, thread.Name)
		names[thread.Name] = thread.TID
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, thread.TID))
		if !assert.NoError(t, err, thread.Name) {
			continue
		}
		kernel := strings.TrimSuffix(string(comm), "\n")
		start, end, shortened := strings.Cut(kernel, "..")
		switch {
		case thread.Name == "main":
			assert.Equal(t, "java", kernel)
		case shortened:
			assert.True(t, strings.HasPrefix(thread.Name, start) && strings.HasSuffix(thread.Name, end), "%s: %s", thread.Name,
				kernel)
		default:
			assert.True(t, strings.HasPrefix(thread.Name, kernel), "%s: %s", thread.Name, kernel)
		}
	}
	assert.Subset(t, slices.Collect(maps.Keys(names)), append(slices.Clone(known), "main"))
}
