package javasource

import (
	"archive/zip"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxClassPath is the maximum number of directories and jars of a class path that are used. The rest are ignored. This
// also limits the number of jars that are open at once, because a jar stays open until the classPath is closed.
const maxClassPath = 2000

// A classPath finds class files in the directories and jars from which a JVM has loaded its classes. It opens the next
// directory or jar only if a class is in none of those that are already open.
type classPath struct {
	next []string // paths that were not opened yet
	seen map[string]bool
	// nested are the jars inside the jar that was opened last. They are searched before the rest of the class path.
	nested        []*zip.File
	nestedEntries int // number of files in all nested jars that were opened so far
	open          []classRoot
	left          allowance
	lists         lists
}

// A classRoot is a directory or a jar with classes.
type classRoot struct {
	tree
	name string // without its directory: "scala-library-2.13.14.jar"
}

// add appends the paths that were not added before. A path that ends in "/*" stands for all jars in that directory.
func (c *classPath) add(paths ...string) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	for _, p := range paths {
		all := []string{p}
		if folder, isAll := strings.CutSuffix(p, string(filepath.Separator)+"*"); isAll {
			all = jarsIn(folder)
		}
		for _, p := range all {
			if p != "" && !c.seen[p] && len(c.seen) < maxClassPath {
				c.seen[p] = true
				c.next = append(c.next, p)
			}
		}
	}
}

// maxFolder is the maximum number of entries of a directory of jars that are read. The rest are ignored.
const maxFolder = 100_000

// jarsIn returns the paths of the jars in a directory, sorted.
func jarsIn(folder string) (jars []string) {
	entries := 0
	eachEntry(folder, 0, func(e fs.DirEntry) (more bool) {
		if strings.EqualFold(filepath.Ext(e.Name()), ".jar") {
			jars = append(jars, filepath.Join(folder, e.Name()))
		}
		entries++
		return entries < maxFolder
	})
	slices.Sort(jars)
	return jars
}

// find searches for the class file of a class like "a.b.Foo$Bar" and parses it. root is the name of the directory or
// jar in which the class file was found. ok is false if it was not found.
func (c *classPath) find(class string) (found classFile, root string, ok bool) {
	file := strings.ReplaceAll(class, ".", "/") + ".class"
	if !fs.ValidPath(file) {
		return found, "", false
	}
	for i := 0; i < len(c.open) || c.openNext(); i++ {
		for _, name := range []string{file, "BOOT-INF/classes/" + file, "WEB-INF/classes/" + file} {
			data, err := c.left.all(c.open[i].tree, name, maxFileSize)
			if err != nil {
				continue
			}
			if found, err = parseClass(data); err == nil {
				return found, c.open[i].name, true
			}
		}
	}
	return found, "", false
}

// openNext opens the next directory or jar. It skips any that can't be opened, and returns false if none is left.
func (c *classPath) openNext() bool {
	if c.openNested() {
		return true
	}
	for len(c.next) > 0 {
		p := c.next[0]
		c.next = c.next[1:]
		t, err := openTree(p, &c.lists)
		if err != nil {
			continue
		}
		c.open = append(c.open, classRoot{t, filepath.Base(p)})
		if jar, isJar := t.(*zipFile); isJar {
			c.nested = nestedJars(jar.archive)
			manifest, _ := c.left.all(t, "META-INF/MANIFEST.MF", maxManifest) // nil after an error
			before := slices.Clone(c.next)
			c.next = nil
			c.add(manifestClassPath(string(manifest), p)...) // searched directly after the jar
			c.next = append(c.next, before...)
		}
		return true
	}
	return false
}

func (c *classPath) close() (errs []error) {
	for _, r := range c.open {
		errs = append(errs, r.close())
	}
	c.open, c.next, c.nested = nil, nil, nil
	return errs
}

// maxManifest is an upper bound for the size of a manifest in bytes. A larger manifest is ignored.
const maxManifest = 4 << 20

// manifestClassPath returns the paths in the Class-Path of a jar's manifest. Class-Path is a list of URLs, which may be
// relative to the jar's own URL. In a manifest, a line that begins with a blank continues the line before it.
func manifestClassPath(manifest, jar string) []string {
	manifest = strings.NewReplacer("\r\n ", "", "\n ", "", "\r ", "").Replace(manifest)
	for line := range strings.FieldsFuncSeq(manifest, func(r rune) bool { return r == '\n' || r == '\r' }) {
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(name, "Class-Path") {
			continue
		}
		var paths []string
		for _, field := range strings.Fields(value) {
			u, err := url.Parse(field)
			switch {
			case err != nil || u.Path == "" || u.Scheme != "" && u.Scheme != "file":
			case path.IsAbs(u.Path):
				paths = append(paths, filepath.FromSlash(u.Path))
			default:
				paths = append(paths, filepath.Join(filepath.Dir(jar), filepath.FromSlash(u.Path)))
			}
		}
		return paths
	}
	return nil
}
