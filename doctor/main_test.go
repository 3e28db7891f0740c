package doctor

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// helperEnv is the environment variable that names a helper. If it is set, the test binary runs no tests, but acts as
// that helper, a program that a test needs.
const helperEnv = "GASM_DOCTOR_HELPER"

var helpers = map[string]func(args []string) int{"check": helpCheck}

func TestMain(m *testing.M) {
	if helper := helpers[os.Getenv(helperEnv)]; helper != nil {
		os.Exit(helper(os.Args[1:]))
	}
	gasmtest.ProtectTmp()
	os.Exit(m.Run())
}

// helpCheck runs the checks as the current user and prints the report as JSON.
func helpCheck([]string) int {
	r, err := Check(context.Background(), Options{})
	if err == nil {
		err = WriteJSON(os.Stdout, r)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

// finding returns the first finding with the given name in an area whose name begins with the argument area.
func finding(t *testing.T, checks []Finding, area, name string) Finding {
	t.Helper()
	for _, f := range checks {
		if strings.HasPrefix(f.Area, area) && f.Name == name {
			return f
		}
	}
	t.Fatalf("there is no %s, %s in %+v", area, name, checks)
	return Finding{}
}

// script writes a shell script.
func script(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

func readReport(t *testing.T, text []byte) *Report {
	t.Helper()
	var j jsonReport
	require.NoError(t, json.Unmarshal(text, &j), "%s", text)
	require.Equal(t, 1, j.Schema)
	return &Report{CanProfile: j.CanProfile, Sampler: j.Sampler, Event: j.Event, Sudo: j.Sudo, Cause: j.Cause, Fix: j.Fix,
		Checks: j.Checks}
}
