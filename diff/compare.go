package diff

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/sampler"
)

// Options say which changes are shown.
type Options struct {
	// MinChange is the smallest change of a share that is shown, 0 to 1.
	MinChange float64
	// Code that differs is listed instruction by instruction if its region has at least this share of the samples on
	// one side. The code of the region that changed most is always listed.
	HotThreshold float64
}

// A Result is what differs between two profiles, called sides.
type Result struct {
	A, B      *Side
	Notes     []string // what the reader should know about the comparison
	Trials    []Comparison
	UnpairedA []string // the titles of A's trials that B does not have
	UnpairedB []string
	Gate      *Gate // the verdict of [Result.Judge]; nil if it was not asked for
}

// A Comparison is what differs in one trial, which is a benchmark or a whole program. It has a row
// for everything that changed, sorted by the size of the change.
type Comparison struct {
	A, B     *TrialSide
	Noise    Noise
	Compared Compared
	Methods  []Row
	Frames   []Row
	Regions  []RegionRow
}

// Compared says how many things were compared, including those that only one side has.
type Compared struct {
	Methods int `json:"methods"`
	Frames  int `json:"frames"`
	Regions int `json:"regions"`
}

// A Row is a method, frame or region that changed. Shares are parts of the profile's samples, from
// 0 to 1.
type Row struct {
	Source   string  `json:"source,omitempty"`
	Name     string  `json:"name"`
	SamplesA int64   `json:"samples_a"`
	SamplesB int64   `json:"samples_b"`
	ShareA   float64 `json:"share_a"`
	ShareB   float64 `json:"share_b"`
	Change   float64 `json:"change"` // ShareB - ShareA
	// NanosA and NanosB are the CPU time per operation of the benchmark, in ns. They
	// are 0 if one side's number of operations is unknown.
	NanosA float64 `json:"nanos_per_op_a,omitempty"`
	NanosB float64 `json:"nanos_per_op_b,omitempty"`
	// Threshold is how much the share must change before chance no longer explains the change.
	Threshold float64 `json:"threshold"`
	// Each side may have samples on instructions that the other side does not have. Code is the larger of the two
	// shares of such samples, A's and B's. It is 0 if both shares are within the noise, or if the code is unknown. For
	// a method it is the sum over its regions; for a frame it is 0.
	Code float64 `json:"code"`
}

// leastCodePart is the smallest part of a row's samples that must be on different code to make the row count as changed
// although its share did not change. Without this limit too many rows would count, because two compilations of one
// method often differ in their coldest parts.
const leastCodePart = 0.05

// changed reports whether the row's share or its code changed by more than noise.
func (r *Row) changed() bool {
	return math.Abs(r.Change) >= r.Threshold || r.Code > 0 && r.Code >= leastCodePart*max(r.ShareA, r.ShareB)
}

func (r *Row) size() float64 { return max(math.Abs(r.Change), r.Code) }

// compareRows orders rows by the size of their change, the largest first.
func compareRows(a, b *Row) int {
	return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)),
		strings.Compare(a.Name, b.Name))
}

// Compare compares two sides, trial by trial or program by program.
func Compare(a, b *Side, o Options) *Result {
	r := &Result{A: a, B: b}
	usedB := make([]bool, len(b.Trials))
	for i, j := range pairTrials(a.Trials, b.Trials) {
		if j < 0 {
			r.UnpairedA = append(r.UnpairedA, a.Trials[i].Title())
			continue
		}
		usedB[j] = true
		ta, tb := &a.Trials[i], &b.Trials[j]
		r.note(ta, tb)
		if a.Selection != b.Selection {
			ta, tb = ta.withoutFrames(), tb.withoutFrames()
		}
		r.Trials = append(r.Trials, compareTrials(ta, tb, o))
	}
	for j, used := range usedB {
		if !used {
			r.UnpairedB = append(r.UnpairedB, b.Trials[j].Title())
		}
	}
	return r
}

// note adds a note for each reason why two trials are hard to compare, such as different events. If
// the result already has the same note, it is not added again.
func (r *Result) note(a, b *TrialSide) {
	say := func(text string) {
		if !slices.Contains(r.Notes, text) {
			r.Notes = append(r.Notes, text)
		}
	}
	if a.Event != b.Event && !(sampler.ParseEvent(a.Event).ByClock() && sampler.ParseEvent(b.Event).ByClock()) {
		say("A has samples of " + a.Event + ", B of " + b.Event + ": their shares can't be compared")
	}
	if a.JDK != b.JDK && a.JDK != "" && b.JDK != "" {
		say("A ran on JDK " + a.JDK + ", B on JDK " + b.JDK + ": a stub or native function may be the same under another name")
	}
	if r.A.Chosen != r.B.Chosen {
		say("A is a report of other samples (" + cmp.Or(r.A.Chosen, "all") + ") than B (" + cmp.Or(r.B.Chosen, "all") +
			"): their shares can't be compared")
	}
	if r.A.Selection != r.B.Selection {
		say("HotSpot printed other code in A (" + cmp.Or(r.A.Selection, "all") + ") than in B (" +
			cmp.Or(r.B.Selection, "all") +
			"): inlining is known only for the methods that HotSpot printed, so frames are not compared")
	}
	if !sameSyntax(a, b) {
		say("the instructions of A and B are written in different ways (another processor, or --intel-syntax), so the code is not compared")
	}
}

// withoutFrames returns a copy without frames.
func (t *TrialSide) withoutFrames() *TrialSide {
	without := *t
	without.Frames = nil
	return &without
}

// sameSyntax reports whether the instructions of both sides can be compared as text.
func sameSyntax(a, b *TrialSide) bool {
	x, y := a.syntax(), b.syntax()
	return x == y || x == "" || y == ""
}

// syntax guesses the syntax of the code: "AT&T" or "other", or "" if there is no code. AT&T syntax has a % at each
// register: "add %eax,%ebx". Intel syntax and aarch64 have no % at registers, but normalised lines can contain a % in
// any syntax: "<const>(%rip)". So the syntax is AT&T only if more than a quarter of the lines have a %.
func (t *TrialSide) syntax() string {
	withPercent, all := 0, 0
	for i := range t.Regions {
		for _, l := range t.Regions[i].Lines {
			all++
			if strings.Contains(l.Text, "%") {
				withPercent++
			}
		}
	}
	switch {
	case all == 0:
		return ""
	case 4*withPercent > all:
		return "AT&T"
	}
	return "other"
}

// An itemPair is a method or frame with its counts on both sides.
type itemPair struct {
	source, name   string
	countA, countB int64
	spreadError    float64
}

// compareTrials compares a pair of trials. The result has no rows if one of them has no samples.
func compareTrials(a, b *TrialSide, o Options) Comparison {
	if a.Samples == 0 || b.Samples == 0 {
		return Comparison{A: a, B: b, Methods: []Row{}, Frames: []Row{}, Regions: []RegionRow{}}
	}
	a, b = pairStubs(a, b)
	methods, frames := itemPairs(a, b, a.Methods, b.Methods), itemPairs(a, b, a.Frames, b.Frames)
	pairing := newPairing(a, b, o.MinChange)
	regions := pairing.pairs(a, b)
	c := Comparison{A: a, B: b, Compared: Compared{len(methods), len(frames), len(regions)}}

	canChange := 0 // how many rows have a share of at least MinChange on one side
	count := func(countA, countB int64) {
		if max(shareOf(countA, a.Samples), shareOf(countB, b.Samples)) >= o.MinChange {
			canChange++
		}
	}
	for _, p := range slices.Concat(methods, frames) {
		count(p.countA, p.countB)
	}
	for _, q := range regions {
		count(totalCount(q.a), totalCount(q.b))
	}
	c.Noise = newNoise(a, b, canChange, o.MinChange)

	c.Regions = c.regionRows(pairing, regions, methods, o)
	codeOfMethods := map[itemKey]float64{}
	for i := range c.Regions {
		r := &c.Regions[i]
		codeOfMethods[itemKey{r.Source, r.Name}] += r.Code
	}
	c.Methods = c.rows(methods, codeOfMethods)
	c.Frames = c.rows(frames, nil)
	return c
}

// itemPairs pairs the items, which are methods or frames, that have the same source and name. An item that only one
// side has becomes a pair too, and its count on the other side is 0.
func itemPairs(a, b *TrialSide, itemsA, itemsB []Item) []itemPair {
	inA, inB := byKey(itemsA), byKey(itemsB)
	var pairs []itemPair
	for i := range itemsA {
		item := &itemsA[i]
		p := itemPair{source: item.Source, name: item.Name, countA: item.Count}
		other := inB[item.key()]
		if other != nil {
			p.countB = other.Count
		}
		p.spreadError = spreadError(a, b, item, other)
		pairs = append(pairs, p)
	}
	for i := range itemsB {
		if item := &itemsB[i]; inA[item.key()] == nil {
			pairs = append(pairs, itemPair{source: item.Source, name: item.Name, countB: item.Count,
				spreadError: spreadError(a, b, nil, item)})
		}
	}
	return pairs
}

// rows returns a row for each pair that changed. code maps each method to the sum of its regions'
// Row.Code; it is nil for frames.
func (c *Comparison) rows(pairs []itemPair, code map[itemKey]float64) []Row {
	rows := []Row{}
	for i := range pairs {
		row := c.row(&pairs[i])
		row.Code = min(code[itemKey{row.Source, row.Name}], 1)
		if row.changed() {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return compareRows(&a, &b) })
	return rows
}

// row returns the row of a pair. It does not set Row.Code.
func (c *Comparison) row(p *itemPair) Row {
	r := Row{Source: p.source, Name: p.name, SamplesA: p.countA, SamplesB: p.countB,
		ShareA: shareOf(p.countA, c.A.Samples), ShareB: shareOf(p.countB, c.B.Samples),
		Threshold: c.Noise.threshold(p.countA, p.countB, p.spreadError)}
	r.Change = r.ShareB - r.ShareA
	if c.A.NanosPerOp > 0 && c.B.NanosPerOp > 0 {
		r.NanosA, r.NanosB = r.ShareA*c.A.NanosPerOp, r.ShareB*c.B.NanosPerOp
	}
	return r
}

// shareOf returns n divided by the total. It returns 0 if the total is 0.
func shareOf(n, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}
