package doctor

import (
	"encoding/json"
	"io"
)

// schema is the version of the JSON. It changes when programs that read the older one
// would no longer work.
const schema = 1

type jsonReport struct {
	Schema     int       `json:"schema"`
	CanProfile bool      `json:"can_profile"`
	Sampler    string    `json:"sampler,omitempty"`
	Event      string    `json:"event,omitempty"`
	Sudo       bool      `json:"sudo,omitempty"`
	Cause      string    `json:"cause,omitempty"`
	Mend       string    `json:"mend,omitempty"`
	Checks     []Finding `json:"checks"`
}

// WriteJSON writes the report for programs.
func WriteJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // commands have < and &
	e.SetIndent("", "  ")
	checks := r.Checks
	if checks == nil {
		checks = []Finding{} // [] in JSON, not null
	}
	return e.Encode(jsonReport{schema, r.CanProfile, r.Sampler, r.Event, r.Sudo, r.Cause, r.Mend, checks})
}
