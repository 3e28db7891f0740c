package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// The names in testdata/programs/Letters.java, and how gasm shows them.
const (
	evilClass  = "Ev\u009b31mil\x1bc\u202e❤😀<>&'x"
	evilMethod = evilClass + "::m\x1b]0:x\x07\u00a0 \n😀\u202e'\"&\\ud800z"
	evilThread = "\x1b]0;pwn\x07\u202e!"

	shownMethod = `Ev\u009b31mil\x1bc\u202e❤😀<>&'x::m\x1b]0:x\x07` + "\u00a0" + ` \n😀\u202e'"&\ud800z`
	shownThread = `\x1b]0;pwn\x07\u202e!`
)

// TestHostileProgram checks the names of a program with unusual characters. Each name must have the same form
// everywhere in HotSpot's output, whether HotSpot printed the code or gasm copied it. It must be exact in JSON, and
// escaped in texts.
func TestHostileProgram(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for name, java := range jdks(t) {
		for _, code := range []string{"print", "copy"} {
			t.Run(name+"/"+code, func(t *testing.T) { profileLetters(t, java, code) })
		}
	}
}

func profileLetters(t *testing.T, java, code string) {
	dir := filepath.Join(t.TempDir(), "capture")
	log := filepath.Join(t.TempDir(), "log")
	r := runGasm(t, []string{"profile", "--sampler", "native", "--code", code, "-o", dir, "--save-log", log, "--", java,
		"-cp", javaPrograms(t), "Letters", "\x1b[2J"},
		withEnv("LC_ALL=C.UTF-8")) // Java finds class files by names in the locale's encoding
	require.Equal(t, 0, r.code, r.stderr)
	coloured := runGasm(t, []string{"report", "--color", "always", dir})
	for text, colours := range map[string]bool{r.stdout: false, r.said(): false, coloured.stdout: true,
		coloured.stderr: true, string(readFile(t, log)): false} {
		gasmtest.TerminalText(t, text, colours)
	}
	assert.Contains(t, r.stdout, shownMethod)
	assert.Contains(t, r.stdout, shownThread)
	assert.Contains(t, r.stdout, `'\x1b[2J'`)

	rep := readReport(t, []byte(runGasm(t, []string{"report", "--format", "json", dir}).stdout))
	p := &rep.Profiles[0]
	var methods, frames, threads []string
	for _, m := range p.Methods {
		methods = append(methods, m.Name)
	}
	for _, f := range p.Frames {
		frames = append(frames, f.Method)
	}
	for _, k := range p.Threads {
		for _, thread := range k.Threads {
			threads = append(threads, thread.Name)
		}
	}
	assert.Contains(t, methods, evilMethod, "in the line of the code, or in a tag")
	for _, method := range []string{evilMethod, evilClass + "::größe", evilClass + "::a b"} {
		assert.Contains(t, frames, method)
	}
	for _, name := range append(methods, frames...) {
		assert.NotContains(t, strings.TrimSuffix(name, `\ud800z`), `\u`)
	}
	assert.Contains(t, threads, evilThread)
	assert.Equal(t, "\x1b[2J", rep.Capture.Command[len(rep.Capture.Command)-1])
}

// TestHostileMessages checks names of files and commands in messages to the user.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	const evil, shown = "no\x1b]0;x\a\nsuch\u202e\x9b", `no\x1b]0;x\x07\nsuch\u202e\x9b`
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, evil), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, evil+"file"), []byte("{"), 0o644))
	for name, args := range map[string][]string{
		"command":      {evil},
		"flag":         {"report", "--" + evil},
		"value":        {"report", "--format", evil, "."},
		"expression":   {"profile", "--window-start", "(" + evil, "--", "true"},
		"program":      {"profile", "--", evil},
		"no folder":    {"report", evil + "x"},
		"no capture":   {"report", evil},
		"no report":    {"diff", evil + "file", evil + "file"},
		"no log":       {"report", evil + "file", evil + "file"},
		"no source":    {"report", "--source", evil + "x", "."},
		"report":       {"report", "--report", "/dev/null/" + evil, evil},
		"output":       {"profile", "-o", evil + "file", "--", "true"},
		"event":        {"profile", "--event", evil, "--", "true"},
		"unknown args": {"doctor", evil},
	} {
		t.Run(name, func(t *testing.T) {
			r := runGasm(t, args, inFolder(dir))
			assert.NotZero(t, r.code)
			gasmtest.TerminalText(t, r.stderr+r.stdout, false)
			t.Log(r.stderr)
			lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
			assert.True(t, len(lines) == 1 || len(lines) == 2 && strings.HasPrefix(lines[1], "Try 'gasm"),
				"one line, and where to look")
			if name == "no folder" {
				assert.Contains(t, r.stderr, shown+"x")
			}
		})
	}
}
