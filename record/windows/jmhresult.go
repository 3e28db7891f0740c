package windows

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/jmhresult"
)

// resultFile returns the file to which JMH writes its results as JSON (-rf json -rff FILE), or "" if the command has no
// -rf json. Without -rff, JMH's file is jmh-result.json.
func resultFile(command []string) string {
	format, path := "", "jmh-result.json"
	for i, word := range command[1:] {
		option, value, inWord := strings.Cut(word, "=")
		if !inWord && i+2 < len(command) {
			value = command[i+2]
		}
		switch option {
		case "-rf", "--rf":
			format = value
		case "-rff", "--rff":
			path = value
		}
	}
	if !strings.EqualFold(format, "json") {
		return ""
	}
	return path
}

// clockGrain limits an inaccuracy of file systems: the modification time of a new file may be earlier than the wall
// clock's time, but by less than clockGrain.
const clockGrain = 2 * time.Second

// takeResults sets the trials' scores to those in JMH's file of results. These scores are exact, and have the errors
// that JMH itself has computed. The scores in JMH's progress lines are rounded. If there are no results, the note says
// why.
func takeResults(command []string, startedWallNanos int64, trials []capture.Trial) (note string) {
	path := resultFile(command)
	if path == "" || len(trials) == 0 {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || info.ModTime().UnixNano() < startedWallNanos-int64(clockGrain) {
		return "JMH wrote no results into " + path + ": scores are those of its progress lines"
	}
	results, err := jmhresult.ReadFile(path)
	if err != nil {
		return fmt.Sprintf("%v: scores are those of JMH's progress lines", err)
	}
	for i := range trials {
		t := &trials[i]
		at := slices.IndexFunc(results, func(r jmhresult.Result) bool {
			return r.Name == t.Name && (t.Score == nil || t.Score.Mode == r.Mode) || t.Score != nil && t.Score.Mode == r.Mode &&
				isOfMode(t.Name, r.Name)
		})
		if at < 0 {
			continue
		}
		r := results[at]
		if exact := (&capture.Score{Mode: r.Mode, Unit: r.Unit, Value: r.Score, Error: r.Error,
			Forks: r.Forks}); exact.Sound() {
			t.Score = exact
		}
	}
	return ""
}

// isOfMode reports whether a trial's name is the name of a result, followed by one of JMH's modes. trialNames adds the
// mode to the name if a benchmark runs in several modes.
func isOfMode(trial, result string) bool {
	rest, ok := strings.CutPrefix(trial, result+", ")
	return ok && modes[rest] != ""
}
