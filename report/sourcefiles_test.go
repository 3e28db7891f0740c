package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

// JSON has the files that classes were made from, at frames and their sums.
func TestJSONFiles(t *testing.T) {
	ps := all(header(), small())
	ps.SourceFiles = map[string]string{"Workload": "Work.kt"}
	p := JSON(ps, "").Profiles[0]
	assert.Equal(t, "Work.kt", p.Regions[0].Lines[0].Frames[0].File)
	require.NotEmpty(t, p.Frames)
	for _, f := range p.Frames {
		assert.Equal(t, strings.HasPrefix(f.Method, "Workload::"), f.File == "Work.kt", f.Method)
	}
	assert.Empty(t, JSON(all(header(), small()), "").Profiles[0].Frames[0].File)
}

// The place of a line is its number, but where its file is not the one that Java would have.
func TestPlaces(t *testing.T) {
	const method = "scala.collection.immutable.Range::foreach"
	for _, c := range []struct {
		found            SourceLine
		place, elsewhere string
	}{
		{SourceLine{}, ":190", ""},
		{SourceLine{"Range.java", 190, "x"}, ":190", ""},
		{SourceLine{"Range.scala", 190, "x"}, " (Range.scala:190)", ""},
		{SourceLine{"Range.scala", 190, ""}, " (Range.scala:190)", ""},
		{SourceLine{"Other.scala", 7, "x"}, " (Other.scala:7)", " (Other.scala:7)"},
	} {
		f := printassembly.Frame{Method: method, Line: 190}
		assert.Equal(t, c.place, c.found.place(f))
		assert.Equal(t, c.elsewhere, c.found.elsewhere(f))
	}
}

// Listings say where a line is that is in another file than its method.
func TestElsewhere(t *testing.T) {
	p := inlined(t)
	for comments, want := range map[Comments]string{
		Folded: `;; :\d+ \(_Arrays\.kt:\d+\)  for \(element in this\)`,
		Full:   `; - \S+@\d+ \(line \d+\)    \(_Arrays\.kt:\d+\)  for \(element in this\)`,
	} {
		o := options()
		o.Comments = comments
		o.Source = func(_ string, line int) SourceLine {
			return SourceLine{"_Arrays.kt", line + 1000, "for (element in this)"}
		}
		var b bytes.Buffer
		require.NoError(t, WriteText(&b, all(header(), []profile.Profile{p}...), o))
		assert.Regexp(t, want, b.String())
	}
}
