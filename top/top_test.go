package top_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/top"
	"github.com/gasm-profiler/gasm/top/toptest"
)

// report returns the profile that gasm report makes of the capture.
func report(t *testing.T) *profile.Profile {
	c, err := capture.Open(gasmtest.UnpackFolder(t, "stacks"))
	require.NoError(t, err)
	defer c.Close()
	o := choice.DefaultOptions()
	o.Stacks, o.Listings = true, 1_000_000
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	require.Len(t, ps.Trials, 1)
	return &ps.Trials[0]
}

// TestLikeReport compares all tables with those of gasm report, of the same samples: a live picture of all samples has
// the same numbers.
func TestLikeReport(t *testing.T) {
	r := toptest.New(t, "stacks", nil)
	r.All()
	p := r.Model.Picture(top.SinceStart)
	want := report(t)
	require.EqualValues(t, want.Accounts[0].Profiled, p.Total)

	methods := map[string]float64{}
	for _, m := range p.Methods(top.Scope{}) {
		methods[m.Source+" "+m.Name] = m.Count
	}
	for _, m := range want.Methods {
		if m.Source == "interpreter" {
			continue // the view has the interpreted methods instead
		}
		assert.InDelta(t, float64(m.Counts[0]), methods[m.Source+" "+m.Name], 0.1, "%s %s", m.Source, m.Name)
	}
	for _, n := range want.Native {
		if n.Symbol != "" && n.Module != profile.UnknownModule {
			assert.InDelta(t, float64(n.Counts[0]), methods[n.Module+" "+n.Symbol], 0.1, "%s %s", n.Module, n.Symbol)
		}
	}
	frames := map[string]top.Frame{}
	for _, f := range p.Frames(top.Scope{}) {
		frames[f.Name] = f
	}
	for i := range want.Frames {
		f := &want.Frames[i]
		assert.InDelta(t, float64(f.Counts[0]), frames[f.Method].Count-interpreted(want, f.Method), 0.1, f.Method)
		if f.WithCallees != nil {
			assert.InDelta(t, float64(f.WithCallees[0]), frames[f.Method].Total.Count, 0.1, "%s, with callees", f.Method)
		}
	}
	sum := 0.0
	for _, thread := range p.Threads(top.Scope{}) {
		sum += thread.Count
		assert.Equal(t, thread.Count, p.ScopeTotal(top.Scope{PID: r.PID, TID: thread.TID}).Count, thread.Name)
	}
	assert.Equal(t, p.Total, sum, "threads")

	compared := 0
	for i := range want.Listings {
		l := &want.Listings[i]
		c := p.CodeOf(top.Scope{}, l.Method)
		if c == nil || c.CompileID != l.CompileID || c.CompileID == 0 || tally.Counts(l.Counts)[0] == 0 {
			continue
		}
		got := p.Listing(top.Scope{}, c)
		require.NotNil(t, got, l.Method)
		require.Len(t, got.Lines, len(l.Lines), l.Method)
		for n := range l.Lines {
			assert.Equal(t, l.Lines[n].Text, got.Lines[n].Text)
			assert.Equal(t, l.Lines[n].Counts, got.Lines[n].Counts, "%s at 0x%x", l.Method, l.Lines[n].Lo)
			assert.Equal(t, l.Lines[n].Frames, got.Lines[n].Frames, "%s at 0x%x", l.Method, l.Lines[n].Lo)
		}
		compared++
	}
	assert.Greater(t, compared, 10, "listings")
}

// interpreted returns the samples of a method in the interpreter.
func interpreted(p *profile.Profile, method string) float64 {
	for _, m := range p.Interpreted {
		if m.Method == method {
			return float64(m.Counts[0])
		}
	}
	return 0
}

// TestModes: the samples of the last second count fully in all modes. Depending on the mode, older samples count fully,
// less and less, or not at all.
func TestModes(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	const pid = 7
	m.SetJVMs([]top.JVM{{PID: pid, Main: "M"}})
	s := m.NewSegment()
	s.Begin(100, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	now := int64(1e9)
	second := func(symbol string, n int) {
		for range n {
			s.Sample(&sampler.Sample{PID: pid, TID: pid, Thread: "main", Event: "cpu-clock", Module: "lib.so", Symbol: symbol,
				PC: 1, MonoNanos: now - 5e8})
		}
		m.Tick(now)
		now += 1e9
	}
	m.Tick(now - 1e9)
	for range 20 {
		second("old", 100)
	}
	second("new", 100)
	share := func(mode top.Mode, symbol string) (all, latest float64) {
		p := m.Picture(mode)
		for _, row := range p.Methods(top.Scope{}) {
			if row.Name == symbol {
				return p.Share(row.Amount)
			}
		}
		return 0, 0
	}
	for _, c := range []struct {
		mode top.Mode
		want float64
	}{{top.Last(10), 0.1}, {top.SinceStart, 1.0 / 21}, {top.Last(1), 1}} {
		all, latest := share(c.mode, "new")
		assert.InDelta(t, c.want, all, 1e-9)
		assert.Equal(t, 1.0, latest)
		old, latest := share(c.mode, "old")
		assert.InDelta(t, 1-c.want, old, 1e-9)
		assert.Zero(t, latest)
	}
	decayed, _ := share(top.Decaying, "new")
	assert.Greater(t, decayed, 0.1)
	assert.InDelta(t, 1, m.Picture(top.Last(10)).Head.Mean.App, 1e-9, "processors")
}

// TestFlat: the memory of a Model does not grow with time, even if every sample has a new stack and a new address.
func TestFlat(t *testing.T) {
	r := toptest.New(t, "stacks", nil)
	r.All()
	m := r.Model
	s := m.NewSegment()
	s.Begin(1000, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	now := r.Now()
	for i := range 300 {
		for k := range 1000 {
			s.Sample(&sampler.Sample{PID: r.PID, TID: 1e6 + i*1000 + k, Thread: fmt.Sprint("thread ", k), Event: "cpu-clock",
				Module: "lib.so", Symbol: fmt.Sprint(i, k), PC: 1, MonoNanos: now})
		}
		now += 1e9
		m.Tick(now)
	}
	keys, threads, functions := m.Sizes()
	assert.LessOrEqual(t, keys, 1<<17)
	assert.LessOrEqual(t, threads, 1<<14+1)
	assert.LessOrEqual(t, functions, 1<<17)
	p := m.Picture(top.SinceStart)
	sum := 0.0
	for _, row := range p.Methods(top.Scope{}) {
		sum += row.Count
	}
	assert.InDelta(t, p.Total, sum, 1e-3, "all samples count")
	assert.InDelta(t, p.Total, p.Programs()[0].Count, 1e-3, "for the program, too")
}

// TestManyThreads: a Model does not grow if many threads come and go, each of which runs many functions.
func TestManyThreads(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	const pid = 7
	m.SetJVMs([]top.JVM{{PID: pid, Main: "M"}})
	s := m.NewSegment()
	s.Begin(1000, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	now := int64(1e9)
	for i := range 40 {
		for k := range 10_000 {
			s.Sample(&sampler.Sample{PID: pid, TID: 1000*(i%10) + k%1000 + 1, Thread: "main", Event: "cpu-clock",
				Module: "lib.so", Symbol: fmt.Sprint(i/10, k/1000), PC: 1, MonoNanos: now})
		}
		now += 1e9
		m.Tick(now)
	}
	keys, _, _ := m.Sizes()
	assert.LessOrEqual(t, keys, 1<<17)
	assert.InDelta(t, 400_000, m.Picture(top.SinceStart).Programs()[0].Count, 1e-3)
}

// TestManyFunctions checks that functions of too many modules do not count as a function with another name.
func TestManyFunctions(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	const pid, most, further = 7, 2 << 16, 1000
	m.SetJVMs([]top.JVM{{PID: pid, Main: "M"}})
	s := m.NewSegment()
	s.Begin(1000, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	for i := range most + further {
		s.Sample(&sampler.Sample{PID: pid, TID: 1, Thread: "main", Event: "cpu-clock", Module: fmt.Sprint(i, ".so"),
			Symbol: "f", PC: 1, MonoNanos: 1e9})
	}
	m.Tick(2e9)
	_, _, functions := m.Sizes()
	assert.Equal(t, most+1, functions)
	counts := map[string]float64{}
	for _, row := range m.Picture(top.Last(10)).Methods(top.Scope{}) {
		counts[row.Source+" "+row.Name] += row.Count
	}
	assert.EqualValues(t, 1, counts["0.so f"])
	assert.EqualValues(t, further, counts["unknown (other functions)"])
	assert.Equal(t, most+1, len(counts)) // assert.Len would print all elements
}

// TestEvicted checks that if there is too much code, the code of a new JVM is kept, and code that was used earlier is
// removed.
func TestEvicted(t *testing.T) {
	var log []byte
	r := toptest.New(t, "stacks", func(file string, text []byte) []byte {
		if strings.HasSuffix(file, ".log") {
			// two such texts are too much
			text = append(text, bytes.Repeat(append(bytes.Repeat([]byte(" "), 1023), '\n'), 50<<10)...)
			log = text
		}
		return text
	})
	r.All()
	assert.NotEmpty(t, r.Model.Picture(top.SinceStart).Frames(top.Scope{})) // it decodes code
	before := r.Model.Copied(r.PID)
	require.Positive(t, before)
	other := r.PID + 1
	r.Model.SetJVMs([]top.JVM{{PID: r.PID}, {PID: other}})
	r.Model.NewSegment().Code(other, log)
	r.Model.Tick(r.Now() + 1e9)
	assert.Zero(t, r.Model.Copied(r.PID))
	assert.Equal(t, before, r.Model.Copied(other))
}

// TestEndedJVMs: if JVMs come and go, only the last ones are kept.
func TestEndedJVMs(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	s := m.NewSegment()
	s.Begin(1000, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	for i := 1; i <= 100; i++ {
		m.SetJVMs([]top.JVM{{PID: 1000, Main: "stays"}, {PID: i, Main: "goes"}})
		for _, pid := range []int{1000, i} {
			s.Sample(&sampler.Sample{PID: pid, TID: pid, Event: "cpu-clock", PC: 1, MonoNanos: int64(i) * 1e9})
		}
		m.Tick(int64(i)*1e9 + 5e8)
	}
	p := m.Picture(top.SinceStart)
	assert.Len(t, p.JVMs, 1+16+1)
	assert.Equal(t, 1000, p.JVMs[0].PID)
	assert.Equal(t, 100, p.JVMs[len(p.JVMs)-1].PID)
	assert.EqualValues(t, 200, p.Total)
	assert.EqualValues(t, 100, p.Programs()[0].Count)
}

// TestPauses: the head of a picture counts all pauses in the picture's time, however many there were.
func TestPauses(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	m.SetJVMs([]top.JVM{{PID: 7, Main: "M"}})
	const ticks = 700
	m.Tick(1e9)
	for i := int64(0); i <= ticks; i++ {
		now := (i + 1) * 1e9
		m.Observe(7, now, top.Activity{Collectors: []top.Collector{{Name: "G1", Count: 2 * i, Nanos: 6e6 * i}},
			Safepoints: 3 * i, SafepointNanos: 9e6 * i})
		if i > 0 {
			m.Tick(now)
		}
	}
	of := func(n int64) top.Pauses {
		return top.Pauses{GC: top.Pause{Count: 2 * n, Nanos: 6e6 * n}, Safepoints: top.Pause{Count: 3 * n, Nanos: 9e6 * n}}
	}
	assert.Equal(t, of(10), m.Picture(top.Last(10)).Head.Pauses)
	assert.Equal(t, of(ticks), m.Picture(top.SinceStart).Head.Pauses)
}

// TestFollow: no sample counts twice while one recording replaces another.
func TestFollow(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	const pid = 7
	m.SetJVMs([]top.JVM{{PID: pid, Main: "M"}})
	sample := func(s *top.Segment, at int64) {
		s.Sample(&sampler.Sample{PID: pid, TID: pid, Event: "cpu-clock", PC: 1, MonoNanos: at})
	}
	events := []sampler.Event{sampler.ParseEvent("cpu-clock")}
	first := m.NewSegment()
	first.Begin(100, events)
	for at := int64(1); at < 10; at++ {
		sample(first, at*1e8)
	}
	m.Tick(1e9)
	next := m.NewSegment()
	next.Follow(first, 15e8)
	next.Begin(100, events)
	for at := int64(10); at < 20; at++ { // both have these
		sample(first, at*1e8)
		sample(next, at*1e8)
	}
	first.End()
	m.Tick(25e8)
	assert.EqualValues(t, 19, m.Picture(top.SinceStart).Total)
}

// TestLateCode: if code becomes known only after samples were taken in it, these samples then count for that code, in
// all modes.
func TestLateCode(t *testing.T) {
	var log []byte
	late := toptest.New(t, "stacks", func(file string, text []byte) []byte {
		if strings.HasSuffix(file, ".log") {
			log, text = text, nil
		}
		return text
	})
	require.NotEmpty(t, log)
	compiled := func(m *top.Model, mode top.Mode) map[string]float64 {
		counts := map[string]float64{}
		for _, row := range m.Picture(mode).Methods(top.Scope{}) {
			if row.Code != nil && row.Code.Kind.Java() {
				counts[row.Name] += row.Count
			}
		}
		return counts
	}
	late.Second()
	late.Second()
	assert.Empty(t, compiled(late.Model, top.Last(10)))
	assert.False(t, late.Model.Picture(top.Last(10)).Awaited(), "no code was found")
	late.Code(log)
	late.All()
	assert.False(t, late.Model.Picture(top.Last(10)).Awaited())
	inTime := toptest.New(t, "stacks", nil)
	inTime.All()
	for _, mode := range []top.Mode{top.Last(10), top.SinceStart} {
		want := compiled(inTime.Model, mode)
		assert.NotEmpty(t, want)
		assert.Equal(t, want, compiled(late.Model, mode))
	}
}

// TestRelisted: one recording lists some code, and the next one lists it too, but late. That is the same code, so its
// listing has all of the method's samples.
func TestRelisted(t *testing.T) {
	var log []byte
	r := toptest.New(t, "stacks", func(file string, text []byte) []byte {
		if strings.HasSuffix(file, ".log") {
			log = text
		}
		return text
	})
	for i := range 8 {
		r.Second()
		switch i {
		case 1:
			head, _, _ := bytes.Cut(log, []byte("<writer thread='gasm'/>\n"))
			r.Code(append(bytes.Clone(head), "<writer thread='gasm'/>\n"...))
		case 5:
			r.Code(log)
		}
	}
	r.All()
	p := r.Model.Picture(top.SinceStart)
	versions := map[string]int{}
	for _, row := range p.Methods(top.Scope{}) {
		if row.Code != nil && row.Code.Kind.Java() {
			versions[row.Name]++
			assert.Equal(t, 1, p.Compilations(row.Name, row.Code.CompileID), row.Name)
		}
	}
	assert.NotEmpty(t, versions)
}

// TestLittleNew checks that the Model keeps only the new code when a new recording lists all code again, and that it
// can decode that code.
func TestLittleNew(t *testing.T) {
	var log []byte
	var method string // one that the log has the code of
	r := toptest.New(t, "stacks", func(file string, text []byte) []byte {
		if !strings.HasSuffix(file, ".log") {
			return text
		}
		log = text
		lo := bytes.LastIndex(text, []byte("\nCompiled method (c2)")) + 1
		end := []byte("[/MachCode]\n")
		hi := lo + bytes.Index(text[lo:], end) + len(end)
		method = string(bytes.Fields(text[lo:hi])[6])
		return slices.Concat(text[:lo], text[hi:])
	})
	copied := r.Model.Copied(r.PID)
	_, before, _ := r.Model.Kept()
	r.Code(log)
	r.All()
	assert.Equal(t, copied+1, r.Model.Copied(r.PID))
	_, after, _ := r.Model.Kept()
	assert.Greater(t, after, before)
	assert.Less(t, after-before, len(log)/4)
	p := r.Model.Picture(top.SinceStart)
	c := p.CodeOf(top.Scope{}, method)
	require.NotNil(t, c, method)
	assert.True(t, p.Known(c))
	assert.Greater(t, len(p.Listing(top.Scope{}, c).Lines), 20)
}

// TestHeadOf: the head of the view of one JVM has only that JVM's load and pauses.
func TestHeadOf(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	m.SetJVMs([]top.JVM{{PID: 7, Main: "A"}, {PID: 8, Main: "B"}})
	s := m.NewSegment()
	s.Begin(100, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	m.Tick(1e9)
	for i := range int64(100) {
		for pid := 7; pid <= 8; pid++ {
			if pid == 8 || i < 20 {
				s.Sample(&sampler.Sample{PID: pid, TID: pid, Event: "cpu-clock", PC: 1, MonoNanos: 1e9 + i})
			}
		}
	}
	for i := range int64(2) {
		m.Observe(7, 1e9+i, top.Activity{Safepoints: 10 * i, SafepointNanos: 1e6 * i})
		m.Observe(8, 1e9+i, top.Activity{Safepoints: 5 * i, SafepointNanos: 2e6 * i})
	}
	m.Tick(2e9)
	p := m.Picture(top.Last(1))
	for pid, want := range map[int]struct {
		cpu   float64
		pause top.Pause
	}{0: {1.2, top.Pause{Count: 15, Nanos: 3e6}}, 7: {0.2, top.Pause{Count: 10, Nanos: 1e6}}, 8: {1,
		top.Pause{Count: 5, Nanos: 2e6}}} {
		h := p.HeadOf(pid)
		assert.InDelta(t, want.cpu, h.Mean.Total(), 1e-9, "%d", pid)
		assert.InDelta(t, want.cpu, h.Load.Total(), 1e-9, "%d", pid)
		assert.InDelta(t, want.cpu, h.History[len(h.History)-1].Total(), 1e-9, "%d", pid)
		assert.Equal(t, want.pause, h.Pauses.Safepoints, "%d", pid)
	}
}
