package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Limits of capture.json. No real capture comes near them. They are needed because a few bytes of JSON can become a
// large value in memory, so a small file could use up all memory. If a list is longer than its limit, gasm reads only
// its beginning, and a note says so.
const (
	maxDescription = 64 << 20 // bytes of capture.json
	maxJVMs        = 100_000
	maxTrials      = 5_000
	maxWindows     = 1_000_000 // in all trials together
	maxWords       = 1_000_000 // in the command; Linux allows 6 MB of arguments (bprm_stack_limits)
	maxNotes       = 1_000
	maxClocks      = 1_000
)

// MaxEvents is the maximum number of events (such as cycles) that can be sampled for one capture. It is small because
// the tables of a report have columns for each event.
const MaxEvents = 16

// A listedDescription is a capture.json whose lists are not decoded yet.
type listedDescription struct {
	Description
	Command json.RawMessage `json:"command"`
	Events  json.RawMessage `json:"events"`
	Notes   json.RawMessage `json:"notes"`
	Clocks  json.RawMessage `json:"clocks"`
	JVMs    json.RawMessage `json:"jvms"`
	Trials  json.RawMessage `json:"trials"`
}

// A listedTrial is a [Trial] whose windows and score are not decoded yet.
type listedTrial struct {
	Trial
	Windows json.RawMessage `json:"windows"`
	Score   json.RawMessage `json:"score"`
}

// maxScore is the largest size of a score, in bytes. A larger score is ignored.
const maxScore = 1 << 20

// readScore decodes a score. It returns nil if the trial has no score, or if the score is too large, can't be decoded,
// or has impossible values (see Score.Sound).
func readScore(text json.RawMessage) *Score {
	var s Score
	if len(text) == 0 || len(text) > maxScore || json.Unmarshal(text, &s) != nil || !s.Sound() {
		return nil
	}
	return &s
}

// parseDescription decodes a capture.json. If a list is longer than its limit, it takes only the beginning of the list,
// and adds a note that says so.
func parseDescription(text []byte) (*Description, error) {
	var file listedDescription
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	d := &file.Description
	var trials []listedTrial
	exceeded := map[string]int{} // the limits of lists that were too long, by the name of the list
	err := errors.Join(
		readList(file.Command, "words of the command", maxWords, &d.Command, exceeded),
		readList(file.Events, "events", MaxEvents, &d.Events, exceeded),
		readList(file.Notes, "notes", maxNotes, (*[]string)(&d.Notes), exceeded),
		readList(file.Clocks, "clocks", maxClocks, &d.Clocks, exceeded),
		readList(file.JVMs, "JVMs", maxJVMs, &d.JVMs, exceeded),
		readList(file.Trials, "trials", maxTrials, &trials, exceeded))
	if err != nil {
		return nil, err
	}
	if trials != nil {
		d.Trials = make([]Trial, len(trials))
	}
	left := maxWindows
	for i, t := range trials {
		d.Trials[i] = t.Trial
		d.Trials[i].Score = readScore(t.Score)
		if err := readList(t.Windows, "windows", left, &d.Trials[i].Windows, exceeded); err != nil {
			return nil, err
		}
		left -= len(d.Trials[i].Windows)
	}
	for _, what := range []string{"words of the command", "events", "notes", "clocks", "JVMs", "trials", "windows"} {
		if limit, ok := exceeded[what]; ok {
			if what == "events" { // an incomplete list would be wrong; each sample has the name of its event anyway
				d.Events = nil
			}
			d.Notes.Add(fmt.Sprintf("%s is damaged: it has more than %d %s; the others are left out", DescriptionFile, limit,
				what))
		}
	}
	return d, nil
}

// readList decodes a JSON list. If the list has more elements than the limit, it decodes only the first ones, and sets
// exceeded[what] to the limit.
func readList[T any](text json.RawMessage, what string, limit int, list *[]T, exceeded map[string]int) error {
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	elements := json.NewDecoder(bytes.NewReader(text))
	if start, err := elements.Token(); err != nil || start != json.Delim('[') {
		return fmt.Errorf("its %s are not a list", what)
	}
	*list = []T{}
	for elements.More() {
		if len(*list) == limit {
			exceeded[what] = limit
			break
		}
		var element T
		if err := elements.Decode(&element); err != nil {
			return err
		}
		*list = append(*list, element)
	}
	*list = slices.Clip(*list)
	return nil
}

// distinctJVMs returns the JVMs that make sense. It leaves out JVMs without a valid process id, JVMs that are listed
// twice, and JVMs that have the same log as another one. The note says what was left out. It is "" if nothing was left
// out.
func distinctJVMs(jvms []JVM) (distinct []JVM, note string) {
	pids, logs := map[int]bool{}, map[string]bool{}
	var first string
	for _, j := range jvms {
		problem := ""
		switch {
		case j.PID <= 0:
			problem = fmt.Sprintf("a JVM has the process id %d", j.PID)
		case pids[j.PID]:
			problem = fmt.Sprintf("JVM %d is listed twice", j.PID)
		case j.LogFile != "" && logs[j.LogFile]:
			problem = fmt.Sprintf("JVM %d has the log of another JVM, %s", j.PID, j.LogFile)
		default:
			distinct = append(distinct, j)
			pids[j.PID], logs[j.LogFile] = true, true
		}
		if first == "" {
			first = problem
		}
	}
	switch n := len(jvms) - len(distinct); n {
	case 0:
	case 1:
		note = fmt.Sprintf("%s is damaged: %s; it is left out", DescriptionFile, first)
	default:
		note = fmt.Sprintf("%s is damaged: %s; %d impossible JVMs are left out", DescriptionFile, first, n)
	}
	return distinct, note
}
