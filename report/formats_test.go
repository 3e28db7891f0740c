package report

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// Every format returns the writer's error.
func TestWriteErrors(t *testing.T) {
	p := reporttest.Workload(t)
	p.Locations = []profile.Location{{Source: "kernel", Counts: c(1)}}
	ps := reporttest.Profiles(reporttest.Header(), p)
	for _, f := range Formats {
		assert.ErrorIs(t, f.Write(brokenWriter{}, ps, options()), errBroken, f.Name)
	}
}
