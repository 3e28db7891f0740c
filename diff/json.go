package diff

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// The types below, with [Row], [RegionRow], ListingLine of package asm, [Compared] and [Noise], are
// schema 1 of the JSON that diff writes. Fields may be added to schema 1; changing or removing one
// needs schema 2. Shares are numbers from 0 to 1.

type jsonDiff struct {
	Schema int         `json:"schema"`
	Gasm   string      `json:"gasm"`
	Kind   string      `json:"kind"` // "diff"; reports have no such member
	A      jsonSide    `json:"a"`
	B      jsonSide    `json:"b"`
	Notes  []string    `json:"notes"`
	Trials []jsonTrial `json:"trials"`
	// The names of trials and programs that only one side has. They are not compared.
	UnpairedA []string `json:"unpaired_a"`
	UnpairedB []string `json:"unpaired_b"`
	Gate      *Gate    `json:"gate,omitempty"` // with --fail-above
}

type jsonSide struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	JVMs    []string `json:"jvms"`
	Sampler string   `json:"sampler"`
	Notes   []string `json:"notes"`
}

type jsonTrial struct {
	A        jsonTrialSide `json:"a"`
	B        jsonTrialSide `json:"b"`
	Noise    Noise         `json:"noise"`
	Compared Compared      `json:"compared"`
	// Everything that changed, sorted by the size of the change.
	Methods []Row       `json:"methods"` // native functions too
	Frames  []Row       `json:"frames"`  // samples by innermost Java method
	Regions []RegionRow `json:"regions"`
}

type jsonTrialSide struct {
	Trial   string  `json:"trial"`
	Program string  `json:"program,omitempty"` // the main class or jar, if there is no trial
	JDK     string  `json:"jdk,omitempty"`
	Event   string  `json:"event"`
	Samples int64   `json:"samples"` // in the profile
	Seconds float64 `json:"window_seconds"`
	// NanosPerOp is the CPU time of one operation, in ns. It is left out if the number of operations is unknown.
	NanosPerOp float64 `json:"nanos_per_op,omitempty"`
	// Score is what JMH measured, if it is known.
	Score *capture.Score `json:"score,omitempty"`
	// Forks is the number of JVMs that ran the trial. It is 0 if there is only one JVM, or if the
	// JVMs may have done different work.
	Forks int `json:"forks"`
}

// WriteJSON writes everything in r. gasm is the version of gasm that made the comparison.
func (r *Result) WriteJSON(w io.Writer, gasm string) error {
	out := jsonDiff{Schema: 1, Gasm: gasm, Kind: "diff", A: newJSONSide(r.A), B: newJSONSide(r.B), Notes: notNil(r.Notes),
		Trials: []jsonTrial{}, UnpairedA: notNil(r.UnpairedA), UnpairedB: notNil(r.UnpairedB), Gate: r.Gate}
	for i := range r.Trials {
		c := &r.Trials[i]
		out.Trials = append(out.Trials, jsonTrial{A: newJSONTrialSide(c.A), B: newJSONTrialSide(c.B), Noise: c.Noise,
			Compared: c.Compared, Methods: c.Methods, Frames: c.Frames, Regions: c.Regions})
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // otherwise the < and > in names would become \u003c and \u003e
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := w.Write(layout.EscapeJSON(text.Bytes()))
	return err
}

func newJSONSide(s *Side) jsonSide {
	return jsonSide{s.Name, notNil(s.Command), notNil(s.JVMs), s.Sampler, notNil(s.Notes)}
}

func newJSONTrialSide(t *TrialSide) jsonTrialSide {
	return jsonTrialSide{t.Name, t.Program, t.JDK, t.Event, t.Samples, t.Seconds, t.NanosPerOp, t.Score, len(t.Forks)}
}

// notNil returns a copy of s that is never nil, because nil would become null in JSON instead of
// [].
func notNil(s []string) []string { return append([]string{}, s...) }
