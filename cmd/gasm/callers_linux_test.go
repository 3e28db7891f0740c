package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestCodeOfCallers checks that gasm also copies the code of methods that only call the hot code. The page must have
// this code, so that a frame of the flame graph leads to its call.
func TestCodeOfCallers(t *testing.T) {
	t.Parallel()
	needStacks(t)
	classes, dir := t.TempDir(), filepath.Join(t.TempDir(), "capture")
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Relay.java"))
	args := []string{"profile", "-o", dir, "--format", "html", "--report", filepath.Join(t.TempDir(), "page.html"), "--",
		gasmtest.NeedJava(t), "-XX:CompileCommand=quiet"}
	for _, m := range []string{"work", "inner", "outer"} {
		args = append(args, "-XX:CompileCommand=dontinline,Relay::"+m)
	}
	r := runGasm(t, append(args, "-cp", classes, "Relay"))
	require.Equal(t, 0, r.code, r.stderr)
	c, err := capture.Open(dir)
	require.NoError(t, err)
	defer c.Close()
	require.Len(t, c.JVMs, 1)
	code := map[string]bool{}
	for i := range c.JVMs[0].Log.Blobs {
		if b := &c.JVMs[0].Log.Blobs[i]; b.HasCode {
			code[b.Name+" "+strconv.Itoa(b.Level)] = true
		}
	}
	page, err := os.ReadFile(args[6])
	require.NoError(t, err)
	for _, method := range []string{"Relay::work", "Relay::inner", "Relay::outer"} {
		assert.Contains(t, code, method+" 4", "gasm said %s", r.stderr)
		assert.True(t, strings.Contains(string(page), `-h">`+method+`</h1>`), "%s in the page; gasm said %s", method,
			r.stderr) // the page is too long for a message
	}
	if t.Failed() {
		t.Logf("the samples:\n%s", runGasm(t, []string{"report", "--skip-asm", dir}).stdout)
	}
}
