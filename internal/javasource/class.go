package javasource

import (
	"cmp"
	"path"
	"strings"
)

// A classSource is where the code of a class is from.
type classSource struct {
	file  sourceFile
	root  string // the folder or jar that has the class file; "" when it was not found
	debug smap   // nil for a class whose code is all from file
}

// lines is how many lines the file had when the class was compiled; 0 when nobody knows.
// Kotlin's maps begin with the lines of the class's own file.
func (c *classSource) lines() int {
	if path.Ext(c.file.base) == ".kt" && len(c.debug) > 0 {
		if own := c.debug[0]; own.file == c.file && own.from == 1 && own.line == 1 && own.each == 1 {
			return own.to - own.from
		}
	}
	return 0
}

// class finds out where the code of a class is from, once.
func (f *Finder) class(name string) *classSource {
	c := f.classes[name]
	if c == nil {
		c = f.findClass(name)
		f.classes[name] = c
	}
	return c
}

func (f *Finder) findClass(name string) *classSource {
	plain := name
	if i := strings.IndexAny(plain, "/+"); i >= 0 {
		plain = plain[:i] // the address of a hidden class stands there
	}
	// The class of a lambda has no lines, or those of the class that the lambda is in.
	plain, _, _ = strings.Cut(plain, "$$Lambda")
	dir, outer := outerClass(plain)
	c := &classSource{file: sourceFile{dir: dir, base: cmp.Or(f.told[name], f.told[plain])}}
	file, root, ok := classFile{}, "", false
	if !onlyJDK(dir) {
		file, root, ok = f.classPath.find(plain)
	}
	// A class file that names another source is not the one that the JVM has.
	if ok && (c.file.base == "" || c.file.base == file.source) {
		c.file.base, c.root, c.debug = file.source, root, parseSMAP(file.debug)
	}
	if c.file.base == "" {
		c.file.base = f.guess(dir, outer)
	}
	return c
}

// onlyJDK tells whether a class is in a package that no class path has. To look for it there
// opens all that is on the class path.
func onlyJDK(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return top == "java" || top == "jdk" || top == "sun"
}

// outerClass takes the name of a class apart: the folder of its package, and the name of the
// class that it is in, or its own. For java.util.HashMap$Node these are java/util and HashMap.
func outerClass(class string) (dir, outer string) {
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		dir, class = class[:i], class[i+1:]
	}
	// A dollar sign begins the name of an inner class, but not at the start of the name.
	inner := strings.TrimLeft(class, "$")
	if i := strings.IndexByte(inner, '$'); i >= 0 {
		class = class[:len(class)-len(inner)+i]
	}
	return strings.ReplaceAll(dir, ".", "/"), class
}

// guess gives the likeliest name of the file of a class: Foo.java, or a file of another
// language of which there is one. Kotlin has the functions of Foo.kt in the class FooKt.
func (f *Finder) guess(dir, outer string) string {
	usual := outer + ".java"
	if f.load(sourceFile{dir, usual}).problem != noFile {
		return usual
	}
	for _, end := range []string{".kt", ".scala", ".groovy"} {
		file := sourceFile{dir, outer + end}
		if declares([]byte(strings.Join(f.load(file).lines, "\n")), outer) {
			return file.base
		}
	}
	if functionsOf, ok := strings.CutSuffix(outer, "Kt"); ok && f.load(sourceFile{dir, functionsOf + ".kt"}).lines != nil {
		return functionsOf + ".kt"
	}
	if f.load(sourceFile{dir, outer + ".clj"}).lines != nil {
		return outer + ".clj"
	}
	return usual
}
