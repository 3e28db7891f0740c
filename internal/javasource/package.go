package javasource

import (
	"bytes"
	"regexp"
)

// packageDecl matches the declaration of a package at the start of a text. Blanks may
// stand around its dots.
var packageDecl = regexp.MustCompile(`^package\s+([\w$.\s\pL]+?)\s*;`)

// packageOf gives the package that a Java file declares, "" without one. Only comments and
// blanks can stand in front of the declaration. In package-info.java annotations can, too,
// but that file has no classes.
func packageOf(text []byte) string {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for {
		text = bytes.TrimLeft(text, " \t\r\n\f")
		switch {
		case bytes.HasPrefix(text, []byte("//")):
			_, text, _ = bytes.Cut(text, []byte("\n"))
		case bytes.HasPrefix(text, []byte("/*")):
			_, text, _ = bytes.Cut(text[2:], []byte("*/"))
		default:
			m := packageDecl.FindSubmatch(text)
			if m == nil {
				return ""
			}
			return string(bytes.Join(bytes.Fields(m[1]), nil))
		}
	}
}
