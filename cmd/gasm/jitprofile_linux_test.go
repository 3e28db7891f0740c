package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestJITProfile runs a program that knows which classes its calls get, and how often its branches are taken. The
// report must show the same shares at the instructions of these calls and branches. The JVM has no flag except the
// one for lines at all instructions.
func TestJITProfile(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			j := startJVM(t, "warm", jdk.Java(), "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", "-Dforever=true",
				"-cp", javaPrograms(t), "Profiled")
			capt := filepath.Join(t.TempDir(), "capture")
			all := []string{"--hot-threshold", "0.001", "--print-margin", "10000", "--min-samples", "1"}
			rep, _ := attachJSON(t, append(all, "--length", "2s", "--events", "none", "-o", capt, j.pid())...)
			found := map[string]*schema.JITProfile{}
			for i := range rep.Profiles[0].Regions {
				for _, l := range rep.Profiles[0].Regions[i].Lines {
					if p := l.JITProfile; p != nil {
						found[p.Method+" "+p.Bytecode] = p
					}
				}
			}
			three := found["Profiled::three invokeinterface"]
			require.NotNil(t, three, "%v", found)
			assert.Equal(t, "dispatched", three.Call, "three classes are not inlined")
			assert.Empty(t, three.Inlined)
			checkReceivers(t, three, map[string]float64{"Profiled$Circle": 50, "Profiled$Square": 30, "Profiled$Triangle": 20})
			two := found["Profiled::two invokevirtual"]
			require.NotNil(t, two, "%v", found)
			assert.Empty(t, two.Call, "two classes are inlined")
			checkReceivers(t, two, map[string]float64{"Profiled$Cat": 75, "Profiled$Bird": 25})
			branch := found["Profiled::branch ifne"]
			require.NotNil(t, branch, "%v", found)
			assert.InDelta(t, 90, 100*float64(*branch.Taken)/float64(*branch.Taken+*branch.NotTaken), 1)

			r := runGasm(t, append([]string{"report", "--format", "html", "--report", filepath.Join(t.TempDir(), "page.html")},
				append(all, capt)...))
			require.Equal(t, 0, r.code, r.stderr)
			r = runGasm(t, append([]string{"report"}, append(all, capt)...))
			require.Equal(t, 0, r.code, r.stderr)
			assert.Regexp(t, `; receivers while profiled[^;]*;?[^;]* not inlined`, r.stdout)
		})
	}
}

// checkReceivers compares the classes of a call's receivers with their expected shares in percent. The JVM counts
// only two of the classes, and it depends on chance which ones.
func checkReceivers(t *testing.T, p *schema.JITProfile, shares map[string]float64) {
	t.Helper()
	total, left := p.Others, 100.0
	for _, c := range p.Types {
		total += c.Count
	}
	for _, c := range p.Types {
		assert.InDelta(t, shares[c.Class], 100*float64(c.Count)/float64(total), 1, "%s: %+v", c.Class, p)
		left -= shares[c.Class]
	}
	assert.InDelta(t, left, 100*float64(p.Others)/float64(total), 1, "others: %+v", p)
}
