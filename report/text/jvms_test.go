package text

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/report/text/view"
)

func TestShortDotted(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"Workload", 20, "Workload"},
		{"fork 1 of org.sample.Bench.run (size=1)", 39, "fork 1 of org.sample.Bench.run (size=1)"},
		{"fork 1 of org.sample.Bench.run (size=1)", 38, "fork 1 of o.sample.Bench.run (size=1)"},
		{"fork 1 of org.sample.Bench.run (size=1)", 35, "fork 1 of o.s.Bench.run (size=1)"},
		{"fork 1 of org.sample.Bench.run (size=1)", 28, "fork 1 of Bench.run (size=1)"},
		{"fork 1 of org.sample.Bench.run (size=1)", 24, "fork 1 of B…run (size=1)"},
		{"org.codehaus.plexus.launcher.Launcher (Maven)", 30, "o.c.p.l.Launcher (Maven)"},
		{"surefirebooter.jar (tests of Maven Surefire)", 20, "surefireb… Surefire)"},
		{"", 20, ""},
		{"a..b", 3, ".b"},
	} {
		assert.Equal(t, c.want, view.ShortDotted(c.name, c.width, "…"), "%s in %d columns", c.name, c.width)
	}
}
