package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// events is output of go test -json for two packages. One has a test that logs before it is skipped, a skipped subtest
// without a reason, and a test that fails after another test was skipped. The other package has no tests.
var events = strings.ReplaceAll(`{"Action":"start","Package":"gasm/cmd/gasm"}
{"Action":"run","Package":"gasm/cmd/gasm","Test":"TestA"}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestA","Output":"    a_test.go:3: tried\n"}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestA","Output":"    need.go:30: perf can't sample:\n"}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestA","Output":"        Access  is limited.\n"}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"gasm/cmd/gasm","Test":"TestA","Elapsed":0}
{"Action":"run","Package":"gasm/cmd/gasm","Test":"TestB"}
{"Action":"run","Package":"gasm/cmd/gasm","Test":"TestB/sub"}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestB/sub","Output":"--- SKIP: TestB/sub (0.00s)\n"}
{"Action":"skip","Package":"gasm/cmd/gasm","Test":"TestB/sub","Elapsed":0}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestB","Output":"--- PASS: TestB (0.00s)\n"}
{"Action":"pass","Package":"gasm/cmd/gasm","Test":"TestB","Elapsed":0}
{"Action":"output","Package":"gasm/cmd/gasm","Test":"TestC","Output":"    a_test.go:5: x\n"}
{"Action":"fail","Package":"gasm/cmd/gasm","Test":"TestC","Elapsed":0}
{"Action":"fail","Package":"gasm/cmd/gasm","Elapsed":0.004}
{"Action":"skip","Package":"gasm/report/schema","Elapsed":0}
`, `"Package":"gasm/`, `"Package":"`+modulePath+`/`)

func TestReadSkips(t *testing.T) {
	tests, skips, err := readSkips(strings.NewReader(events))
	require.NoError(t, err)
	assert.Equal(t, 4, tests)
	assert.Equal(t, []skip{
		{"cmd/gasm.TestA", "perf can't sample: Access is limited."},
		{"cmd/gasm.TestB/sub", "no reason given"},
	}, skips)

	withoutRaceDetector := strings.ReplaceAll(`{"Action":"run","Package":"gasm/cmd/gasm","Test":"TestA"}
{"Action":"pass","Package":"gasm/cmd/gasm","Test":"TestA","Elapsed":1}
`, `"Package":"gasm/`, `"Package":"`+modulePath+`/`)
	for _, both := range []string{events + withoutRaceDetector, withoutRaceDetector + events} {
		tests, skips, err = readSkips(strings.NewReader(both))
		require.NoError(t, err)
		assert.Equal(t, 4, tests)
		assert.Equal(t, []skip{{"cmd/gasm.TestB/sub", "no reason given"}}, skips, "the other one was skipped in one run only")
	}

	_, _, err = readSkips(strings.NewReader("FAIL\n"))
	assert.Error(t, err)
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	all := write("events", events)
	require.NoError(t, run(all, ""))
	require.ErrorContains(t, run(write("nothing", ""), ""), "has no test results")

	for name, test := range map[string]struct{ expected, fails string }{
		"both":           {"# why\n\ncmd/gasm\\.TestA  perf can't .*\ncmd/gasm\\.TestB/sub\tno reason given\n", ""},
		"any test":       {".* perf can't .*\n.* no reason given", ""},
		"one":            {"cmd/gasm\\.TestA perf can't .*\n", "1 skips are not in"},
		"another reason": {".*TestA perf\n.*TestB/sub .*\n", "1 skips are not in"},
		"part of a name": {"TestA .*\nTestB/sub .*\n", "2 skips are not in"},
		"none":           {"", "2 skips are not in"},
		"no reason":      {"cmd/gasm.TestA\n", "line 1 has no reason"},
		"no expression":  {".* (\n", "line 1: error parsing regexp"},
	} {
		err := run(all, write("expected", test.expected))
		if test.fails == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, test.fails, name)
		}
	}
}

// TestExpectedSkips checks that the list that CI uses can be read, and is not empty.
func TestExpectedSkips(t *testing.T) {
	text, err := os.ReadFile("../../.ci/expected-skips.txt")
	require.NoError(t, err)
	list, err := parseExpected(string(text))
	require.NoError(t, err)
	assert.NotEmpty(t, list)
}
