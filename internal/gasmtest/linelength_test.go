package gasmtest

import (
	"bytes"
	"errors"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longestLine is the maximum length of a line of Go, in characters. A tab is one.
const longestLine = 120

// mostLines is the maximum number of lines that a package may have, not counting its tests. A longer one holds several
// ideas.
const mostLines = 4000

// TestLineLength checks the length of all lines of Go, except lines with strings and preformatted lines of comments.
// These can't be divided, or are harder to read when they are. It also checks how many lines each package has.
func TestLineLength(t *testing.T) {
	root := filepath.Dir(Testdata())
	files := 0
	sizes := map[string]int{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // another test has removed a file of its own
			return nil
		}
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && path != root
		if d.IsDir() && (hidden || slices.Contains([]string{"node_modules", "target", "jdks", "dist"}, d.Name())) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if !strings.HasSuffix(path, "_test.go") {
			sizes[filepath.Dir(path)] += bytes.Count(text, []byte("\n"))
		}
		strung := linesWithStrings(text)
		for i, line := range strings.Split(string(text), "\n") {
			n := utf8.RuneCountInString(line)
			preformatted := strings.HasPrefix(strings.TrimLeft(line, "\t"), "//\t") || strings.HasPrefix(line, "//go:")
			assert.True(t, n <= longestLine || strung[i+1] || preformatted, "%s:%d has %d characters", path, i+1, n)
		}
		return nil
	}))
	assert.Greater(t, files, 1000)
	for dir, n := range sizes {
		assert.LessOrEqual(t, n, mostLines, "lines of %s", dir)
	}
}

// linesWithStrings returns the numbers of the lines of a file in which there are strings or parts of strings.
func linesWithStrings(text []byte) map[int]bool {
	lines := map[int]bool{}
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.STRING {
			first := file.Line(at)
			for n := range strings.Count(literal, "\n") + 1 {
				lines[first+n] = true
			}
		}
	}
}
