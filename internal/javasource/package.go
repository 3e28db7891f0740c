package javasource

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// A language says in which syntax a source file declares its package.
type language uint8

const (
	// unknown is a language whose declarations are not read, so only the file's path counts. Clojure is an example: its
	// loader finds a namespace by the path of its file.
	unknown language = iota
	java
	kotlin
	scala
	groovy
)

// languages are the languages of source files, by file name extension.
var languages = map[string]language{
	".java": java, ".kt": kotlin, ".kts": kotlin, ".scala": scala, ".sc": scala,
	".groovy": groovy, ".gvy": groovy, ".gy": groovy, ".gsh": groovy, ".gradle": groovy,
	".clj": unknown, ".cljc": unknown, ".rb": unknown, ".py": unknown, ".js": unknown, ".jsp": unknown,
	".jspx": unknown, ".tag": unknown,
	".xtend": unknown, ".ceylon": unknown, ".fr": unknown, ".lisp": unknown, ".golo": unknown, ".bsh": unknown,
	".mod": unknown, ".flix": unknown,
	// Native code.
	".c": unknown, ".cc": unknown, ".cpp": unknown, ".cxx": unknown, ".h": unknown, ".hh": unknown, ".hpp": unknown,
	".hxx": unknown,
	".inc": unknown, ".s": unknown, ".S": unknown, ".asm": unknown, ".rs": unknown, ".m": unknown, ".mm": unknown,
	".go": unknown,
}

func isSource(base string) bool {
	_, ok := languages[path.Ext(base)]
	return ok
}

// Patterns for the declaration of a package at the start of a text. In Java there may be blanks around the dots.
// fileAnnotated matches the start of an annotation that may come before the declaration in Kotlin.
var (
	javaPackage   = regexp.MustCompile(`^package\s+([\w$.\s\pL]+?)\s*;`)
	otherPackage  = regexp.MustCompile("^package[ \\t]+((?:[\\w$.\\pL]|`[^`\\n]*`)+)")
	scalaPackage  = regexp.MustCompile("^package[ \\t]+(?:object[ \\t]+)?((?:[\\w$.\\pL]|`[^`\\n]*`)+)[ \\t]*[{:;]?")
	fileAnnotated = regexp.MustCompile(`^@file\s*:\s*[\w.]*`)
)

// packageOf returns the package that a file declares, or "" if it declares none. Only comments and blanks may come
// before the declaration, and in Kotlin also annotations.
//
// A Scala file may declare its package in several clauses:
//
//	package scala
//	package collection.immutable
func packageOf(text []byte, l language) string {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(text, []byte("#!")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	var clauses []string
	for {
		text = skipBlanks(text, l == kotlin || l == scala)
		declaration := javaPackage
		switch l {
		case kotlin:
			if annotation := fileAnnotated.Find(text); annotation != nil {
				text = skipArguments(text[len(annotation):])
				continue
			}
			declaration = otherPackage
		case groovy:
			declaration = otherPackage
		case scala:
			declaration = scalaPackage
		}
		m := declaration.FindSubmatch(text)
		if m == nil {
			return strings.Join(clauses, ".")
		}
		name := strings.ReplaceAll(string(bytes.Join(bytes.Fields(m[1]), nil)), "`", "")
		if l != scala {
			return name
		}
		clauses = append(clauses, name)
		text = text[len(m[0]):]
	}
}

// skipBlanks removes blanks and comments from the start of a text. nested is true for languages in which comments can
// be nested.
func skipBlanks(text []byte, nested bool) []byte {
	for {
		text = bytes.TrimLeft(text, " \t\r\n\f")
		switch {
		case bytes.HasPrefix(text, []byte("//")):
			_, text, _ = bytes.Cut(text, []byte("\n"))
		case bytes.HasPrefix(text, []byte("/*")):
			text = skipComment(text[2:], nested)
		default:
			return text
		}
	}
}

// skipComment returns the text after the end of a comment. text begins after the comment's "/*". It returns nil if the
// comment does not end.
func skipComment(text []byte, nested bool) []byte {
	for depth := 1; depth > 0; {
		i := bytes.IndexByte(text, '*')
		if i < 0 {
			return nil
		}
		switch {
		case i+1 < len(text) && text[i+1] == '/':
			depth--
			text = text[i+2:]
		case nested && i > 0 && text[i-1] == '/':
			depth++
			text = text[i+1:]
		default:
			text = text[i+1:]
		}
	}
	return text
}

// skipArguments removes the parentheses or brackets at the start of a text, with everything in them: `("a") package b`
// becomes ` package b`. If the text does not begin with a parenthesis or bracket, it is returned unchanged.
func skipArguments(text []byte) []byte {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
		if depth <= 0 {
			if i < len(text) && (text[i] == ')' || text[i] == ']') {
				i++
			}
			return text[min(i, len(text)):]
		}
	}
	return nil
}

// belongs reports whether a source file belongs to a package. base is the file's name, and text is its beginning, which
// declares the package. byPath says whether the file's path ends in the package's directory. If the file's language is
// unknown, only the path counts.
func belongs(text []byte, base, pkg string, byPath bool) bool {
	l := languages[path.Ext(base)]
	if l == unknown {
		return byPath
	}
	declared := packageOf(text, l)
	// A Scala file may declare further packages inside the package that it declares at its top.
	return declared == pkg || l == scala && byPath && declared != "" && strings.HasPrefix(pkg, declared+".")
}

// declares reports whether a text seems to declare a class with the given name.
func declares(text []byte, name string) bool {
	const keyword = `\b(?:class|object|interface|trait|enum|record)\s+`
	return regexp.MustCompile(keyword + regexp.QuoteMeta(name) + `\b`).Match(text)
}
