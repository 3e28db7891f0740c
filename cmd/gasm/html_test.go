package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestHTMLGoesWhere checks that an HTML page is written to a file or a pipe, but never to a terminal, nor between the
// lines of a command's output.
func TestHTMLGoesWhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	r := runGasm(t, []string{"profile", "--format", "html", "-o", filepath.Join(dir, "capture"), "--", "touch", ran})
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.said(), "is a page for a browser and would mix with the command's output; name a file for it: --report FILE")
	assert.NoFileExists(t, ran, "the command ran")

	samples, log := gasmtest.UnpackCapture(t, "jdk11-lean-none", dir)
	file := filepath.Join(dir, "report.html")
	code, screen := onTerminal(t, "report", "--format", "html", samples, log)
	assert.Equal(t, 2, code)
	assert.Contains(t, screen, "use --report FILE or a redirection")
	code, screen = onTerminal(t, "report", "--format", "html", "--report", file, samples, log)
	assert.Equal(t, 0, code, screen)
	assert.True(t, strings.HasPrefix(string(readFile(t, file)), "<!DOCTYPE html>"))
}
