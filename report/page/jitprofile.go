package page

import (
	"fmt"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/report/page/show"
)

// appendJITNote appends what HotSpot's profile says about an instruction. The side panel shows that text, too.
func appendJITNote(b []byte, l *code.Line) []byte {
	if l.Note == nil {
		return b
	}
	if len(b) > 0 {
		b = append(b, ' ')
	}
	return append(show.Append(append(b, `<q class="jit">`...), l.Note.String()), "</q>"...)
}

// mostJIT limits two lists above a listing: the methods with deoptimizations, and the calls that have no known
// instruction in the code.
const mostJIT = 5

// aboutJITProfile returns what HotSpot's profile says about the whole code of a listing.
func aboutJITProfile(l *profile.Listing) (about []string) {
	if l.Profiled == nil {
		return nil
	}
	traps, loose := l.Profiled.Traps, l.Profiled.Loose
	for i := range traps[:min(len(traps), mostJIT)] {
		about = append(about, fmt.Sprintf("%s was deoptimised before this code was copied: %s", show.Text(traps[i].Method),
			show.Text(traps[i].String())))
	}
	if more := len(traps) - mostJIT; more > 0 {
		about = append(about, "and so were "+show.Count(more, "more method")+" inlined here")
	}
	for _, note := range loose[:min(len(loose), mostJIT)] {
		about = append(about, show.Text(note.Place()+": "+note.String()))
	}
	return about
}
