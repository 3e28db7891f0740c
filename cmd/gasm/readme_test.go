package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The README has each flag that there is, and none that there isn't.
func TestReadmeFlags(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	flag := regexp.MustCompile(`--([a-z][a-z-]+)`)
	inReadme, inHelp := map[string]bool{}, map[string]bool{"help": true, "version": true}
	for _, m := range flag.FindAllStringSubmatch(string(text), -1) {
		inReadme[m[1]] = true
	}
	for _, command := range []string{"profile", "attach", "report", "events", "diff", "doctor"} {
		for _, m := range flag.FindAllStringSubmatch(runGasm(t, []string{command, "--help"}).stdout, -1) {
			inHelp[m[1]] = true
			if m[1] != "help" {
				assert.Contains(t, inReadme, m[1], "flag of gasm %s that the README lacks", command)
			}
		}
	}
	delete(inReadme, "ns")    // of perf script
	delete(inReadme, "xpath") // of xctrace export
	for name := range inReadme {
		assert.Contains(t, inHelp, name, "flag in the README that gasm lacks")
	}
}

// The examples of the README and the help are accepted as they stand.
func TestExamples(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	text := string(readme) + runGasm(t, []string{"profile", "--help"}).stdout + runGasm(t, []string{"report", "--help"}).stdout + runGasm(t, []string{"attach", "--help"}).stdout
	words := regexp.MustCompile(`(?m)^(?:    |  )gasm (profile|attach|report) (--?[a-z].*)$`)
	examples := words.FindAllStringSubmatch(text, -1)
	assert.Greater(t, len(examples), 6)
	for _, e := range examples {
		args := regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(e[2], -1)
		command := []string{e[1]}
		for _, a := range args {
			if a[0] == "--" {
				// What comes behind it is run; a name that can't be found ends it early.
				command = append(command, "--", "/no/such/command")
				break
			}
			command = append(command, a[1]+a[2])
		}
		r := runGasm(t, command, inFolder(t.TempDir()))
		assert.NotEqual(t, 2, r.code, "gasm %s %s: %s", e[1], e[2], r.stderr)
	}
}
