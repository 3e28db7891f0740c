package diff

import (
	"encoding/json"
	"io"
)

// The types below, with [Row], [RegionRow], [ListingLine] and [Noise], are
// schema 1 of the JSON that diff writes. Fields may be added to it; to change
// or drop one takes schema 2. Shares are 0 to 1.

type jsonDiff struct {
	Schema int    `json:"schema"`
	Gasm   string `json:"gasm"`
	// Kind tells this from a report.
	Kind   string      `json:"kind"` // "diff"
	A      jsonSide    `json:"a"`
	B      jsonSide    `json:"b"`
	Notes  []string    `json:"notes"`
	Trials []jsonTrial `json:"trials"`
	// Trials that only one side has are not compared.
	UnpairedA []string `json:"unpaired_a"`
	UnpairedB []string `json:"unpaired_b"`
}

type jsonSide struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	JVMs    []string `json:"jvms"`
	Sampler string   `json:"sampler"`
	Notes   []string `json:"notes"`
}

type jsonTrial struct {
	A jsonTrialSide `json:"a"`
	B jsonTrialSide `json:"b"`
	// Noise says what counts as a change.
	Noise    Noise    `json:"noise"`
	Compared Compared `json:"compared"`
	// What changed, most first; all else that was compared did not.
	Methods []Row       `json:"methods"` // native functions too
	Frames  []Row       `json:"frames"`  // samples by innermost Java method
	Regions []RegionRow `json:"regions"`
}

type jsonTrialSide struct {
	Trial   string  `json:"trial"`
	Event   string  `json:"event"`
	Samples int64   `json:"samples"` // in the profile
	Seconds float64 `json:"window_seconds"`
	// NanosPerOp is the CPU time of one operation, where JMH's scores tell.
	NanosPerOp float64 `json:"nanos_per_op,omitempty"`
	Forks      int     `json:"forks"` // JVMs that repeat the trial; 0 when there is one or it is unknown
}

// WriteJSON writes all that r holds; gasm is the version of the program.
func (r *Result) WriteJSON(w io.Writer, gasm string) error {
	out := jsonDiff{Schema: 1, Gasm: gasm, Kind: "diff", A: newJSONSide(r.A), B: newJSONSide(r.B), Notes: list(r.Notes),
		Trials: []jsonTrial{}, UnpairedA: list(r.UnpairedA), UnpairedB: list(r.UnpairedB)}
	for i := range r.Trials {
		c := &r.Trials[i]
		out.Trials = append(out.Trials, jsonTrial{A: newJSONTrialSide(c.A), B: newJSONTrialSide(c.B), Noise: c.Noise,
			Compared: c.Compared, Methods: c.Methods, Frames: c.Frames, Regions: c.Regions})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // names have < and >
	enc.SetIndent("", " ")
	return enc.Encode(out)
}

func newJSONSide(s *Side) jsonSide {
	return jsonSide{s.Name, list(s.Command), list(s.JVMs), s.Sampler, list(s.Notes)}
}

func newJSONTrialSide(t *Trial) jsonTrialSide {
	return jsonTrialSide{t.Name, t.Event, t.Samples, t.Seconds, t.NanosPerOp, len(t.Forks)}
}

// list is s, and [] rather than null when it is empty.
func list(s []string) []string { return append([]string{}, s...) }
