package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// shellScripts complete "gasm pro" and "gasm report --format h" in a real shell. $SCRIPT is the file with the shell's
// completions. zsh completes only on a terminal, so the script for zsh runs a second zsh on a pseudo-terminal.
var shellScripts = map[string]string{
	"bash": `
source /usr/share/bash-completion/bash_completion
source "$SCRIPT"
complete -p gasm
try() { # as readline does for a Tab at the end of the line
  COMP_LINE="$*" COMP_POINT=$((${#COMP_LINE})) COMP_TYPE=9 COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  __start_gasm
  echo "${COMPREPLY[@]}"
}
try gasm pro
try gasm report --format h`,
	"fish": `
source $SCRIPT
complete -C 'gasm pro'
complete -C 'gasm report --format h'`,
	"zsh": `
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'autoload -U compinit; compinit -u -D; source $SCRIPT'
zpty -n -w inner $'gasm pro\t'
zpty -r -m inner out '*gasm pro*file*'
print -r -- "$out"
zpty -w inner ''
zpty -n -w inner $'gasm report --format h\t'
zpty -r -m inner out '*format h*tml*'
print -r -- "$out"
zpty -d inner`,
}

// TestShellsComplete checks that the completions for each shell can be loaded, and complete commands and the values
// of flags.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	for shell, script := range shellScripts {
		t.Run(shell, func(t *testing.T) {
			path := gasmtest.NeedTool(t, shell, "scripts/setup.sh test installs it")
			args := map[string][]string{"bash": {"--norc", "--noprofile"}, "fish": {"--no-config"}, "zsh": {"-f"}}[shell]
			file := filepath.Join(t.TempDir(), "completion")
			r := runGasm(t, []string{"completion", shell})
			require.Equal(t, 0, r.code, r.stderr)
			require.NoError(t, os.WriteFile(file, []byte(r.stdout), 0o600))

			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, path, append(args, "-c", script)...)
			cmd.Env = append(os.Environ(), "SCRIPT="+file, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "TERM=dumb",
				"HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "profile")
			assert.Contains(t, string(out), "html")
			assert.NotContains(t, string(out), "not found")
		})
	}
	r := runGasm(t, []string{"completion", "csh"})
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "bash, fish or zsh")
}

// TestCompletions checks what gasm answers to a shell: the values of a flag, file names where a flag takes a file,
// and the process ids of JVMs.
func TestCompletions(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"report --format ":   slices.Concat(choices["format"], []string{":4"}),
		"profile --sampler ": slices.Concat(choices["sampler"], []string{":4"}),
		"attach --sort ":     {"self", "total", ":4"},
		"profile --report ":  {":0"},
		"report --top ":      {":4"},
		"completion ":        {"bash", "fish", "zsh", ":4"},
		"diff --format ":     slices.Concat(otherFormats["diff"], []string{":4"}),
		"events --format ":   slices.Concat(otherFormats["events"], []string{":4"}),
		"stacks --format ":   {"text", "json", ":4"},
		"diff --before ":     {":0"},
	} {
		words := strings.Split(line, " ")
		r := runGasm(t, append([]string{"__complete"}, words...))
		assert.Equal(t, want, strings.Fields(r.stdout), line)
	}
}

// TestManual checks that each manual page lists the command's flags, and contains nothing that man can't format.
func TestManual(t *testing.T) {
	t.Parallel()
	man := gasmtest.NeedTool(t, "man", "scripts/setup.sh test installs it")
	dir := t.TempDir()
	r := runGasm(t, []string{"man", dir})
	require.Equal(t, 0, r.code, r.stderr)
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 6)
	for _, page := range pages {
		cmd := exec.Command(man, "--warnings", "-E", "UTF-8", "-l", page)
		cmd.Env = append(os.Environ(), "MANWIDTH=1000", "LC_ALL=C.UTF-8", "MANPAGER=cat", "PAGER=cat")
		var warnings strings.Builder
		cmd.Stderr = &warnings
		out, err := cmd.Output()
		require.NoError(t, err, "%s", page)
		assert.Empty(t, warnings.String(), page)
		name := strings.TrimSuffix(filepath.Base(page), ".1")
		assert.Contains(t, string(out), strings.ToUpper(name)+"(1)")
		words := strings.Split(name, "-")
		help := runGasm(t, append(words[1:], "--help")).stdout
		for line := range strings.Lines(help) {
			if flag, _, _ := strings.Cut(strings.TrimSpace(line[:min(len(line), 30)]), " "); strings.HasPrefix(flag, "--") {
				assert.Contains(t, string(out), flag, page)
			}
		}
	}
}
