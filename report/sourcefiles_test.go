package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/report/reporttest"
)

// JSON has the files that classes were made from, at frames and their sums.
func TestJSONFiles(t *testing.T) {
	ps := reporttest.Profiles(reporttest.Header(), small())
	ps.SourceFiles = map[string]string{"Workload": "Work.kt"}
	p := JSON(ps, "").Profiles[0]
	assert.Equal(t, "Work.kt", p.Regions[0].Lines[0].Frames[0].File)
	require.NotEmpty(t, p.Frames)
	for _, f := range p.Frames {
		assert.Equal(t, strings.HasPrefix(f.Method, "Workload::"), f.File == "Work.kt", f.Method)
	}
	assert.Empty(t, JSON(reporttest.Profiles(reporttest.Header(), small()), "").Profiles[0].Frames[0].File)
}
