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

// A Description is the content of capture.json. It has everything about a capture except the samples and the logs.
type Description struct {
	Schema    int      `json:"schema"` // 1, or 2 if the samples have call stacks
	Gasm      string   `json:"gasm"`   // the version of gasm that made the capture
	Command   []string `json:"command"`
	Host      Host     `json:"host"`
	Sampler   string   `json:"sampler"`   // "native", "perf", "dtrace", "xctrace"
	Events    []string `json:"events"`    // the events that were sampled: "cycles:P"
	Frequency int      `json:"frequency"` // samples of each event per second and CPU; 0 if unknown
	// Lost is the number of samples that the sampler dropped. It is 0 if SamplesFile itself says how many were lost.
	Lost int64 `json:"lost,omitempty"`
	// Attached is true if gasm was attached to JVMs that were already running. Command is empty then.
	Attached bool `json:"attached,omitempty"`
	// Code says how the machine code in the logs was obtained: CodePrinted, CodeCopied or CodeMixed. It is "" if that
	// is unknown.
	Code string `json:"code,omitempty"`
	// Stacks is the version of the format of the call stacks in StacksFile: StacksVersion or ChainsVersion. It is 0 if
	// the samples have no call stacks. Write sets Schema to 2 if there are stacks: the first release of gasm can't read
	// such samples, and refuses the schema.
	Stacks int `json:"stacks,omitempty"`
	// Selection has the flags of `gasm profile` that made HotSpot print only some of its code, for example "--skip-c1".
	// It is "" if HotSpot printed all code.
	Selection string `json:"selection,omitempty"`
	Notes     Notes  `json:"notes,omitempty"`
	// Clocks were read at the command's start and at its end. With them, times can be converted between the samples'
	// clock and the wall clock.
	Clocks   []Clock `json:"clocks"`
	JVMs     []JVM   `json:"jvms"`
	Trials   []Trial `json:"trials"`
	ExitCode int     `json:"exit_code"` // exit code of the command
}

// Values of Description.Code. Copied code has the same instructions and comments as printed code, and gasm writes it in
// HotSpot's format.
const (
	CodePrinted = "printed" // by HotSpot
	CodeCopied  = "copied"  // by gasm, from the JVMs' memory
	CodeMixed   = "mixed"   // some of it was printed, and some copied
)

// A Host is the machine that a capture was made on.
type Host struct {
	Name   string `json:"name,omitempty"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"` // its release, as uname -r prints it
	CPUs   int    `json:"cpus"`
}

// Notes are sentences for the reader of the report: what could not be recorded, what is estimated, and what would make
// a better capture.
type Notes []string

// Add appends notes. It leaves out empty notes, and notes that n already has.
func (n *Notes) Add(notes ...string) {
	for _, note := range notes {
		if note != "" && !slices.Contains(*n, note) {
			*n = append(*n, note)
		}
	}
}

// Write writes capture.json into a folder. If the disk is full, it removes the incomplete file again, because Open
// would refuse a capture whose capture.json can't be decoded.
func (d *Description) Write(dir string) error {
	if d.Stacks > 0 {
		d.Schema = stacksSchema
	}
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

// stacksSchema is the schema of a capture.json whose samples have call stacks.
const stacksSchema = 2

// maxLost is the largest value of Description.Lost that gasm believes. Even with a thousand CPUs and 1001 samples per
// second on each, it would take more than a week to lose that many samples. If the number is higher, the file must be
// damaged: the number is replaced with 0, and a note says so.
const maxLost = 1 << 40

// ReadDescription reads capture.json from a folder. The error is fs.ErrNotExist if the folder has none.
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
	if d.Schema != 1 && d.Schema != stacksSchema {
		return nil, fmt.Errorf("%s: has schema %d, but this gasm reads schemas 1 and %d: use the gasm that made it (%s)",
			path, d.Schema, stacksSchema, d.Gasm)
	}
	if d.Stacks < 0 || d.Stacks > ChainsVersion {
		return nil, fmt.Errorf("%s: its samples have call stacks of version %d, but this gasm reads versions up to %d: use the gasm that made it (%s)", path, d.Stacks, ChainsVersion, d.Gasm)
	}
	if d.Lost < 0 || d.Lost > maxLost {
		d.Notes.Add(fmt.Sprintf("%s is damaged: it says that the sampler lost %d samples, which is impossible; none are counted as lost", DescriptionFile, d.Lost))
		d.Lost = 0
	}
	return d, nil
}

// SamplerText returns the sampler, its events and its frequency in words: "perf, cycles and instructions at 1001 Hz".
// It leaves out what is unknown.
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
