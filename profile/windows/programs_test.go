package windows

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
)

func TestProgram(t *testing.T) {
	for main, want := range map[string]string{
		"Workload":                               "Workload",
		"org.openjdk.jmh.runner.ForkedMain":      "org.openjdk.jmh.runner.ForkedMain",
		"surefirebooter-20261122171153672_3.jar": "surefirebooter.jar",
		"surefirebooter1234567890123456789.jar":  "surefirebooter.jar",
		"app-1.2.345.jar":                        "app-1.2.345.jar",
		"app-20260101.jar":                       "app.jar",
		"12345678":                               "12345678", // kept, or nothing would be left
		"":                                       "",
		"sun.tools.Main1234567$Inner9.main_1_2_34": "sun.tools.Main1234567$Inner9.main_1_2_34",
	} {
		assert.Equal(t, want, Program(main), main)
	}
}

// A script may start any number of programs. Those beyond the limit share one profile.
func TestManyPrograms(t *testing.T) {
	var jvms []capture.JVM
	var windows []capture.Window
	for pid := range 250 {
		jvms = append(jvms, capture.JVM{PID: pid + 1, Main: fmt.Sprintf("Main%d", pid)})
		windows = append(windows, window(pid+1, 0, 9))
	}
	m := Measurements(jvms, []capture.Trial{{Windows: append(windows, window(999, 0, 9))}})[0]
	all := m.ByProgram(jvms)
	require.Len(t, all, maxPrograms+1)
	seen := map[int]bool{}
	for _, part := range all {
		assert.Equal(t, len(part.PIDs), len(part.Windows))
		for _, pid := range part.PIDs {
			assert.False(t, seen[pid])
			seen[pid] = true
		}
	}
	assert.Len(t, seen, 251)
	assert.Equal(t, OtherPrograms, all[maxPrograms].Program)
	assert.Len(t, all[maxPrograms].PIDs, 151)
}
