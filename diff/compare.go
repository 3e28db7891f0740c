package diff

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/sampler"
)

// Options say what is a change worth showing.
type Options struct {
	// MinChange is the least change of a share that is shown, 0 to 1.
	MinChange float64
	// HotThreshold is the share from which on, on either side, a region whose
	// code differs is listed instruction by instruction. The first one always is.
	HotThreshold float64
}

// A Result is what differs between two sides.
type Result struct {
	A, B      *Side
	Notes     []string // what the reader should know about the comparison
	Trials    []Comparison
	UnpairedA []string // trials that B does not have
	UnpairedB []string
}

// A Comparison is of one trial. Its rows are those that changed, what changed
// most first.
type Comparison struct {
	A, B     *Trial
	Noise    Noise
	Compared Compared
	Methods  []Row
	Frames   []Row
	Regions  []RegionRow
}

// Compared counts what was compared, on both sides together.
type Compared struct {
	Methods int `json:"methods"`
	Frames  int `json:"frames"`
	Regions int `json:"regions"`
}

// A Row is a method, frame or region that changed. Shares are of the samples
// in the profile, 0 to 1.
type Row struct {
	Source   string  `json:"source,omitempty"`
	Name     string  `json:"name"`
	SamplesA int64   `json:"samples_a"`
	SamplesB int64   `json:"samples_b"`
	ShareA   float64 `json:"share_a"`
	ShareB   float64 `json:"share_b"`
	Change   float64 `json:"change"` // of the share, B - A
	// NanosA and NanosB are the CPU time per operation, in ns, where both sides
	// know their operations; else 0.
	NanosA float64 `json:"nanos_per_op_a,omitempty"`
	NanosB float64 `json:"nanos_per_op_b,omitempty"`
	// Threshold is what the change must have to be none of chance.
	Threshold float64 `json:"threshold"`
	// Code is the share of the samples, on the side that has more, on
	// instructions that the other side has not; 0 where it is not above the
	// noise or the code is unknown.
	Code float64 `json:"code"`
}

// codePart is the part of a row's samples that must be on different code to
// make it a change when its share is the same: two compilations of a method
// often differ in their coldest parts.
const codePart = 0.05

// changed tells whether the row is above the noise.
func (r *Row) changed() bool {
	return math.Abs(r.Change) >= r.Threshold || r.Code > 0 && r.Code >= codePart*max(r.ShareA, r.ShareB)
}

func (r *Row) size() float64 { return max(math.Abs(r.Change), r.Code) }

func compareRows(a, b *Row) int {
	return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)), strings.Compare(a.Name, b.Name))
}

// Compare compares two sides, trial by trial.
func Compare(a, b *Side, o Options) *Result {
	r := &Result{A: a, B: b}
	usedB := make([]bool, len(b.Trials))
	for i := range a.Trials {
		j := slices.IndexFunc(b.Trials, func(t Trial) bool { return t.Name == a.Trials[i].Name })
		if len(a.Trials) == 1 && len(b.Trials) == 1 {
			j = 0
		}
		if j < 0 || usedB[j] {
			r.UnpairedA = append(r.UnpairedA, a.Trials[i].Name)
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
			r.UnpairedB = append(r.UnpairedB, b.Trials[j].Name)
		}
	}
	return r
}

// note says what makes two trials hard to compare, once.
func (r *Result) note(a, b *Trial) {
	say := func(text string) {
		if !slices.Contains(r.Notes, text) {
			r.Notes = append(r.Notes, text)
		}
	}
	if a.Event != b.Event && !(sampler.ByClock(a.Event) && sampler.ByClock(b.Event)) {
		say("A has samples of " + a.Event + ", B of " + b.Event + ": shares of one are not shares of the other")
	}
	if r.A.Selection != r.B.Selection {
		say("HotSpot printed other code in A (" + cmp.Or(r.A.Selection, "all") + ") than in B (" + cmp.Or(r.B.Selection, "all") +
			"), so what was inlined into what is not known alike: frames are not compared")
	}
	if !sameSyntax(a, b) {
		say("the instructions of A and B are written in different ways (another processor, or --intel-syntax), so the code is not compared")
	}
}

// withoutFrames is a copy without frames.
func (t *Trial) withoutFrames() *Trial {
	without := *t
	without.Frames = nil
	return &without
}

// sameSyntax tells whether instructions can be compared as text.
func sameSyntax(a, b *Trial) bool {
	x, y := a.syntax(), b.syntax()
	return x == y || x == "" || y == ""
}

// syntax tells how the code is written: AT&T has a % at each register.
func (t *Trial) syntax() string {
	percent, lines := 0, 0
	for i := range t.Regions {
		for _, l := range t.Regions[i].Lines {
			lines++
			if strings.Contains(l.Text, "%") {
				percent++
			}
		}
	}
	switch {
	case lines == 0:
		return ""
	case 4*percent > lines:
		return "AT&T"
	}
	return "other"
}

// A rowPair is a row before the noise is known.
type rowPair struct {
	source, name   string
	countA, countB int64
	spread         float64
}

func compareTrials(a, b *Trial, o Options) Comparison {
	if a.Samples == 0 || b.Samples == 0 {
		return Comparison{A: a, B: b, Methods: []Row{}, Frames: []Row{}, Regions: []RegionRow{}}
	}
	methods, frames := itemPairs(a, b, a.Methods, b.Methods), itemPairs(a, b, a.Frames, b.Frames)
	pairing := newPairing(a, b, o.MinChange)
	regions := pairing.pairs(a, b)
	c := Comparison{A: a, B: b, Compared: Compared{len(methods), len(frames), len(regions)}}

	large := 0 // rows that can change by MinChange
	count := func(countA, countB int64) {
		if max(shareOf(countA, a.Samples), shareOf(countB, b.Samples)) >= o.MinChange {
			large++
		}
	}
	for _, row := range slices.Concat(methods, frames) {
		count(row.countA, row.countB)
	}
	for _, q := range regions {
		count(total(q.a), total(q.b))
	}
	c.Noise = newNoise(a, b, large, o.MinChange)

	code := map[itemKey]float64{} // of methods
	c.Regions = c.regionRows(pairing, regions, methods, o)
	for i := range c.Regions {
		r := &c.Regions[i]
		code[itemKey{r.Source, r.Name}] += r.Code
	}
	c.Methods = c.rows(methods, code)
	c.Frames = c.rows(frames, nil)
	return c
}

// itemPairs pairs what has the same source and name.
func itemPairs(a, b *Trial, as, bs []Item) []rowPair {
	inA, inB := index(as), index(bs)
	var pairs []rowPair
	for i := range as {
		item := &as[i]
		p := rowPair{source: item.Source, name: item.Name, countA: item.Count}
		other := inB[item.key()]
		if other != nil {
			p.countB = other.Count
		}
		p.spread = spread(a, b, item, other)
		pairs = append(pairs, p)
	}
	for i := range bs {
		if item := &bs[i]; inA[item.key()] == nil {
			pairs = append(pairs, rowPair{source: item.Source, name: item.Name, countB: item.Count, spread: spread(a, b, nil, item)})
		}
	}
	return pairs
}

// rows keeps the pairs that changed.
func (c *Comparison) rows(pairs []rowPair, code map[itemKey]float64) []Row {
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

func (c *Comparison) row(p *rowPair) Row {
	r := Row{Source: p.source, Name: p.name, SamplesA: p.countA, SamplesB: p.countB,
		ShareA: shareOf(p.countA, c.A.Samples), ShareB: shareOf(p.countB, c.B.Samples),
		Threshold: c.Noise.threshold(p.countA, p.countB, p.spread)}
	r.Change = r.ShareB - r.ShareA
	if c.A.NanosPerOp > 0 && c.B.NanosPerOp > 0 {
		r.NanosA, r.NanosB = r.ShareA*c.A.NanosPerOp, r.ShareB*c.B.NanosPerOp
	}
	return r
}

func shareOf(n, total int64) float64 {
	if total == 0 {
		return 0
	}
	return float64(n) / float64(total)
}
