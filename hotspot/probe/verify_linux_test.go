package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// busySource is a program that runs much of the JDK, and prints its results.
const busySource = `import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Busy {
    public static void main(String[] args) throws Exception {
        Map<String, List<Integer>> m = IntStream.range(0, 500).boxed().collect(Collectors.groupingBy(i -> "k" + i % 17));
        TreeMap<String, Integer> t = new TreeMap<>();
        for (String k : m.keySet()) t.put(k, m.get(k).size());
        ExecutorService e = Executors.newFixedThreadPool(4);
        List<Future<Integer>> f = new ArrayList<>();
        for (int i = 0; i < 100; i++) { int k = i; f.add(e.submit(() -> k * k)); }
        long sum = 0;
        for (Future<Integer> x : f) sum += x.get();
        e.shutdown();
        System.out.println(t + " " + sum + " " + new Scanner("1 2").nextInt() + "aXb".replaceAll("X", "y") + String.format("%5.2f", 1.5));
    }
}
`

// TestVerified probes everything possible in whole packages of the JDK, with locks and allocations. The JVM verifies
// the changed classes. For the JDK's own classes it does so only with an option.
func TestVerified(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "Busy.java")
	require.NoError(t, os.WriteFile(source, []byte(busySource), 0o600))
	gasmtest.CompileJava(t, dir, 8, source)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool {
		return slices.Contains([]int{8, 25}, j.Feature)
	}) {
		t.Run(j.Name(), func(t *testing.T) {
			options := []string{"-cp", dir, "Busy"}
			want, err := exec.Command(j.Java(), options...).Output()
			require.NoError(t, err)
			var specs []Spec
			for _, pattern := range []string{"Busy*", "java.util.zip.*", "java.util.concurrent.*", "sun.nio.ch.*",
				"java.io.*"} {
				for _, kind := range []Kind{Methods, Locks, Allocations} {
					specs = append(specs, Spec{Text: pattern, Kind: kind, Class: pattern, Method: "*"})
				}
			}
			files := t.TempDir()
			require.NoError(t, Write(files+"/", files, specs))
			verified := []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal",
				"-XX:+BytecodeVerificationRemote", StartOption(files + "/")}
			cmd := exec.Command(j.Java(), append(verified, options...)...)
			got, err := cmd.Output()
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got), "what the program prints")
			f, err := os.Open(filepath.Join(files, ReportFile(cmd.Process.Pid)))
			require.NoError(t, err)
			defer f.Close()
			rep, err := rings.ReadReport(f, "probes")
			require.NoError(t, err)
			assert.Empty(t, rep.Errors)
			assert.Zero(t, rep.Bad)
			assert.Greater(t, len(rep.Sites), 900)
			for _, r := range rep.Refused {
				native := strings.HasPrefix(r.Reason, "it is native")
				tooMany := strings.HasPrefix(r.Reason, "more than 1024")
				hidden := strings.HasPrefix(r.Reason, "it is a hidden class")
				assert.True(t, native || tooMany || hidden, "%+v", r)
			}
		})
	}
}
