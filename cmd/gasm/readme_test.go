package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents are the texts for users: the README and the pages in docs, by their paths from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	texts := map[string]string{}
	for _, path := range append(paths, "../../README.md") {
		texts[strings.TrimPrefix(path, "../../")] = string(readFile(t, path))
	}
	return texts
}

// The tables in docs/flags.md and docs/diff.md have each flag that there is, and no document has one that there isn't.
func TestDocumentedFlags(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	flag := regexp.MustCompile(`(?m)(?:^|[^-])--([a-z][a-z0-9-]+)`) // not in an anchor: #what---events-inlining-costs
	flags := func(text string) map[string]bool {
		names := map[string]bool{}
		for _, m := range flag.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
		delete(names, "ns")          // of perf script
		delete(names, "xpath")       // of xctrace export
		delete(names, "unix-socket") // of curl
		delete(names, "now")         // of systemctl
		return names
	}
	listed := flags(texts["docs/flags.md"] + texts["docs/diff.md"])
	there := map[string]bool{"help": true, "version": true}
	listed["help"] = true
	for _, command := range []string{"profile", "attach", "top", "watch", "stacks", "report", "events", "diff", "doctor"} {
		for name := range flags(runGasm(t, []string{command, "--help"}).stdout) {
			there[name] = true
			assert.Contains(t, listed, name, "flag of gasm %s that docs/flags.md lacks", command)
		}
	}
	for path, text := range texts {
		for name := range flags(text) {
			assert.Contains(t, there, name, "flag in %s that gasm lacks", path)
		}
	}
}

// The examples of the documents and the help are accepted as they stand.
func TestExamples(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, document := range documents(t) {
		text.WriteString(document)
	}
	for _, command := range []string{"profile", "report", "attach", "top", "diff", "events"} {
		text.WriteString(runGasm(t, []string{command, "--help"}).stdout)
	}
	// What stands two spaces behind an example says what it does.
	example := regexp.MustCompile(`(?m)^(?:    |  )gasm (profile|attach|top|report|diff|events) ([-a-z].*?)(?:  .*)?$`)
	word := regexp.MustCompile(`'([^']*)'|(\S+)`)
	examples := example.FindAllStringSubmatch(text.String(), -1)
	assert.Greater(t, len(examples), 40)
	for _, e := range examples {
		command := []string{e[1]}
		for _, a := range word.FindAllStringSubmatch(e[2], -1) {
			if a[0] == "--" {
				// What comes behind it is run; a name that can't be found ends it early.
				command = append(command, "--", "/no/such/command")
				break
			}
			if a[0] == ">" { // of the shell
				break
			}
			command = append(command, a[1]+a[2])
		}
		folder := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "src/main/java"), 0o755)) // of --source
		r := runGasm(t, command, inFolder(folder))
		assert.NotEqual(t, 2, r.code, "gasm %s %s: %s", e[1], e[2], r.stderr)
	}
}

// Each link within the repository leads to a file, and to a heading that it has.
func TestLinks(t *testing.T) {
	texts := documents(t)
	for _, name := range []string{"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "PERFORMANCE.md", "SECURITY.md"} {
		texts[name] = string(readFile(t, "../../"+name))
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	linked := map[string]bool{}
	for path, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(m[1]+m[2], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := path
			if to != "" {
				target = filepath.Join(filepath.Dir(path), to)
			}
			_, err := os.Stat("../../" + target)
			assert.NoError(t, err, "%s links to %s", path, m[0])
			if anchor != "" {
				assert.Contains(t, anchors(texts[target]), anchor, "%s links to %s", path, m[0])
			}
			linked[target] = true
		}
	}
	for path := range texts {
		assert.Contains(t, linked, path, "no document links to it")
	}
}

// anchors are those that GitHub gives headings: "## How, and what can't be probed" is #how-and-what-cant-be-probed.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}

// The files and the tests that ARCHITECTURE.md names exist. It names a file by its path, or by the end of its path if
// the folder is in the same paragraph.
func TestFilesOfArchitecture(t *testing.T) {
	t.Parallel()
	ends, tests := map[string]bool{}, map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && (entry.Name() == ".git" || entry.Name() == "node_modules" || entry.Name() == "target") {
				return filepath.SkipDir
			}
			return err
		}
		for at := path; at != ""; _, at, _ = strings.Cut(at, "/") {
			ends[at] = true
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range declared.FindAllSubmatch(readFile(t, path), -1) {
				tests[string(m[1])] = true
			}
		}
		return nil
	}))
	for _, file := range []string{"samples.txt", "symbols.txt", "stacks.txt", "native-code.txt"} { // of a capture
		ends[file] = true
	}
	text := string(readFile(t, "../../ARCHITECTURE.md"))
	files := regexp.MustCompile("`([\\w./-]+\\.(?:go|js|css|sh|md|json|txt))`").FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, files)
	for _, m := range files {
		assert.Contains(t, ends, m[1], "file in ARCHITECTURE.md")
	}
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(text, -1) {
		assert.Contains(t, tests, name, "test in ARCHITECTURE.md")
	}
}
