// Package javasource finds lines of Java source by class and line number, in
// folders and in archives of sources: the JDK's src.zip, the -sources.jar of a
// library.
//
// What the JVM tells about code is a class and a line, nothing of files. A class
// of package a.b is in a file whose path ends in a/b, wherever the path begins:
// at the folder or archive itself, behind src/main/java, behind the name of a
// module (java.base/java/util/HashMap.java). The package that the file declares
// must be the class's.
package javasource

import (
	"errors"
	"iter"
	"path"
	"strings"
	"unicode"
)

// maxFileSize is more than any file of Java source has, in bytes.
const maxFileSize = 16 << 20

// A Finder finds source lines. It reads a file when a line of it is asked for,
// once. It is not safe for concurrent use.
type Finder struct {
	trees []tree
	files map[string][]string // lines by path of the class's file; nil for a file that was not found
}

// A tree is a place that has source files.
type tree interface {
	// find gives the paths in it that may be a class's file, the likeliest
	// first. What is costly to find comes late.
	find(file string) iter.Seq[string]
	// read gives the text of one of these.
	read(name string) ([]byte, error)
	close() error
}

// New opens folders and archives, which are searched in this order. An error
// names its path.
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

// Line gives a line of the file that has a class, without blanks around it. The
// class may have a method behind it: java.util.HashMap$Node::getValue. Lines
// count from 1. It is not ok when no such line is found, or there is nothing on
// it.
func (f *Finder) Line(class string, line int) (text string, ok bool) {
	file := classFile(class)
	lines, known := f.files[file]
	if !known {
		lines = f.load(file)
		f.files[file] = lines
	}
	if line < 1 || line > len(lines) {
		return "", false
	}
	text = clean(lines[line-1])
	return text, text != ""
}

// classFile is where a class is by the rules of packages: its outermost class's
// name, package as folders.
func classFile(class string) string {
	class, _, _ = strings.Cut(class, "::")
	if i := strings.IndexAny(class, "/+"); i >= 0 {
		class = class[:i] // a hidden class has its address there
	}
	dir, name := "", class
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		dir, name = class[:i], class[i+1:]
	}
	// A name may begin with $ as well; one behind that begins an inner class.
	inner := strings.TrimLeft(name, "$")
	if i := strings.IndexByte(inner, '$'); i >= 0 {
		name = name[:len(name)-len(inner)+i]
	}
	return path.Join(strings.ReplaceAll(dir, ".", "/"), name+".java")
}

// load finds and reads a file; nil when there is none.
func (f *Finder) load(file string) []string {
	pkg := strings.ReplaceAll(strings.TrimSuffix(path.Dir(file), "."), "/", ".")
	for _, t := range f.trees {
		for name := range t.find(file) {
			text, err := t.read(name)
			// A path can end alike by chance: org/a/Main.java is no a.Main.
			if err == nil && packageOf(text) == pkg {
				return strings.Split(string(text), "\n")
			}
		}
	}
	return nil
}

// clean makes a source line fit to be printed: tabs are blanks, and what could
// do harm to a terminal or the order of its letters is gone.
func clean(line string) string {
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
	return strings.TrimSpace(b.String())
}
