// Package javasource finds lines of source by class and line number, in folders and in
// archives of sources: the JDK's src.zip, the -sources.jar of a library. The source may be
// of any language that is compiled to class files.
//
// # Which file
//
// A class file has the name of the file that it was made from, without folders: its
// SourceFile attribute. The JVM knows it, and package nmethod copies it; else the class file
// itself is read, from the class path of the program ([Finder.Know]). Where nobody has the
// name, it is guessed: the class a.b.Bench is in Bench.java, or in a file of another language
// that declares it.
//
// The file of the class a.b.Bench is one whose path ends in a/b/Bench.java. In front of that
// there may be folders, such as src/main/java, or the name of a module
// (java.base/java/util/HashMap.java). A path may end like this by chance, so the file must
// also declare the package a.b. Files of Kotlin and Scala may lie in any folder: they are
// found by their name and the package that they declare. Where there are several such files
// that are equally likely, none is taken: no line is better than a wrong one.
//
// # Which line
//
// A class may have code that was made from other files: Kotlin's compiler copies inline
// functions into their callers. Its class file says of each number from which file and line
// it is (see smap). Without the class file such numbers are beyond the end of the file.
//
// [Finder.Missing] tells which lines were not found, and why.
package javasource

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxFileSize is more than any file of source or any class has, in bytes. A larger file is
	// taken for something else.
	maxFileSize = 16 << 20
	// headSize is how much of a file is read for its package: more than a licence takes.
	headSize = 64 << 10
	// maxAlike is how many files of one name in a tree are looked into.
	maxAlike = 200
)

// A Finder finds source lines. It reads a file once, when a line of it is needed first. It
// is not safe for concurrent use.
type Finder struct {
	trees     []tree
	classPath classPath
	told      map[string]string // names of source files, by class
	classes   map[string]*classSource
	files     map[sourceFile]*loaded
	asked     map[place]miss
	left      allowance // for files of source
}

// A Line is a line of source.
type Line struct {
	File   string // without folders; "" when nobody knows it
	Number int    // of the line in the file
	Text   string // without blanks around it; "" when it was not found
}

// A sourceFile is a file by its name and the folder that the package asks for.
type sourceFile struct{ dir, base string }

// unknownDir is the folder of a file that does not say its package.
const unknownDir = "?"

func (s sourceFile) path() string { return path.Join(s.dir, s.base) }

// A tree is a folder or an archive that has source files.
type tree interface {
	// find gives the paths in the tree that end in the path of a file, the likeliest first.
	// Paths that take long to find come last.
	find(file string) iter.Seq[string]
	// named gives all paths of source files of a name.
	named(base string) []string
	// open opens the file at such a path, and path is how a user names it.
	open(name string) (io.ReadCloser, error)
	path(name string) string
	close() error
}

// New opens folders and archives. The Finder searches them in this order. An error has the
// path of what could not be opened.
func New(paths []string) (*Finder, error) {
	f := &Finder{classes: map[string]*classSource{}, files: map[sourceFile]*loaded{}, asked: map[place]miss{}, left: maxRead}
	f.classPath.left = maxRead
	for _, p := range paths {
		if err := f.Add(p); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Add opens one more folder or archive, which is searched last. It is for before the first
// line is asked for.
func (f *Finder) Add(path string) error {
	t, err := openTree(path)
	if err == nil {
		f.trees = append(f.trees, t)
	}
	return err
}

// Know tells what is known of the program, before the first line is asked for: the names of
// source files by class, and the folders and jars that the JVM has classes from.
func (f *Finder) Know(sourceFiles map[string]string, classPath []string) {
	f.told = sourceFiles
	f.classPath.add(classPath...)
}

// Close closes the archives.
func (f *Finder) Close() error {
	errs := f.classPath.close()
	for _, t := range f.trees {
		errs = append(errs, t.close())
	}
	f.trees = nil
	return errors.Join(errs...)
}

// Place gives the file, by its name below the root of its sources, and the line in it that a
// number stands for in the code of a class. Number 0 is for the class's own file. A method may
// stand behind the class.
func (f *Finder) Place(class string, number int) (file string, line int) {
	class, _, _ = strings.Cut(class, "::")
	at, line := f.place(f.class(class), number)
	if at == nowhere {
		return "", 0
	}
	return at.path(), line
}

// place gives the file and the line that a number stands for.
func (f *Finder) place(c *classSource, number int) (sourceFile, int) {
	file, line, ok := c.debug.find(number)
	if !ok {
		return c.file, number
	}
	if file.dir == unknownDir {
		file.dir = c.file.dir
	}
	return file, line
}

// Lines gives all lines of a file that Place has named; none where there is no such file.
func (f *Finder) Lines(file string) []string {
	dir, base := path.Split(file)
	var lines []string
	for _, line := range f.load(sourceFile{strings.TrimSuffix(dir, "/"), base}).lines {
		lines = append(lines, strings.TrimRight(visible(line), " "))
	}
	return lines
}

// Line gives the line that a number stands for in the code of a class. A method may stand
// behind the class: java.util.HashMap$Node::getValue.
func (f *Finder) Line(class string, number int) Line {
	class, _, _ = strings.Cut(class, "::")
	if number < 1 {
		return Line{}
	}
	c := f.class(class)
	file, at := f.place(c, number)
	if file == nowhere {
		return Line{}
	}
	m := miss{class: class, file: file, line: at, root: c.root, mapped: c.debug != nil}
	l := Line{File: file.base, Number: at}
	if file == c.file {
		m.compiled = c.lines()
	} else {
		m.root = "" // that of the class which it was inlined into
	}
	l.Text, m.problem = f.text(file, at, &m)
	f.asked[place{class, number}] = m
	return l
}

// nowhere is what Kotlin's compiler names as the file of code that it made up
// (SourceMapper's callSite markers, KotlinDebug).
var nowhere = sourceFile{"kotlin/jvm/internal", "fake.kt"}

// text gives a line of a file, or why there is none.
func (f *Finder) text(file sourceFile, line int, m *miss) (string, problem) {
	source := f.load(file)
	m.paths, m.lines = source.paths, len(source.lines)
	switch n := len(source.lines); {
	case source.lines == nil:
		return "", source.problem
	case m.compiled > 0 && m.compiled != n && m.compiled != n+1: // Kotlin counts the end of the last line
		return "", changed
	case line > len(source.lines):
		return "", beyond
	}
	text := clean(source.lines[line-1])
	if text == "" {
		return "", blank
	}
	return text, found
}

// A loaded is the lines of a file, or why there are none.
type loaded struct {
	lines   []string
	problem problem
	paths   []string // of the files that are as likely
}

// load reads a file, once.
func (f *Finder) load(file sourceFile) *loaded {
	l := f.files[file]
	if l == nil {
		l = &loaded{problem: noFile}
		for _, t := range f.trees {
			if alike := f.alike(t, file); len(alike) == 1 {
				l = &loaded{lines: strings.Split(strings.TrimSuffix(string(alike[0].text), "\n"), "\n")}
			} else if len(alike) > 1 {
				l = &loaded{problem: ambiguous, paths: []string{t.path(alike[0].name), t.path(alike[1].name)}}
			}
			if l.problem != noFile {
				break
			}
		}
		f.files[file] = l
	}
	return l
}

// A candidate is a file that may be the one that is looked for.
type candidate struct {
	name string
	text []byte
}

// alike gives the likeliest file of a tree, and those that are as likely and differ from it.
func (f *Finder) alike(t tree, file sourceFile) []candidate {
	pkg := strings.ReplaceAll(file.dir, "/", ".")
	var all []candidate
	take := func(name string, byPath bool) (done bool) {
		if len(all) > 0 && (depth(name) != depth(all[0].name) && byPath || isTest(name) && !isTest(all[0].name)) {
			return true
		}
		head, err := f.left.head(t, name, headSize)
		if err != nil || !belongs(head, file.base, pkg, byPath) {
			return false
		}
		text, err := f.left.all(t, name, maxFileSize)
		if err == nil && !slices.ContainsFunc(all, func(c candidate) bool { return bytes.Equal(c.text, text) }) {
			all = append(all, candidate{name, text})
		}
		return len(all) > 1
	}
	tried := 0
	for name := range t.find(file.path()) {
		// Of the paths that come first, no two are as short.
		if tried++; take(name, true) || tried > maxAlike || len(all) > 0 && depth(name) <= depth(file.path()) {
			break
		}
	}
	if len(all) > 0 {
		return all
	}
	others := slices.DeleteFunc(slices.Clone(t.named(file.base)), func(name string) bool { return endsIn(name, file.path()) })
	slices.SortFunc(others, func(a, b string) int { return cmp.Or(compareTests(a, b), compareLikely(a, b)) })
	for _, name := range others[:min(len(others), maxAlike)] {
		if take(name, false) {
			break
		}
	}
	return all
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
