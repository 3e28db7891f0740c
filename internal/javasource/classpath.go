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

// maxClassPath is more folders and jars than any program has on its class path. It bounds
// how many files are open at once.
const maxClassPath = 2000

// A classPath finds class files in the folders and jars that a JVM has its classes from. It
// opens them one after the other, as they are needed.
type classPath struct {
	next []string // not opened yet
	seen map[string]bool
	// nested are jars in the jar that was opened last. They come before next.
	nested        []*zip.File
	nestedEntries int // of all such jars that were opened
	open          []classRoot
	left          allowance
}

// A classRoot is a folder or a jar of classes.
type classRoot struct {
	tree
	name string // without its folder: "scala-library-2.13.14.jar"
}

// add appends paths, each once. A path that ends in "/*" is all jars of a folder.
func (c *classPath) add(paths ...string) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	for _, p := range paths {
		all := []string{p}
		if folder, isAll := strings.CutSuffix(p, string(filepath.Separator)+"*"); isAll {
			all, _ = filepath.Glob(filepath.Join(escapeGlob(folder), "*.[jJ][aA][rR]")) // its pattern is right
		}
		for _, p := range all {
			if p != "" && !c.seen[p] && len(c.seen) < maxClassPath {
				c.seen[p] = true
				c.next = append(c.next, p)
			}
		}
	}
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// find reads the class file of a class: "a.b.Foo$Bar". root is the name of the folder or jar
// that has it.
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

// openNext opens the next folder or jar; false when there is none. Those that are not there
// any more are left out.
func (c *classPath) openNext() bool {
	if c.openNested() {
		return true
	}
	for len(c.next) > 0 {
		p := c.next[0]
		c.next = c.next[1:]
		t, err := openTree(p)
		if err != nil {
			continue
		}
		c.open = append(c.open, classRoot{t, filepath.Base(p)})
		if jar, isJar := t.(*zipFile); isJar {
			c.nested = nestedJars(jar.archive)
			manifest, _ := c.left.all(t, "META-INF/MANIFEST.MF", maxManifest) // without one there is no more
			before := slices.Clone(c.next)
			c.next = nil
			c.add(manifestClassPath(string(manifest), p)...) // they come right behind the jar
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

// maxManifest is more than any manifest has, in bytes.
const maxManifest = 4 << 20

// manifestClassPath gives the paths of a jar's Class-Path: URLs, relative to the jar's own. A
// line of a manifest goes on in the next one behind a blank.
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
