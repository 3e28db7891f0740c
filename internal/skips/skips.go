package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A skip is one test or subtest that was skipped.
type skip struct {
	test   string // for example "sampler.TestPerf/frequency"
	reason string // for example "no perf on PATH: scripts/setup.sh installs it"
}

// modulePath is the path of gasm's module. It is removed from the names of packages.
const modulePath = "github.com/gasm-profiler/gasm"

// An event is a line of go test -json (go doc test2json):
//
//	{"Action":"output","Package":"p","Test":"TestA","Output":"    need.go:18: no perf on PATH\n"}
//	{"Action":"skip","Package":"p","Test":"TestA","Elapsed":0}
type event struct {
	Action, Package, Test, Output string
}

// readSkips returns the number of tests that ended, and the tests that were skipped, in the order in which they ended.
// Some tests run twice, with the race detector and without it. Such a test counts as skipped only if it was skipped
// both times.
func readSkips(r io.Reader) (tests int, skips []skip, err error) {
	output := map[event][]string{} // by test: the key has only the fields Package and Test
	ended, ran := map[event]bool{}, map[string]bool{}
	for d := json.NewDecoder(r); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			skips = slices.DeleteFunc(skips, func(s skip) bool { return ran[s.test] })
			return len(ended), skips, nil
		} else if err != nil {
			return 0, nil, err
		}
		if e.Test == "" { // an event of a whole package, for example the skip of a package without test files
			continue
		}
		key := event{Package: e.Package, Test: e.Test}
		switch e.Action {
		case "output":
			output[key] = append(output[key], e.Output)
			continue
		case "pass", "fail":
			ended[key], ran[testName(e)] = true, true
		case "skip":
			ended[key] = true
			skips = append(skips, skip{testName(e), reason(output[key])})
		default: // run, pause, cont
			continue
		}
		delete(output, key)
	}
}

// testName returns the folder of the test's package and the test's name: sampler.TestPerf.
func testName(e event) string {
	folder := strings.TrimPrefix(strings.TrimPrefix(e.Package, modulePath), "/")
	if folder == "" {
		return e.Test
	}
	return folder + "." + e.Test
}

// logged matches the first line of a message that a test logs: "    need.go:18: no perf on PATH".
var logged = regexp.MustCompile(`^\s+[^\s:]+\.go:\d+: (.*)`)

// reason returns the last message that a test logged, on one line. In a test that was skipped, this is the argument of
// Skip.
func reason(output []string) string {
	var words []string
	for _, line := range output {
		if m := logged.FindStringSubmatch(line); m != nil {
			words = strings.Fields(m[1])
		} else if len(words) > 0 && strings.HasPrefix(line, "        ") { // the message goes on
			words = append(words, strings.Fields(line)...)
		}
	}
	if len(words) == 0 {
		return "no reason given"
	}
	return strings.Join(words, " ")
}

// expectations are the lines of a file of expected skips.
type expectations []struct{ test, reason *regexp.Regexp }

func parseExpected(text string) (expectations, error) {
	var all expectations
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		space := strings.IndexAny(line, " \t")
		if space < 0 {
			return nil, fmt.Errorf("line %d has no reason after the test's name: %s", i+1, line)
		}
		test, err := regexp.Compile("^(?:" + line[:space] + ")$")
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		reason, err := regexp.Compile("^(?:" + strings.TrimSpace(line[space:]) + ")$")
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, struct{ test, reason *regexp.Regexp }{test, reason})
	}
	return all, nil
}

func (all expectations) has(s skip) bool {
	for _, e := range all {
		if e.test.MatchString(s.test) && e.reason.MatchString(s.reason) {
			return true
		}
	}
	return false
}
