package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestCollapsedOfCaptures checks that the collapsed stacks of each capture end with the frames in the JSON report,
// that each of these frames has the same number of samples, and that no sample is missing.
func TestCollapsedOfCaptures(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jdk8-full-hsdis", "jdk17-lean-none-dtrace", "jdk25-full-hsdis"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples, log := gasmtest.UnpackCapture(t, name, t.TempDir())
			r := runGasm(t, []string{"report", "--format", "json", samples, log})
			require.Equal(t, 0, r.code, r.stderr)
			want := readReport(t, []byte(r.stdout)).Profiles[0]

			r = runGasm(t, []string{"report", "--format", "collapsed", samples, log})
			require.Equal(t, 0, r.code, r.stderr)
			self, sum := map[string]int64{}, int64(0)
			for line := range strings.Lines(r.stdout) {
				blank := strings.LastIndexByte(line, ' ')
				n, err := strconv.ParseInt(strings.TrimSpace(line[blank:]), 10, 64)
				require.NoError(t, err, line)
				frames := strings.Split(line[:blank], ";")
				self[frames[len(frames)-1]] += n
				sum += n
			}
			event := hottestEvent(&want)
			assert.Equal(t, want.Account.Of(event).Profiled, sum)
			for method, n := range selfCounts(&want) {
				assert.Equal(t, n, self[method], method)
			}
		})
	}
}
