package capture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// A Description is capture.json: what the samples and the logs do not say.
type Description struct {
	Schema    int      `json:"schema"` // 1
	Gasm      string   `json:"gasm"`   // the version of gasm that recorded it
	Command   []string `json:"command"`
	Host      Host     `json:"host"`
	Sampler   string   `json:"sampler"`   // "native", "perf", "dtrace", "xctrace"
	Events    []string `json:"events"`    // as gasm asked the sampler for them in the end: "cycles:P"
	Frequency int      `json:"frequency"` // of each event per second and CPU; 0 when unknown
	// Lost is how many samples the sampler dropped, where SamplesFile does not
	// tell.
	Lost int64 `json:"lost,omitempty"`
	// Attached tells that the JVMs ran before gasm did. Command is empty then.
	Attached bool `json:"attached,omitempty"`
	// Code says how the code in the logs was had: CodePrinted, CodeCopied or CodeMixed. It is
	// "" where nobody knows.
	Code string `json:"code,omitempty"`
	// Selection says which code HotSpot printed, as flags of `gasm profile`:
	// "--skip-c1". It is "" where all code was printed.
	Selection string `json:"selection,omitempty"`
	Notes     Notes  `json:"notes,omitempty"`
	// Clocks are pairs that were read at the command's start and at its end.
	Clocks   []Clock `json:"clocks"`
	JVMs     []JVM   `json:"jvms"`
	Trials   []Trial `json:"trials"`
	ExitCode int     `json:"exit_code"` // the command's
}

// How code was had. Copied code has all instructions and the same comments, in the form in
// which HotSpot prints code.
const (
	CodePrinted = "printed" // by HotSpot
	CodeCopied  = "copied"  // by gasm, out of the JVMs' memory
	CodeMixed   = "mixed"   // some of it in either way
)

// A Host is the machine that a capture was made on.
type Host struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"` // its release, as uname -r prints it
	CPUs   int    `json:"cpus"`
}

// Notes are sentences for the reader of the report: what could not be had, what is
// estimated, and what would make a better capture.
type Notes []string

// Add appends notes. It leaves out empty ones, and those that are there already.
func (n *Notes) Add(notes ...string) {
	for _, note := range notes {
		if note != "" && !slices.Contains(*n, note) {
			*n = append(*n, note)
		}
	}
}

// Write writes capture.json into a folder. Half of one, of a disk that is full, would keep the rest from being read: it is
// removed.
func (d *Description) Write(dir string) error {
	text, err := json.MarshalIndent(d, "", " ")
	if err == nil {
		path := filepath.Join(dir, DescriptionFile)
		if err = os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return fmt.Errorf("writing the capture's description: %w", err)
	}
	return nil
}

// maxLost is more samples than a machine of a thousand CPUs takes in a week, at 1001 Hz.
const maxLost = 1 << 40

// ReadDescription reads capture.json from a folder. The error of a folder without
// one is fs.ErrNotExist.
func ReadDescription(dir string) (*Description, error) {
	path := filepath.Join(dir, DescriptionFile)
	text, err := regular.ReadFile(path, maxDescription)
	if err != nil {
		return nil, fmt.Errorf("reading the capture's description: %w", err)
	}
	d, err := parseDescription(text)
	if err != nil {
		return nil, fmt.Errorf("%s: not a capture's description: %w", path, err)
	}
	if d.Schema == 0 {
		return nil, fmt.Errorf("%s: not a capture's description: no schema", path)
	}
	if d.Schema != 1 {
		return nil, fmt.Errorf("%s: has schema %d, this gasm reads schema 1: use the gasm that made it (%s)", path, d.Schema, d.Gasm)
	}
	if d.Lost < 0 || d.Lost > maxLost {
		d.Notes.Add(fmt.Sprintf("%s is damaged: it says that the sampler lost %d samples, which can't be, so none are counted as lost", DescriptionFile, d.Lost))
		d.Lost = 0
	}
	return d, nil
}

// SamplerText is "perf, cycles and instructions at 1001 Hz", with what is known.
func (d *Description) SamplerText() string {
	text := d.Sampler
	if len(d.Events) > 0 {
		text += ", " + strings.Join(d.Events, " and ")
	}
	if d.Frequency > 0 {
		text += fmt.Sprintf(" at %d Hz", d.Frequency)
	}
	return strings.TrimPrefix(text, ", ")
}
