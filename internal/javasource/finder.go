// Package javasource finds source lines by class and line number, in directories and in archives of sources, such as
// the JDK's src.zip and the -sources.jar of a library. The sources may be in any language that is compiled to class
// files.
//
// # Which file
//
// A class file contains the name of its source file without directories, in its SourceFile attribute. The JVM keeps
// that name in memory, and package nmethod copies it from there. If the name was not copied, the class file is searched
// for on the program's class path ([Finder.Know]). If it is not found there either, the name is guessed: the class
// a.b.Bench is in Bench.java, or in a file of another language that declares the class.
//
// The path of the source file of the class a.b.Bench ends in a/b/Bench.java. The path may begin with further
// directories, such as src/main/java, or with the name of a module (java.base/java/util/HashMap.java). Another file's
// path may end in the same way by chance, so the file must also declare the package a.b. A file of Kotlin or Scala may
// be in any directory; it is found by its name and the package that it declares. If several files are equally likely,
// none of them is used, because showing no line is better than showing a wrong one.
//
// # Which line
//
// A class may contain code from other source files: Kotlin's compiler copies inline functions into their callers. For
// each line number, the class file says which line of which file the number stands for (see smap). If the class file
// was not found, the line numbers of inlined code are not converted, and are beyond the end of the class's own file.
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
	// maxFileSize is an upper bound for the size of a source file or a class file in bytes. A larger file is ignored.
	maxFileSize = 16 << 20
	// headSize is the number of bytes at the beginning of a source file in which the declaration of its package is
	// searched for. A comment with a licence may come before the declaration, but is shorter.
	headSize = 64 << 10
	// maxAlike is the maximum number of files with the same name that are read in one tree.
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
	native    map[string]*nativeFile // source files of native code, by the compiler's path
	asked     map[classLine]miss
	left      allowance // number of bytes of source files that may still be read
}

// A Line is a line of source.
type Line struct {
	File   string // without directories; "" if it is unknown
	Number int    // line number in the file
	Text   string // without surrounding blanks; "" if the line was not found
}

// A sourceFile is the name of a source file ("HashMap.java") and the directory that corresponds to its package
// ("java/util").
type sourceFile struct{ dir, base string }

// unknownDir is the dir of a sourceFile that comes from an smap without the file's package.
const unknownDir = "?"

func (s sourceFile) path() string { return path.Join(s.dir, s.base) }

// A tree is a directory or an archive with source files.
type tree interface {
	// find returns the paths in the tree that end in a path like "java/util/HashMap.java", likeliest first. It does the
	// slow part of the search, such as walking a directory, only when the caller asks for more paths.
	find(file string) iter.Seq[string]
	// named returns the paths of all source files with a name like "HashMap.java", in any directory.
	named(base string) []string
	// The method open opens the file at a path that comes from the method find or named. The method path returns the
	// full path of such a file, for messages.
	open(name string) (io.ReadCloser, error)
	path(name string) string
	close() error
}

// New returns a Finder that searches the directories and archives at the paths, in this order. If one of them can't be
// opened, the error contains its path.
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

// Know tells the Finder about the program. sourceFiles has the names of source files by class, and classPath has the
// directories and jars from which the JVM has loaded classes. It must be called before the first line is asked for.
func (f *Finder) Know(sourceFiles map[string]string, classPath []string) {
	f.told = sourceFiles
	f.classPath.add(classPath...)
}

// Close closes all archives that were opened.
func (f *Finder) Close() error {
	errs := f.classPath.close()
	for _, t := range f.trees {
		errs = append(errs, t.close())
	}
	f.trees = nil
	return errors.Join(errs...)
}

// Place returns the file and the line that a line number in the code of a class stands for. The file is a path relative
// to the root of its sources: "java/util/HashMap.java". The number 0 stands for the class's own file. The class may be
// followed by a method (a.b.Bench::run), which is ignored. Place returns "" for code that a compiler has generated.
func (f *Finder) Place(class string, number int) (file string, line int) {
	class, _, _ = strings.Cut(class, "::")
	at, line := f.place(f.class(class), number)
	if at == nowhere {
		return "", 0
	}
	return at.path(), line
}

// place returns the file and the line that a line number in the code of a class stands for.
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

// Lines returns all lines of a file. file is a path that Place has returned. Lines returns nil if the file was not
// found.
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
		m.root = "" // c.root belongs to the class into which the code was inlined
	}
	l.Text, m.problem = f.text(file, at, &m)
	f.asked[classLine{class, number}] = m
	return l
}

// nowhere is what Kotlin's compiler states as the source file of code that it has generated. There is no such file. See
// the callSite markers in the compiler's SourceMapper, and the stratum KotlinDebug.
var nowhere = sourceFile{"kotlin/jvm/internal", "fake.kt"}

// text returns a line of a file without surrounding blanks. If there is no text, it returns "" and the reason. It saves
// in m what it knows about the file.
func (f *Finder) text(file sourceFile, line int, m *miss) (string, problem) {
	source := f.load(file)
	m.paths, m.lines = source.paths, len(source.lines)
	switch n := len(source.lines); {
	case source.lines == nil:
		return "", source.problem
	case m.compiled > 0 && m.compiled != n && m.compiled != n+1: // Kotlin may count an empty line at the end
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

// The type loaded is the result of searching for a source file and reading it.
type loaded struct {
	lines   []string
	problem problem
	paths   []string // two files that are equally likely, if the problem is the constant ambiguous
}

// load searches for a file in all trees and reads it. It does so only once for each file.
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

// A candidate is a file that may be the wanted source file.
type candidate struct {
	name string
	text []byte
}

// alike returns the likeliest candidate in a tree for a file. If a second candidate with a different content is equally
// likely, it returns both.
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
		// The likeliest path comes first. A path can't be likelier than one that has no directories before file.path().
		// So the search ends when it finds such a path.
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

// clean returns a source line in a form that is safe to print. It replaces a tab with blanks up to the next multiple of
// four columns, and each invisible character with one blank, because such characters can change the colours of a
// terminal or the order of letters. It removes surrounding blanks.
func clean(line string) string { return strings.TrimSpace(visible(line)) }

// visible does the same as the function clean, but keeps the surrounding blanks.
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
