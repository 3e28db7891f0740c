package page

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/schema"
)

// places finds the instruction in the page's code for a method, a line or an address. Its methods return ids of HTML
// elements. For example, "c3-1a0" is the instruction 0x1a0 bytes after the start of listing 3. The methods return ""
// if the page has no such instruction.
type places struct {
	p        *profile.Profile
	first    int // the number of the profile's first listing
	methods  map[[2]string]int
	sums     map[[2]string]*profile.Method // sums of a method's compilations; by compiler and name
	totals   map[string]tally.Counts       // of methods with all that they call; nil without call stacks
	byName   map[string]int                // numbers of listings
	compiled map[compiledKey]int
	frames   map[string]place
	lines    map[lineKey]place
	calls    map[lineKey]string // the first call instruction that was made from a line
	// borrowed compares guessed lines with recorded ones. For each line, it has the number of samples in instructions for
	// which this line is a guess, minus the number of samples in instructions for which HotSpot has recorded it. If the
	// result is positive, most of the line's samples are guessed.
	borrowed    map[lineKey]int64
	hottestLine []string // ids of the hottest instructions, by listing
}

type compiledKey struct {
	method string
	id     int
}

type lineKey struct {
	method string
	line   int
}

// A place is an instruction with its samples.
type place struct {
	id     string
	counts tally.Counts
}

// newPlaces returns the places of a profile. In the page, the profile's listings have the numbers first, first+1, …
func newPlaces(p *profile.Profile, first int) *places {
	at := &places{p: p, first: first, methods: map[[2]string]int{}, sums: map[[2]string]*profile.Method{},
		byName: map[string]int{}, compiled: map[compiledKey]int{},
		frames: map[string]place{}, lines: map[lineKey]place{}, calls: map[lineKey]string{}, borrowed: map[lineKey]int64{}}
	for i := range p.Methods {
		m := &p.Methods[i]
		at.sums[[2]string{m.Source, m.Name}] = m
	}
	if p.Stacks != nil {
		at.totals = map[string]tally.Counts{}
		for i := range p.Frames {
			at.totals[p.Frames[i].Method] = p.Frames[i].WithCallees
		}
	}
	for i := range p.Listings {
		l := &p.Listings[i]
		number := first + i
		keep(at.methods, [2]string{l.Source, l.Method}, number)
		keep(at.byName, l.Method, number)
		keep(at.compiled, compiledKey{l.Method, l.CompileID}, number)
		at.hottestLine = append(at.hottestLine, rowID(number, l, l.HottestLine()))
		for k := range l.Lines {
			line := &l.Lines[k]
			if len(line.Frames) > 0 && callInstruction.MatchString(line.Text) {
				if key := (lineKey{line.Frames[0].Method, line.Frames[0].Line}); at.calls[key] == "" {
					at.calls[key] = rowID(number, l, k)
				}
			}
			if len(line.Frames) == 0 || !slices.ContainsFunc(line.Counts, func(n int64) bool { return n > 0 }) {
				continue
			}
			inner := line.Frames[0]
			better := place{rowID(number, l, k), line.Counts}
			hotter(at.frames, inner.Method, better)
			hotter(at.lines, lineKey{inner.Method, inner.Line}, better)
			if line.OwnFrames {
				at.borrowed[lineKey{inner.Method, inner.Line}] -= line.Counts[0]
			} else {
				at.borrowed[lineKey{inner.Method, inner.Line}] += line.Counts[0]
			}
		}
	}
	return at
}

// keep sets the value of a key, unless the key already has a value.
func keep[K comparable](m map[K]int, key K, value int) {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
}

// hotter sets the place of a key to p, unless the key already has a place with as many samples or more.
func hotter[K comparable](m map[K]place, key K, p place) {
	if before, ok := m[key]; !ok || slices.Compare(p.counts, before.counts) > 0 {
		m[key] = p
	}
}

// rowID returns the id of a line of a listing.
func rowID(number int, l *profile.Listing, line int) string {
	return "c" + strconv.Itoa(number) + "-" + strconv.FormatUint(l.Lines[line].Lo-l.Lines[0].Lo, 16)
}

// method returns the id of the hottest instruction in the first listing of a method.
func (at *places) method(source, name string) string {
	if i, ok := at.methods[[2]string{source, name}]; ok {
		return at.hottestLine[i-at.first]
	}
	return ""
}

// compilation returns the id of the hottest instruction of a compilation.
func (at *places) compilation(method string, id int) string {
	if i, ok := at.compiled[compiledKey{method, id}]; ok {
		return at.hottestLine[i-at.first]
	}
	return ""
}

// instruction returns the id of the instruction that contains an address.
func (at *places) instruction(source, method string, id int, lo uint64) string {
	for i := range at.p.Listings {
		l := &at.p.Listings[i]
		if l.Source != source || l.Method != method || l.CompileID != id || lo < l.Lines[0].Lo {
			continue
		}
		k, ok := slices.BinarySearchFunc(l.Lines, lo, func(line code.Line, lo uint64) int { return cmp.Compare(line.Lo, lo) })
		if !ok {
			k--
		}
		if lo < l.Lines[k].Hi {
			return rowID(at.first+i, l, k)
		}
	}
	return ""
}

// callInstruction matches the text of an instruction that calls, on x86 and aarch64.
var callInstruction = regexp.MustCompile(`^(?:call|blr?\b)`)

// call returns the id of the instruction at which a frame of a call stack is. This is a call or, in the innermost
// frame, the sampled instruction. If the page does not have the code that ran, call searches other code: first for a
// call that was made from the same line, then for the hottest instruction of that line, and then for the hottest
// instruction of the method.
func (at *places) call(f *callstack.Frame) string {
	for i := range at.p.Listings {
		l := &at.p.Listings[i]
		if f.CompileID == 0 || l.CompileID != f.CompileID || f.PC <= l.Lines[0].Lo || f.PC > l.Lines[len(l.Lines)-1].Hi {
			continue
		}
		k, ok := slices.BinarySearchFunc(l.Lines, f.PC-1, func(line code.Line,
			pc uint64) int {
			return cmp.Compare(line.Lo, pc)
		})
		if !ok {
			k--
		}
		return rowID(at.first+i, l, k)
	}
	key := lineKey{f.Name, f.Line}
	return cmp.Or(at.calls[key], at.lines[key].id, at.frames[f.Name].id)
}

// regionParts adds up the samples of a region, separately for each part (time slice and thread group). It returns nil
// unless one listing has all of the samples.
func (at *places) regionParts(r *schema.Region) parts.Counts {
	for i := range at.p.Listings {
		l := &at.p.Listings[i]
		lo, hi := uint64(r.Lo), uint64(r.Hi)
		if l.Parts == nil || l.Source != r.Source || l.Method != r.Method || l.CompileID != r.CompileID || lo < l.Lo ||
			hi > l.Hi {
			continue
		}
		parts := l.PartsBetween(lo, hi)
		sum := make(tally.Counts, len(r.Counts.Values))
		for _, c := range parts {
			sum.Add(c.Counts)
		}
		if slices.Equal(sum, r.Counts.Values) {
			return parts
		}
	}
	return nil
}

// frame returns the id of the hottest instruction that was made from a method.
func (at *places) frame(method string) string { return at.frames[method].id }

// mark returns borrowedMark if most of a line's samples are at instructions for which HotSpot kept no line. Otherwise
// it returns "".
func (at *places) mark(method string, line int) string {
	if at.borrowed[lineKey{method, line}] > 0 {
		return borrowedMark
	}
	return ""
}

// line returns the id of the hottest instruction that was made from a line.
func (at *places) line(method string, line int) string { return at.lines[lineKey{method, line}].id }
