package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/printassembly"
)

// What is read of the JSON report, schema 1.
type (
	jsonCounts map[string]int64
	jsonSlices map[string][]int64
	jsonReport struct {
		Schema   int            `json:"schema"`
		Capture  *jsonCapture   `json:"capture"`
		Profiles *[]jsonProfile `json:"profiles"`
	}
	jsonCapture struct {
		Command   []string `json:"command"`
		Sampler   string   `json:"sampler"`
		Events    []string `json:"events"`
		Frequency int      `json:"frequency"`
		JVMs      []struct {
			PID           int
			Main, Version string
		} `json:"jvms"`
		Selection string
		Notes     []string `json:"notes"`
	}
	jsonProfile struct {
		Trial   string  `json:"trial"`
		Seconds float64 `json:"window_seconds"`
		Ops     float64 `json:"operations"`
		JVMs    []struct {
			Counts jsonCounts `json:"counts"`
		} `json:"jvms"`
		Account map[string]struct {
			Profiled int64 `json:"profiled"`
		} `json:"account"`
		Slices  jsonSlices   `json:"slices"`
		Regions []jsonRegion `json:"regions"`
		Methods []struct {
			Source, Name string
			Counts       jsonCounts
			PerJVM       []jsonCounts `json:"per_jvm"`
			Slices       jsonSlices
		} `json:"methods"`
		Frames []struct {
			Method string
			Counts jsonCounts
			Slices jsonSlices
		} `json:"frames"`
		Native []struct {
			Module, Symbol string
			Counts         jsonCounts
			Slices         jsonSlices
		} `json:"native"`
	}
	jsonRegion struct {
		Source, Method string
		CompileID      int `json:"compile_id"`
		OSR            bool
		Lo, Hi         string
		Counts         jsonCounts
		Lines          []struct {
			Addr, Text, Target string
			Counts             jsonCounts
			Frames             []printassembly.Frame
			Comments           []string
		}
	}
)

// ReadJSON reads a JSON report of schema 1.
func ReadJSON(r io.Reader, name string) (*Side, error) {
	var rep jsonReport
	if err := json.NewDecoder(r).Decode(&rep); err != nil {
		return nil, fmt.Errorf("%s is no JSON report: %w; 'gasm report --format json' makes one", name, err)
	}
	switch {
	case rep.Schema != 0 && rep.Schema != 1:
		return nil, fmt.Errorf("%s has schema %d; this gasm reads schema 1 only: use the gasm that wrote it", name, rep.Schema)
	case rep.Schema == 0 || rep.Capture == nil || rep.Profiles == nil:
		return nil, fmt.Errorf("%s is JSON, but no report: 'gasm report --format json' makes one", name)
	}
	c := rep.Capture
	s := &Side{Name: name, Command: c.Command, Selection: c.Selection, Notes: c.Notes, Sampler: samplerText(c.Sampler, c.Events, c.Frequency)}
	for _, j := range c.JVMs {
		s.JVMs = append(s.JVMs, jvmText(j.PID, j.Main, j.Version))
	}
	for i := range *rep.Profiles {
		t, err := (*rep.Profiles)[i].read(c.Events)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.setNanosPerOp((*rep.Profiles)[i].Ops, c.Frequency)
		s.Trials = append(s.Trials, t)
	}
	return s, nil
}

// read takes the counts of the first event.
func (p *jsonProfile) read(events []string) (Trial, error) {
	t := Trial{Name: p.Trial, Seconds: p.Seconds}
	for _, e := range append(slices.Clone(events), slices.Sorted(maps.Keys(p.Account))...) {
		if _, ok := p.Account[e]; ok {
			t.Event, t.Samples = e, p.Account[e].Profiled
			break
		}
	}
	if p.Trial != "" && len(p.JVMs) > 1 {
		for _, j := range p.JVMs {
			t.Forks = append(t.Forks, j.Counts[t.Event])
		}
	}
	t.Slices = p.Slices[t.Event]
	for _, m := range p.Methods {
		item := Item{Source: tier(m.Source), Name: m.Name, Count: m.Counts[t.Event], Slices: m.Slices[t.Event]}
		for _, c := range m.PerJVM {
			item.Forks = append(item.Forks, c[t.Event])
		}
		t.Methods = append(t.Methods, item)
	}
	t.Methods = mergeItems(t.Methods)
	for _, n := range p.Native {
		item := nativeItem(n.Module, n.Symbol, n.Counts[t.Event])
		item.Slices = n.Slices[t.Event]
		t.Methods = append(t.Methods, item)
	}
	for _, f := range p.Frames {
		t.Frames = append(t.Frames, Item{Name: f.Method, Count: f.Counts[t.Event], Slices: f.Slices[t.Event]})
	}
	for i := range p.Regions {
		r, err := p.Regions[i].read(t.Event)
		if err != nil {
			return t, err
		}
		t.Regions = append(t.Regions, r)
	}
	t.Regions = mergeRegions(t.Regions)
	return t, nil
}

func (r *jsonRegion) read(event string) (Region, error) {
	out := Region{Source: tier(r.Source), Method: r.Method, OSR: r.OSR, CompileID: r.CompileID, Count: r.Counts[event]}
	var errs [2]error
	out.Lo, errs[0] = address(r.Lo)
	out.Hi, errs[1] = address(r.Hi)
	if err := errors.Join(errs[:]...); err != nil {
		return out, err
	}
	var lines []rawLine
	for _, l := range r.Lines {
		addr, err := address(l.Addr)
		if err != nil {
			return out, err
		}
		lines = append(lines, rawLine{addr: addr, text: l.Text, target: l.Target, comments: l.Comments,
			count: l.Counts[event], frame: frameText(l.Frames)})
	}
	out.Lines = normalise(lines)
	return out, nil
}

// address reads "0x7fdec8ed6360".
func address(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no address", text)
	}
	return n, nil
}
