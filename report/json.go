package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

// The types below are schema 1 of the JSON report, in its order. testdata/schema1.json says the same to machines. Fields
// may be added to the schema; to change or drop one takes schema 2.

type jsonReport struct {
	Schema   int           `json:"schema"`
	Gasm     string        `json:"gasm"`
	Capture  jsonCapture   `json:"capture"`
	Profiles []jsonProfile `json:"profiles"`
}

type jsonCapture struct {
	Command   []string  `json:"command"`
	Sampler   string    `json:"sampler"`
	Events    []string  `json:"events"`
	Frequency int       `json:"frequency"`
	JVMs      []jsonJVM `json:"jvms"`
	Selection string    `json:"selection,omitempty"`
	Notes     []string  `json:"notes"`
}

type jsonJVM struct {
	PID     int    `json:"pid"`
	Main    string `json:"main"`
	Version string `json:"version"`
	Fork    int    `json:"fork,omitempty"`
}

type jsonProfile struct {
	Trial         string           `json:"trial"`
	PIDs          []int            `json:"pids"`
	WindowSeconds float64          `json:"window_seconds"`
	Operations    float64          `json:"operations,omitempty"` // in the window, where JMH's scores tell
	Account       perEvent         `json:"account"`
	JVMs          []jsonJVMShare   `json:"jvms"`
	Slices        *perEvent        `json:"slices,omitempty"` // samples over time, see newSlices
	Regions       []jsonRegion     `json:"regions"`
	Methods       []jsonMethod     `json:"methods"`
	Frames        []jsonFrames     `json:"frames"`
	Native        []jsonNative     `json:"native"`
	Sources       []jsonSource     `json:"sources"`
	Threads       []jsonThreadKind `json:"threads"`
	Warnings      []string         `json:"warnings"`
}

type jsonAccount struct {
	Total         int64 `json:"total"`
	OutsideWindow int64 `json:"outside_window"`
	OtherProcess  int64 `json:"other_process"`
	Lost          int64 `json:"lost"`
	Profiled      int64 `json:"profiled"`
	Compiled      int64 `json:"compiled"`
	Stub          int64 `json:"stub"`
	Interpreter   int64 `json:"interpreter"`
	Native        int64 `json:"native"`
	Kernel        int64 `json:"kernel"`
	Unresolved    int64 `json:"unresolved"`
}

type jsonRegion struct {
	Source    string     `json:"source"`
	Method    string     `json:"method"`
	CompileID int        `json:"compile_id"`
	OSR       bool       `json:"osr"`
	PIDs      []int      `json:"pids"`
	Lo        address    `json:"lo"`
	Hi        address    `json:"hi"`
	Counts    perEvent   `json:"counts"`
	Lines     []jsonLine `json:"lines,omitempty"`
	TooBig    int        `json:"too_big,omitempty"` // lines, where there are too many to be listed
}

type jsonLine struct {
	Addr     address     `json:"addr"`
	Section  string      `json:"section,omitempty"`
	Text     string      `json:"text"`
	Target   string      `json:"target,omitempty"` // name of the code that it calls or jumps to
	Counts   perEvent    `json:"counts"`
	Frames   []jsonFrame `json:"frames"`
	Comments []string    `json:"comments"`
}

type jsonFrame struct {
	Method string `json:"method"`
	BCI    int    `json:"bci"`
	Line   int    `json:"line"`
}

type jsonMethod struct {
	Source    string   `json:"source"`
	Name      string   `json:"name"`
	CompileID int      `json:"compile_id"`
	Blobs     int      `json:"blobs"`
	Counts    perEvent `json:"counts"`
	// PerJVM are counts in the order of the profile's "jvms", where there are
	// several.
	PerJVM []perEvent `json:"per_jvm,omitempty"`
	Slices *perEvent  `json:"slices,omitempty"`
}

// jsonJVMShare is what one of the JVMs has of the profile.
type jsonJVMShare struct {
	PID    int      `json:"pid"`
	Counts perEvent `json:"counts"`
	Native perEvent `json:"native"` // outside the code cache, kernel included
}

type jsonFrames struct {
	Method string          `json:"method"`
	Counts perEvent        `json:"counts"`           // the innermost method
	Total  perEvent        `json:"total"`            // anywhere in the inlining chain
	Slices *perEvent       `json:"slices,omitempty"` // of counts
	Lines  []jsonLineTotal `json:"lines"`
}

type jsonLineTotal struct {
	Line   int      `json:"line"`
	Counts perEvent `json:"counts"`
}

type jsonNative struct {
	Module string    `json:"module"`
	Symbol string    `json:"symbol"`
	Counts perEvent  `json:"counts"`
	Slices *perEvent `json:"slices,omitempty"`
}

// jsonThreadKind sums up threads that do the same sort of work.
type jsonThreadKind struct {
	Kind    string       `json:"kind"`
	Counts  perEvent     `json:"counts"`
	Threads []jsonThread `json:"threads"`
}

type jsonThread struct {
	Name   string   `json:"name"`
	Counts perEvent `json:"counts"`
}

type jsonSource struct {
	Source string   `json:"source"`
	Counts perEvent `json:"counts"`
}

// An address is written as a string: JSON numbers lose the last digits of 64 bits in many readers.
type address uint64

func (a address) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(a)), nil }

// perEvent is an object with one value per event, in the order of the events.
type perEvent struct {
	events []string
	value  func(e int) any
}

func (p perEvent) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for e, name := range p.events {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(p.value(e))
		if err != nil {
			return nil, err
		}
		if e > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, key...), ':'), value...)
	}
	return append(text, '}'), nil
}

// WriteJSON writes the JSON report of ps, one profile per trial.
func WriteJSON(w io.Writer, h Header, ps []profile.Profile, _ Options) error {
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false) // names have < and >
	err := enc.Encode(jsonReport{
		Schema: 1,
		Gasm:   h.GasmVersion,
		Capture: jsonCapture{
			Command: list(h.Command), Sampler: h.Sampler, Events: list(h.Events), Frequency: h.Frequency,
			JVMs: each(h.JVMs, func(j *JVM) jsonJVM { return jsonJVM(*j) }), Selection: h.Selection, Notes: list(h.Notes),
		},
		Profiles: each(ps, newJSONProfile),
	})
	if err != nil {
		return err
	}
	text := layoutJSON(nil, bytes.TrimSpace(compact.Bytes()), 0)
	_, err = w.Write(append(text, '\n'))
	return err
}

// list is s, and [] rather than null when it is empty.
func list[T any](s []T) []T { return append([]T{}, s...) }

// each converts a list; an empty one becomes [].
func each[T, U any](s []T, convert func(*T) U) []U {
	out := make([]U, 0, len(s))
	for i := range s {
		out = append(out, convert(&s[i]))
	}
	return out
}

func newJSONProfile(p *profile.Profile) jsonProfile {
	counts := func(c profile.Counts) perEvent {
		return perEvent{p.Events, func(e int) any { return c[e] }}
	}
	over := func(s []profile.Counts) *perEvent { return newSlices(p.Events, s) }
	return jsonProfile{
		Trial: p.Trial, PIDs: list(p.PIDs), WindowSeconds: p.WindowSeconds, Operations: p.Operations,
		Account: perEvent{p.Events, func(e int) any { return newJSONAccount(&p.Accounts[e]) }},
		JVMs: each(p.Shares, func(s *profile.JVMShare) jsonJVMShare {
			return jsonJVMShare{s.PID, counts(s.Counts), counts(s.Native)}
		}),
		Slices: over(p.Slices),
		Regions: each(p.Regions, func(r *profile.Region) jsonRegion {
			return jsonRegion{
				Source: r.Source, Method: r.Method, CompileID: r.CompileID, OSR: r.OSR, PIDs: list(r.PIDs),
				Lo: address(r.Lo), Hi: address(r.Hi), Counts: counts(r.Counts), TooBig: r.TooBig,
				Lines: each(r.Lines, func(l *profile.Line) jsonLine { return newJSONLine(l, counts(l.Counts)) }),
			}
		}),
		Methods: each(p.Methods, func(m *profile.Method) jsonMethod {
			out := jsonMethod{Source: m.Source, Name: m.Name, CompileID: m.CompileID, Blobs: m.Blobs, Counts: counts(m.Counts), Slices: over(m.Slices)}
			if len(m.PerJVM) > 1 {
				out.PerJVM = each(m.PerJVM, func(c *profile.Counts) perEvent { return counts(*c) })
			}
			return out
		}),
		Frames: each(p.Frames, func(f *profile.FrameTotal) jsonFrames {
			return jsonFrames{f.Method, counts(f.Counts), counts(f.Total), over(f.Slices), each(f.Lines, func(l *profile.LineTotal) jsonLineTotal {
				return jsonLineTotal{l.Line, counts(l.Counts)}
			})}
		}),
		Native: each(p.Native, func(n *profile.NativeFunction) jsonNative {
			return jsonNative{n.Module, n.Symbol, counts(n.Counts), over(n.Slices)}
		}),
		Sources: each(p.Sources, func(s *profile.Source) jsonSource {
			return jsonSource{s.Source, counts(s.Counts)}
		}),
		Threads: each(p.Threads, func(k *profile.ThreadKind) jsonThreadKind {
			return jsonThreadKind{k.Kind, counts(k.Counts), each(k.Threads, func(t *profile.Thread) jsonThread {
				return jsonThread{t.Name, counts(t.Counts)}
			})}
		}),
		Warnings: list(p.Warnings),
	}
}

// newSlices gives, per event, a list of samples over time: [profile.SlicesPerJVM]
// slices of each JVM in the order of the profile's pids. Nil where a profile has
// none.
func newSlices(events []string, s []profile.Counts) *perEvent {
	if s == nil {
		return nil
	}
	return &perEvent{events, func(e int) any {
		return each(s, func(c *profile.Counts) int64 { return (*c)[e] })
	}}
}

func newJSONLine(l *profile.Line, counts perEvent) jsonLine {
	return jsonLine{
		Addr: address(l.Lo), Section: l.Section, Text: l.Text, Target: l.TargetName, Counts: counts,
		Frames:   each(l.Frames, func(f *printassembly.Frame) jsonFrame { return jsonFrame(*f) }),
		Comments: list(l.Comments),
	}
}

func newJSONAccount(a *profile.Account) jsonAccount {
	return jsonAccount{
		Total: a.Total, OutsideWindow: a.OutsideWindow, OtherProcess: a.OtherProcess, Lost: a.Lost, Profiled: a.Profiled,
		Compiled: a.Compiled, Stub: a.Stub, Interpreter: a.Interpreter, Native: a.Native, Kernel: a.Kernel,
		Unresolved: a.Unresolved,
	}
}
