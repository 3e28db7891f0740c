// Package javasource finds source lines by class and line number, in directories and in archives of sources, such as
// the JDK's src.zip and the -sources.jar of a library. The sources may be in any language that is compiled to class
// files.
//
// # Which file
//
// A class file contains the name of its source file without directories, in its SourceFile attribute. The JVM has it
// in memory, and package nmethod copies it. If it is not known from there, the class file itself is read from the
// program's class path ([Finder.Know]). If it is not there either, the name is guessed: the class a.b.Bench is in
// Bench.java, or in a file of another language that declares it.
//
// The path of the source file of the class a.b.Bench ends in a/b/Bench.java. Before that there may be directories,
// such as src/main/java, or the name of a module (java.base/java/util/HashMap.java). A path may end like this by
// chance, so the file must also declare the package a.b. Files of Kotlin and Scala may be in any directory; they are
// found by their name and the package that they declare. If several files are equally likely, none is chosen, because
// no line is better than a wrong one.
//
// # Which line
//
// A class may contain code from other source files: Kotlin's compiler copies inline functions into their callers. The
// class file says for each line number which line of which file it stands for (see smap). Without the class file,
// such numbers are beyond the end of the class's own file.
//
// [Finder.Missing] returns how many lines were not found, and why.
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
	// maxFileSize is an upper bound for the size of a source file or a class file in bytes. A larger file must be
	// something else and is ignored.
	maxFileSize = 16 << 20
	// headSize is how many bytes of a file are searched for its package. A licence takes less.
	headSize = 64 << 10
	// maxAlike is how many files with the same name are looked at in a tree.
	maxAlike = 200
)

// A Finder finds source lines. It reads a file once, when one of its lines is first needed. It is not safe for
// concurrent use.
type Finder struct {
	trees     []tree
	classPath classPath
	told      map[string]string // names of source files by class, as given to Know
	classes   map[string]*classSource
	files     map[sourceFile]*loaded
	asked     map[classLine]miss
	left      allowance // for source files
}

// A Line is a line of source.
type Line struct {
	File   string // without directories; "" if it is unknown
	Number int    // line number in the file
	Text   string // without surrounding blanks; "" if it was not found
}

// A sourceFile is the name of a file and the directory that its package requires.
type sourceFile struct{ dir, base string }

// unknownDir is the directory of a file whose package is not given.
const unknownDir = "?"

func (s sourceFile) path() string { return path.Join(s.dir, s.base) }

// A tree is a directory or an archive with source files.
type tree interface {
	// find returns the paths in the tree that end in the path of a file, likeliest first. Paths that take long to
	// find come last.
	find(file string) iter.Seq[string]
	// named returns the paths of all source files with a name.
	named(base string) []string
	// open opens the file at such a path, and path returns the path that is shown to users.
	open(name string) (io.ReadCloser, error)
	path(name string) string
	close() error
}

// New returns a Finder that searches directories and archives in the order of their paths. An error contains the path
// that could not be opened.
func New(paths []string) (*Finder, error) {
	f := &Finder{classes: map[string]*classSource{}, files: map[sourceFile]*loaded{}, asked: map[classLine]miss{},
		left: maxRead}
	f.classPath.left = maxRead
	for _, p := range paths {
		if err := f.Add(p); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Add opens one more directory or archive, which is searched last. It must be called before the first line is asked
// for.
func (f *Finder) Add(path string) error {
	t, err := openTree(path, new(lists))
	if err == nil {
		f.trees = append(f.trees, t)
	}
	return err
}

// Know sets what is known about the program: the names of source files by class, and the directories and jars from
// which the JVM has loaded classes. It must be called before the first line is asked for.
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

// Place returns the file and the line that a line number in the code of a class stands for. The file is a path
// relative to the root of its sources. Number 0 stands for the class's own file. The class may be followed by a
// method (a.b.Bench::run).
func (f *Finder) Place(class string, number int) (file string, line int) {
	class, _, _ = strings.Cut(class, "::")
	at, line := f.place(f.class(class), number)
	if at == nowhere {
		return "", 0
	}
	return at.path(), line
}

// place returns the file and the line that a line number stands for.
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

// Lines returns all lines of a file that Place has returned, or nil if the file does not exist.
func (f *Finder) Lines(file string) []string {
	dir, base := path.Split(file)
	var lines []string
	for _, line := range f.load(sourceFile{strings.TrimSuffix(dir, "/"), base}).lines {
		lines = append(lines, strings.TrimRight(visible(line), " "))
	}
	return lines
}

// Line returns the line that a line number in the code of a class stands for. The class may be followed by a method:
// java.util.HashMap$Node::getValue.
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
		m.root = "" // it is the root of the class that the code was inlined into
	}
	l.Text, m.problem = f.text(file, at, &m)
	f.asked[classLine{class, number}] = m
	return l
}

// nowhere is the file name that Kotlin's compiler gives to code that it has generated (SourceMapper's callSite
// markers, KotlinDebug).
var nowhere = sourceFile{"kotlin/jvm/internal", "fake.kt"}

// text returns a line of a file, or why there is none.
func (f *Finder) text(file sourceFile, line int, m *miss) (string, problem) {
	source := f.load(file)
	m.paths, m.lines = source.paths, len(source.lines)
	switch n := len(source.lines); {
	case source.lines == nil:
		return "", source.problem
	case m.compiled > 0 && m.compiled != n && m.compiled != n+1: // Kotlin also counts the end of the last line
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

// A loaded has the lines of a file, or the reason why there are none.
type loaded struct {
	lines   []string
	problem problem
	paths   []string // two paths that are equally likely
}

// load returns the lines of a file. It reads each file only once.
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

// A candidate is a file that may be the one being looked for.
type candidate struct {
	name string
	text []byte
}

// alike returns the likeliest file of a tree, and files that are as likely and have other contents.
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
		// Among the first paths, no two are as short as this.
		if tried++; take(name, true) || tried > maxAlike || len(all) > 0 && depth(name) <= depth(file.path()) {
			break
		}
	}
	if len(all) > 0 {
		return all
	}
	others := slices.DeleteFunc(slices.Clone(t.named(file.base)),
		func(name string) bool { return endsIn(name, file.path()) })
	slices.SortFunc(others, func(a, b string) int { return cmp.Or(compareTests(a, b), compareLikely(a, b)) })
	for _, name := range others[:min(len(others), maxAlike)] {
		if take(name, false) {
			break
		}
	}
	return all
}

// clean makes a source line fit to be printed. It replaces tabs by blanks, and each invisible character by one blank,
// because such characters can change the colours of a terminal or the order of letters. It removes surrounding
// blanks.
func clean(line string) string { return strings.TrimSpace(visible(line)) }

// visible is clean, but keeps the surrounding blanks.
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
