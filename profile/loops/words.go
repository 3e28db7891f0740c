package loops

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Words describes a loop, including its inner loops: "scalar, unrolled 8 times, 8 range checks, 2 reloads, no polls or
// calls". Spills are instructions that write to the stack's frame, and reloads read it.
func (f *Facts) Words() string {
	var words, none []string
	switch {
	case !f.Known:
		return plural(f.Polls, "poll") + ", " + plural(f.Calls, "call")
	case f.Vector < 0:
		words = append(words, "vectors of SVE")
	case f.Vector == 512:
		words = append(words, "vectors of 512 bits (zmm)")
	case f.Vector == 256:
		words = append(words, "vectors of 256 bits (ymm)")
	case f.Vector > 0:
		words = append(words, fmt.Sprintf("vectors of %d bits", f.Vector))
	case f.Scalar:
		words = append(words, "scalar floating point")
	default:
		words = append(words, "scalar")
	}
	if f.Unrolled > 1 {
		words = append(words, fmt.Sprintf("unrolled %d times", f.Unrolled))
	} else if f.Unrolled == 1 {
		words = append(words, "not unrolled")
	}
	for _, count := range []struct {
		n          int
		noun, none string
	}{{f.RangeChecks, "range check", "range checks"}, {f.Polls, "poll", "polls"}, {f.Calls, "call", "calls"}, {f.Spills,
		"spill", ""}, {f.Reloads, "reload", ""}} {
		switch {
		case count.n > 0:
			words = append(words, plural(count.n, count.noun))
		case count.none != "":
			none = append(none, count.none)
		}
	}
	if f.Spills+f.Reloads == 0 {
		none = append(none, "spills")
	}
	if len(none) > 0 {
		last := none[len(none)-1]
		if none = none[:len(none)-1]; len(none) > 0 {
			last = strings.Join(none, ", ") + " or " + last
		}
		words = append(words, "no "+last)
	}
	return strings.Join(words, ", ")
}

// Limit returns how fast a round can be, and why: "no faster than 48 cycles a round (32 on Zen 5 and Golden Cove): a
// chain of 16 vaddsd; ports would allow 8 cycles". If there is no bound, it returns the reason, or "" if no bound was
// computed.
func (f *Facts) Limit() string {
	b := f.Bound
	switch {
	case b == nil && f.Unbounded != "":
		return "no bound: " + f.Unbounded
	case b == nil:
		return ""
	case b.Limited():
		return b.usually() + "no faster than " + b.Fastest() + ": a chain of " + b.Links() + "; ports would allow " +
			inCycles(b.Ports)
	case b.Cycles > 0:
		return b.usually() + "no faster than " + b.Fastest() + ": " + b.Busiest + "; the longest chain takes " +
			inCycles(b.Cycles)
	}
	return b.usually() + "no faster than " + b.Fastest() + ": " + b.Busiest + "; no chain"
}

// inCycles returns a number of cycles with its unit: "8 cycles", "1 cycle".
func inCycles(n float64) string {
	if text := Cycles(n); text != "1" {
		return text + " cycles"
	}
	return "1 cycle"
}

// Fastest returns the bound in cycles: "48 cycles a round (32 on Zen 5 and Golden Cove)".
func (b *Bound) Fastest() string {
	usual, newest := max(b.Cycles, b.Ports), max(b.Newest, b.Ports)
	text := inCycles(usual) + " a round"
	if Cycles(newest) != Cycles(usual) {
		text += " (" + Cycles(newest) + " on Zen 5 and Golden Cove)"
	}
	return text
}

// usually returns the words with which Limit says that a bound does not hold for every round, or "".
func (b *Bound) usually() string {
	if b.Usual {
		return "on its usual path, "
	}
	return ""
}

// maxLinkNames is the maximum number of kinds of instructions that Links names.
const maxLinkNames = 4

// Links lists the instructions of a chain: "8 shl, 8 sub and 8 add". Instructions that take no cycles are left out.
func (b *Bound) Links() string {
	counts := map[string]int{}
	var names []string
	for _, l := range b.Chain {
		if l.Name == "" {
			continue
		}
		if counts[l.Name] == 0 {
			names = append(names, l.Name)
		}
		counts[l.Name]++
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(counts[y], counts[x]) })
	others := 0
	for i, name := range names {
		if i >= maxLinkNames {
			others += counts[name]
			continue
		}
		names[i] = fmt.Sprintf("%d %s", counts[name], name)
		if name == "load" {
			names[i] = plural(counts[name], name)
		}
	}
	if others > 0 {
		names = append(names[:maxLinkNames], fmt.Sprintf("%d others", others))
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return strings.Join(names, "")
}

// Cycles returns a number of cycles with a decimal if it is not a whole number. It is rounded down, because it is a
// lower bound.
func Cycles(n float64) string {
	return strconv.FormatFloat(float64(int(n*10+1e-6))/10, 'f', -1, 64)
}
