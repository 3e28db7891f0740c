// Package config reads the configuration file of gasm watch. It has one setting per line, with the name of a flag:
//
//	# Lines that begin with # are comments.
//	to = pyroscope+https://pyroscope.example.com
//	label = team=shop
//	every = 30s
//
// This package does not know which settings there are.
package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// A Setting is a line of the file.
type Setting struct {
	Line        int // the first line is 1
	Name, Value string
}

// Limits of a file. A file beyond them is an error.
const (
	maxFile     = 1 << 20 // bytes
	maxSettings = 1000
)

var name = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// Read reads a file.
func Read(path string) ([]Setting, error) {
	text, err := regular.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	settings, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return settings, nil
}

// Parse parses the text of a file. Its errors begin with the number of the line.
func Parse(text string) (settings []Setting, err error) {
	text = strings.TrimPrefix(text, "\ufeff") // which some editors write
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok || !name.MatchString(key):
			return nil, fmt.Errorf("%d: a line has the form NAME = VALUE, with the name of a flag without --", n)
		case value == "":
			return nil, fmt.Errorf("%d: %s has no value", n, key)
		case !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fmt.Errorf("%d: %s has a value that is not text", n, key)
		case len(settings) == maxSettings:
			return nil, fmt.Errorf("%d: there are more than %d settings", n, maxSettings)
		}
		settings = append(settings, Setting{n, key, value})
	}
	return settings, nil
}
