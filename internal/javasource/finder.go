// Package javasource finds lines of Java source by class and line number, in
// folders and in archives of sources: the JDK's src.zip, the -sources.jar of a
// library.
//
// The JVM tells the class and the line of code, but no file. The class a.b.Bench is in a
// file whose path ends in a/b/Bench.java. In front of that there may be folders, such as
// src/main/java, or the name of a module (java.base/java/util/HashMap.java). A path may
// end like this by chance, so the file must also declare the package a.b.
package javasource

import (
	"errors"
	"iter"
	"path"
	"strings"
	"unicode"
)

// maxFileSize is more than any file of Java source has, in bytes. A larger file is taken
// for something else.
const maxFileSize = 16 << 20

// A Finder finds source lines. It reads a file once, when a line of it is needed first. It
// is not safe for concurrent use.
type Finder struct {
	trees []tree
	files map[string][]string // lines, by the path that classFile gives; nil for a file that was not found
}

// A tree is a folder or an archive that has source files.
type tree interface {
	// find gives the paths in the tree that may be the file of a class, the likeliest first.
	// Paths that take long to find come last.
	find(file string) iter.Seq[string]
	// read gives the text of the file at such a path.
	read(name string) ([]byte, error)
	close() error
}

// New opens folders and archives. The Finder searches them in this order. An error has the
// path of what could not be opened.
func New(paths []string) (*Finder, error) {
	f := &Finder{files: map[string][]string{}}
	for _, p := range paths {
		t, err := openTree(p)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.trees = append(f.trees, t)
	}
	return f, nil
}

// Close closes the archives.
func (f *Finder) Close() error {
	var errs []error
	for _, t := range f.trees {
		errs = append(errs, t.close())
	}
	f.trees = nil
	return errors.Join(errs...)
}

// Line gives a line of the file of a class, without blanks around it. A method may stand
// behind the class: java.util.HashMap$Node::getValue. Lines count from 1. The answer is
// false when there is no such line, or nothing on it.
func (f *Finder) Line(class string, line int) (text string, ok bool) {
	_, lines := f.lines(class)
	if line < 1 || line > len(lines) {
		return "", false
	}
	text = clean(lines[line-1])
	return text, text != ""
}

// File gives all lines of the file of a class, and the file's name below the root of its
// sources. There are no lines where there is no such file. A method may stand behind the class.
func (f *Finder) File(class string) (name string, lines []string) {
	name, raw := f.lines(class)
	for _, line := range raw {
		lines = append(lines, strings.TrimRight(visible(line), " "))
	}
	return name, lines
}

// lines gives the lines of a class's file, as they are, and its name.
func (f *Finder) lines(class string) (name string, lines []string) {
	name = classFile(class)
	lines, known := f.files[name]
	if !known {
		lines = f.load(name)
		f.files[name] = lines
	}
	return name, lines
}

// classFile gives the path of a class's file below the root of its sources. For
// java.util.HashMap$Node it is java/util/HashMap.java.
func classFile(class string) string {
	class, _, _ = strings.Cut(class, "::")
	if i := strings.IndexAny(class, "/+"); i >= 0 {
		class = class[:i] // the address of a hidden class stands there
	}
	dir, name := "", class
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		dir, name = class[:i], class[i+1:]
	}
	// A dollar sign begins the name of an inner class, but not at the start of the name.
	inner := strings.TrimLeft(name, "$")
	if i := strings.IndexByte(inner, '$'); i >= 0 {
		name = name[:len(name)-len(inner)+i]
	}
	return path.Join(strings.ReplaceAll(dir, ".", "/"), name+".java")
}

// load finds a class's file and gives its lines; nil when there is no such file.
func (f *Finder) load(file string) []string {
	pkg := strings.ReplaceAll(strings.TrimSuffix(path.Dir(file), "."), "/", ".")
	for _, t := range f.trees {
		for name := range t.find(file) {
			text, err := t.read(name)
			// The file org/a/Main.java has the class org.a.Main, and not a.Main.
			if err == nil && packageOf(text) == pkg {
				return strings.Split(string(text), "\n")
			}
		}
	}
	return nil
}

// clean makes a source line fit to be printed. It writes tabs as blanks, and one blank for
// each character that can't be seen: such characters can change a terminal's colours, or
// the order of its letters.
func clean(line string) string { return strings.TrimSpace(visible(line)) }

// visible is clean with the blanks around the line.
func visible(line string) string {
	const tabWidth = 4
	var b strings.Builder
	column := 0
	for _, r := range strings.ToValidUTF8(line, "?") {
		switch {
		case r == '\t':
			n := tabWidth - column%tabWidth
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		case !unicode.IsPrint(r):
			r = ' '
		}
		b.WriteRune(r)
		column++
	}
	return b.String()
}
