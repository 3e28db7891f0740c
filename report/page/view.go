package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/page/sources"
	"github.com/gasm-profiler/gasm/report/page/timeline"
	"github.com/gasm-profiler/gasm/report/schema"
)

// A view is what the template shows. Its strings have been escaped by [show.Text]. The template also escapes them for
// HTML.
type view struct {
	Policy, Title     string
	Style             template.CSS
	Scripts           []template.JS // the last one is a module, which uses the others
	Gasm              string
	Facts             []fact // about the capture
	Notes             []string
	Index             *table // of the profiles; nil if there is only one
	Profiles          []*profileView
	Sources           []sources.File
	Data              template.JS // for the script
	HasCode, HasJumps bool
	HasCalls          bool
	HasWaits          bool        // a profile has tables of how threads spent wall-clock time
	Kinds             []frameKind // the legend of the flame graph
	States            []stateKey  // the legend of states in the flame graph of wall-clock time
}

// A fact is a line about what was run.
type fact struct{ Name, Value string }

// A profileView is what the page shows about one profile.
type profileView struct {
	ID       int
	Name     string
	Facts    []fact
	Warnings []string
	Sources  []bar
	Hottest  *hotLine // nil if no code has samples
	Timeline template.HTML
	Tables   []*table
	Code     []*codeView
	Calls    template.JS // the tree of calls; "" if there are no call stacks
	// WaitCalls is the tree of calls with wall-clock times, and Lanes shows threads over time. They are "" and nil if
	// the capture does not say how threads spent wall-clock time.
	WaitCalls template.JS
	Lanes     *lanesView
	Unlisted  string
	Empty     bool
}

// A bar is the section of one source in the coloured bar that shows where the time went.
type bar struct {
	Class, Name, Text, Width string
	Raw                      int64
	Parts                    string
}

// scriptData is what the page's script needs to know.
type scriptData struct {
	Unit     string        `json:"unit"`
	Profiles []profileData `json:"profiles"`
	Files    []fileData    `json:"files"`
	// Moved maps a method and a line number in its code to the id of a file and a line in that file. It leaves out the
	// line numbers that need no mapping, because they refer to the line of that number in the file of the method's
	// class.
	Moved map[string]map[int][2]int `json:"moved,omitempty"`
}

// profileData is what the script needs to know about a profile.
type profileData struct {
	Name   string     `json:"name"`
	Events []string   `json:"events"`
	Totals []int64    `json:"totals"`
	PerOp  []perOp    `json:"perOp,omitempty"`
	Code   []codeData `json:"code"`
	Parts  *partsData `json:"parts,omitempty"`
}

// perOp says how the script converts a number of samples of an event to an amount per operation of the benchmark; see
// Input.PerOperation.
type perOp struct {
	Factor   float64 `json:"factor"`
	Decimals int     `json:"decimals"`
	Unit     string  `json:"unit"`
}

// codeData is what the script needs to know about a listing.
type codeData struct {
	Method string   `json:"method"`
	Tier   string   `json:"tier"`
	ID     int      `json:"id"`
	Counts []int64  `json:"counts"`
	Parts  []string `json:"parts,omitempty"` // for each event, see partText
}

// fileData has the name of a source file, and the methods whose classes were made from the file.
type fileData struct {
	Name    string   `json:"name"`
	Methods []string `json:"methods"`
}

// A builder builds the view.
type builder struct {
	in      Input
	data    scriptData
	listing int // the number of listings so far
	sources *sources.Files
}

// newView returns the view of the input.
func newView(in Input) *view {
	b := &builder{in: in, sources: sources.New(in.Place, in.FileLines, in.NativeLines)}
	b.data.Unit = in.Unit
	about := in.Report.Capture
	v := &view{Title: "gasm: " + title(in), Gasm: show.Text(in.Report.Gasm), Facts: b.captureFacts()}
	for _, n := range about.Notes {
		v.Notes = append(v.Notes, show.Text(n))
	}
	for i := range in.Report.Profiles {
		p := b.profile(i)
		v.Profiles = append(v.Profiles, p)
		v.HasCode = v.HasCode || len(p.Code) > 0
		v.HasCalls = v.HasCalls || p.Calls != "" || p.WaitCalls != ""
		v.HasWaits = v.HasWaits || p.Lanes != nil
	}
	if v.HasWaits {
		v.States = stateKeys()
	}
	v.Index = b.index()
	v.Sources = b.sources.Files()
	for _, f := range v.Sources {
		b.data.Files = append(b.data.Files, fileData{f.Name, f.Methods})
	}
	b.data.Moved = b.sources.Moved()
	text, err := json.Marshal(b.data)
	if err != nil {
		text = []byte("{}") // can't happen: these are strings and numbers
	}
	v.Data = template.JS(text)
	return v
}

// title returns a name for the page: the name of its profile, or the command.
func title(in Input) string {
	if len(in.Names) == 1 && in.Names[0] != "" {
		return show.Text(in.Names[0])
	}
	if in.Command != "" {
		return show.Text(in.Command)
	}
	return fmt.Sprintf("%d profiles", len(in.Names))
}

// index returns the table of the profiles, or nil if there is only one.
func (b *builder) index() *table {
	if len(b.data.Profiles) < 2 {
		return nil
	}
	out := &table{ID: "profiles", Title: "Profiles", Note: "samples of the first event",
		Columns: []column{{Name: "samples", Number: true}, {Name: "profile"}}}
	var most int64 = 1
	for _, p := range b.data.Profiles {
		if len(p.Totals) > 0 {
			most = max(most, p.Totals[0])
		}
	}
	for i, p := range b.data.Profiles {
		var n int64
		if len(p.Totals) > 0 {
			n = p.Totals[0]
		}
		text := strconv.FormatInt(n, 10)
		out.Rows = append(out.Rows, row{Link: "p" + strconv.Itoa(i),
			Cells: []cell{{Text: text, Sort: text, Width: show.Portion(n, most)}, {Text: p.Name, Name: true}}})
	}
	const first = 20
	if out.Shown = len(out.Rows); out.Shown > first+3 {
		out.Shown = first
	}
	return out
}

// captureFacts returns the facts about the capture.
func (b *builder) captureFacts() []fact {
	c := b.in.Report.Capture
	var facts []fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, show.Text(value)})
		}
	}
	add("Command", b.in.Command)
	if c.Attached {
		add("Attached", "to running JVMs")
	}
	add("Sampler", b.in.Profiles.Capture.SamplerText())
	add("Chosen", b.in.Report.Chosen)
	add("Code", map[string]string{"printed": "printed by HotSpot", "copied": "copied from the JVM's memory",
		"mixed": "printed by HotSpot and copied from the JVM's memory"}[c.Code])
	add("Only", c.Selection)
	return facts
}

// profile returns the view of profile i.
func (b *builder) profile(i int) *profileView {
	p, r := &b.in.Profiles.Trials[i], &b.in.Report.Profiles[i]
	v := &profileView{ID: i, Name: show.Text(b.in.Names[i])}
	d := profileData{Name: b.in.Names[i], Events: []string{}, Totals: []int64{}, Code: []codeData{}}
	d.Name = show.Text(d.Name)
	for e, a := range r.Account.Values {
		d.Events = append(d.Events, show.Text(r.Account.Events[e]))
		d.Totals = append(d.Totals, a.Profiled)
		v.Empty = v.Empty || a.Profiled > 0
		if b.in.PerOperation == nil {
			continue
		}
		if factor, decimals, unit, ok := b.in.PerOperation(p, e); ok {
			d.PerOp = append(d.PerOp, perOp{factor, decimals, unit})
		}
	}
	v.Empty = !v.Empty
	for _, w := range r.Warnings {
		v.Warnings = append(v.Warnings, show.Text(w))
	}
	v.Facts = b.profileFacts(p, r)
	places := newPlaces(p, b.listing)
	for k := range p.Listings {
		l := &p.Listings[k]
		v.Code = append(v.Code, b.code(p, r, l, places, d.Totals))
		c := codeData{Method: show.Text(l.Method), Tier: show.Text(l.Source), ID: l.CompileID, Counts: l.Counts}
		if l.Parts != nil {
			c.Parts = partTexts(l.Parts.All, len(d.Totals))
		}
		d.Code = append(d.Code, c)
	}
	v.Unlisted = unlisted(p, d.Totals)
	v.Calls = b.calls(p, places)
	v.WaitCalls, v.Lanes = b.waitCalls(p, places), b.lanes(p)
	d.Parts = b.partsOf(p, len(d.Totals))
	if hot := hotLines(p, r, places, d.Totals); len(hot) > 0 {
		v.Hottest = hot[0]
	}
	v.Sources = sourceBars(p, r, d.Totals)
	v.Timeline = timeline.Draw(b.in.Profiles, p)
	v.Tables = b.tables(p, r, places, d.Totals)
	b.data.Profiles = append(b.data.Profiles, d)
	return v
}

// profileFacts returns the facts about a profile.
func (b *builder) profileFacts(p *profile.Profile, r *schema.Profile) []fact {
	var facts []fact
	var jvms []string
	for _, j := range b.in.Profiles.Capture.JVMs {
		if slices.Contains(p.PIDs, j.PID) {
			jvms = append(jvms, j.String())
		}
	}
	const most = 6
	if len(jvms) > most {
		jvms = append(jvms[:most], fmt.Sprintf("%d more", len(jvms)-most))
	}
	facts = append(facts, fact{"JVMs", show.Text(strings.Join(jvms, "; "))})
	if r.WindowSeconds > 0 {
		facts = append(facts, fact{"Measured", fmt.Sprintf("%.2f s", r.WindowSeconds)})
	}
	for e, a := range r.Account.Values {
		text := fmt.Sprintf("%d in the profile, %d taken", a.Profiled, a.Total)
		if len(r.Account.Values) > 1 {
			text = show.Text(r.Account.Events[e]) + ": " + text
		}
		facts = append(facts, fact{"Samples", text})
	}
	for e, a := range p.Accounts {
		if a.Stacks() == 0 {
			continue
		}
		text := amount.StackShares(&a, show.Percent)
		if len(p.Accounts) > 1 {
			text = show.Text(r.Account.Events[e]) + ": " + text
		}
		facts = append(facts, fact{"Stacks", text})
	}
	if r.Score != nil {
		facts = append(facts, fact{"Score", show.Text((*capture.Score)(r.Score).String())})
	}
	if r.Operations > 0 {
		facts = append(facts, fact{"Operations", fmt.Sprintf("%.4g", r.Operations)})
	}
	return facts
}

// unlisted returns a text about the code that is not in the page. The text says how much code that is, and how to get
// it. It returns "" if all code is in the page.
func unlisted(p *profile.Profile, totals []int64) string {
	u := p.Unlisted
	if u.Pieces == 0 || len(totals) == 0 || len(u.Counts) == 0 {
		return ""
	}
	text := fmt.Sprintf("The code of %s with %s of the samples is not in this page", show.Count(u.Pieces,
		"method and stub"),
		cmpText(show.Percent(u.Counts[0], totals[0]), "0.00%"))
	if u.Pieces > 1 {
		text = strings.Replace(text, "method and stubs", "methods and stubs", 1)
	}
	if u.NoCode > 0 {
		text += fmt.Sprintf(" (the log has no code of %d)", u.NoCode)
	}
	return text + "; --instructions NUMBER shows more, down to 0.1 % each, and gasm report --format text shows any region."
}

// cmpText returns the first text or, if that is empty, the second one.
func cmpText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// kindOf returns the kind of code that comes from a source such as "c2, level 4". Each kind has a colour in the page.
func kindOf(source string) string {
	switch {
	case strings.HasPrefix(source, "c2"), strings.HasPrefix(source, "jvmci"):
		return "c2"
	case strings.HasPrefix(source, "c1"), source == "compiled":
		return "c1"
	case source == "interpreter":
		return "interpreter"
	case strings.Contains(source, "stub"), source == "adapter", source == "native wrapper":
		return "stub"
	case source == "kernel":
		return "kernel"
	case source == profile.UnresolvedSource:
		return "unresolved"
	}
	return "native"
}

// sourceBars returns the parts of the bar that shows where the time went.
func sourceBars(p *profile.Profile, r *schema.Profile, totals []int64) []bar {
	var bars []bar
	for _, s := range r.Sources {
		if len(s.Counts.Values) == 0 || s.Counts.Values[0] == 0 {
			continue
		}
		n := s.Counts.Values[0]
		one := bar{Class: kindOf(s.Source), Name: show.Text(s.Source), Raw: n}
		switch {
		case p.Parts == nil:
			bars = append(bars, one)
		case strings.HasPrefix(s.Source, "libjvm.") && p.Threads != nil: // nil if the sampler recorded no names of threads
			bars = append(bars, splitByWork(one, p.Parts, p.Parts.Sources[s.Source])...)
		default:
			one.Parts = partText(p.Parts.Sources[s.Source], 0)
			bars = append(bars, one)
		}
	}
	for i := range bars {
		bars[i].Text, bars[i].Width = show.Percent(bars[i].Raw, totals[0]), show.Portion(bars[i].Raw, totals[0])
	}
	return bars
}

// workOf returns the kind of work that HotSpot's own code does in threads of a kind.
func workOf(kind string) string {
	switch kind {
	case threads.Compilers:
		return "JIT"
	case threads.Collector:
		return "GC"
	}
	return "runtime" // resolves calls, loads classes or locks for the program, for example
}

// splitByWork splits the bar of HotSpot's library into one bar for each kind of work, the largest first.
func splitByWork(whole bar, all *profile.Parts, counts parts.Counts) (bars []bar) {
	split := map[string]parts.Counts{}
	for _, c := range counts {
		work := workOf(all.Threads[all.List[c.Part].Thread].Kind)
		split[work] = append(split[work], c)
	}
	for _, work := range []string{"JIT", "GC", "runtime"} {
		one := bar{Class: whole.Class, Name: whole.Name + ", " + work, Parts: partText(split[work], 0)}
		for _, c := range split[work] {
			one.Raw += c.Counts[0]
		}
		if one.Raw > 0 {
			bars = append(bars, one)
		}
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(b.Raw, a.Raw) })
	return bars
}
