package listing

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
)

// The place of a line is its number. If the line is not in the file that is usual for the class in Java, the place
// names the file too.
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
		assert.Equal(t, c.place, c.found.Place(f))
		assert.Equal(t, c.elsewhere, c.found.elsewhere(f))
	}
}

// Listings name the file of a line that is in another file than its method.
func TestElsewhere(t *testing.T) {
	p := inlined(t)
	for comments, want := range map[Comments]string{
		Folded: `;; :\d+ \(_Arrays\.kt:\d+\)  for \(element in this\)`,
		Full:   `; - \S+@\d+ \(line \d+\)    \(_Arrays\.kt:\d+\)  for \(element in this\)`,
	} {
		o := Options{Comments: comments, Source: func(_ string, line int) SourceLine {
			return SourceLine{"_Arrays.kt", line + 1000, "for (element in this)"}
		}}
		assert.Regexp(t, want, string(listingOf(p, layout.Look{}, o)))
	}
}
