package javasource

import (
	"cmp"
	"path"
	"strings"
)

// A classSource says from which source files the code of a class was compiled.
type classSource struct {
	file  sourceFile
	root  string // the directory or jar that has the class file; "" if the class file was not found
	debug smap   // nil if all code of the class comes from file
}

// lines returns how many lines the class's own source file had when the class was compiled. Only Kotlin's compiler
// records this: the smap of a Kotlin class begins with a range that covers all lines of the file. For all other classes
// lines returns 0.
func (c *classSource) lines() int {
	if path.Ext(c.file.base) == ".kt" && len(c.debug) > 0 {
		if own := c.debug[0]; own.file == c.file && own.from == 1 && own.line == 1 && own.each == 1 {
			return own.to - own.from
		}
	}
	return 0
}

// class returns the classSource of a class. It searches for each class only once.
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
		plain = plain[:i] // cut off the address that follows the name of a hidden class: "Foo$$Lambda/0x00007f…"
	}
	// The class of a lambda has no line numbers, or those of the class that contains the lambda.
	plain, _, _ = strings.Cut(plain, "$$Lambda")
	dir, outer := outerClass(plain)
	c := &classSource{file: sourceFile{dir: dir, base: cmp.Or(f.told[name], f.told[plain])}}
	file, root, ok := classFile{}, "", false
	if !onlyJDK(dir) {
		file, root, ok = f.classPath.find(plain)
	}
	// If the class file names another source file than the JVM does, it is another version of the class and is ignored.
	if ok && (c.file.base == "" || c.file.base == file.source) {
		c.file.base, c.root, c.debug = file.source, root, parseSMAP(file.debug)
	}
	if c.file.base == "" {
		c.file.base = f.guess(dir, outer)
	}
	return c
}

// onlyJDK reports whether classes of the package in dir can only come from the JDK. Searching the class path for such a
// class would open every jar for nothing.
func onlyJDK(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return top == "java" || top == "jdk" || top == "sun"
}

// outerClass splits the name of a class into the directory of its package and the name of its outermost class. For
// java.util.HashMap$Node these are java/util and HashMap.
func outerClass(class string) (dir, outer string) {
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		dir, class = class[:i], class[i+1:]
	}
	// A dollar sign begins the name of an inner class, unless it is at the start of the name.
	inner := strings.TrimLeft(class, "$")
	if i := strings.IndexByte(inner, '$'); i >= 0 {
		class = class[:len(class)-len(inner)+i]
	}
	return strings.ReplaceAll(dir, ".", "/"), class
}

// guess returns the likeliest name of the source file of an outermost class. For Foo, that is Foo.java, or a file of
// another language that exists, such as Foo.kt. For FooKt, it may also be Foo.kt, because Kotlin compiles the functions
// in Foo.kt to the class FooKt.
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
	if functionsOf, ok := strings.CutSuffix(outer, "Kt"); ok &&
		f.load(sourceFile{dir, functionsOf + ".kt"}).lines != nil {
		return functionsOf + ".kt"
	}
	if f.load(sourceFile{dir, outer + ".clj"}).lines != nil {
		return outer + ".clj"
	}
	return usual
}
