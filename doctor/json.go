package doctor

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// schema is the version of the JSON format. It must be increased with every change that could break programs that read
// the JSON.
const schema = 1

type jsonReport struct {
	Schema     int       `json:"schema"`
	CanProfile bool      `json:"can_profile"`
	Sampler    string    `json:"sampler,omitempty"`
	Event      string    `json:"event,omitempty"`
	Sudo       bool      `json:"sudo,omitempty"`
	Cause      string    `json:"cause,omitempty"`
	Fix        string    `json:"mend,omitempty"`
	Checks     []Finding `json:"checks"`
}

// WriteJSON writes the report as JSON, for programs.
func WriteJSON(w io.Writer, r *Report) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // commands may contain < and &
	e.SetIndent("", "  ")
	checks := r.Checks
	if checks == nil {
		checks = []Finding{} // [] in JSON, not null
	}
	if err := e.Encode(jsonReport{schema, r.CanProfile, r.Sampler, r.Event, r.Sudo, r.Cause, r.Fix, checks}); err != nil {
		return err
	}
	_, err := w.Write(layout.EscapeJSON(text.Bytes()))
	return err
}
