package javasource

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// maxEntries is how many files and folders of a tree are looked at. It is more than a large
// project has, and it bounds the time for a folder that was named by mistake, such as /.
const maxEntries = 1_000_000

// openTree opens a folder or an archive.
func openTree(p string) (tree, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, err // it has the path
	}
	if info.IsDir() {
		if p, err = filepath.EvalSymlinks(p); err != nil { // WalkDir does not follow links
			return nil, err
		}
		if _, err := os.ReadDir(p); err != nil {
			return nil, err
		}
		return &folder{dir: p}, nil
	}
	file, _, err := regular.Open(p)
	if err != nil {
		return nil, err // it has the path
	}
	file.Close()
	archive, err := zip.OpenReader(p)
	switch {
	case errors.Is(err, zip.ErrFormat):
		return nil, errNoTree(p)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return &zipFile{archive: archive}, nil
}

func errNoTree(p string) error { return fmt.Errorf("%s is neither a folder nor a jar or zip", p) }

// An index has the paths of a tree's Java files, by the last element of the path.
type index map[string][]string

func (x index) add(name string) {
	if base := path.Base(name); strings.HasSuffix(base, ".java") {
		x[base] = append(x[base], name)
	}
}

// find gives the paths that end in the path of a file, in whole elements. Those with the
// fewest elements come first: copies of a tree of sources are deeper. Of the others, the
// first of the alphabet comes first: src/main before src/test.
func (x index) find(file string) []string {
	var found []string
	for _, name := range x[path.Base(file)] {
		if name == file || strings.HasSuffix(name, "/"+file) {
			found = append(found, name)
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return found
}

// A folder is a tree on disk: the root of sources, or a project that has one or more of
// these.
type folder struct {
	dir   string
	index index // nil until it is needed
}

// find tries the paths first that are right if the folder is the root of sources, or the
// folder of the class's package. So it does not walk through the root of sources for a
// class that is there.
func (f *folder) find(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !fs.ValidPath(file) {
			return
		}
		for _, name := range []string{file, path.Base(file)} {
			info, err := os.Stat(f.path(name))
			if err == nil && info.Mode().IsRegular() && !yield(name) {
				return
			}
		}
		if f.index == nil {
			f.walk()
		}
		slices.Values(f.index.find(file))(yield)
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// walk makes the index. It leaves out folders that can't be read, and folders whose names
// begin with a dot, because no package has such a name.
func (f *folder) walk() {
	f.index = index{}
	entries := 0
	_ = filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		entries++
		switch {
		case entries > maxEntries:
			return filepath.SkipAll
		case err != nil && d != nil && d.IsDir():
			return filepath.SkipDir
		case err != nil:
			return nil
		case d.IsDir() && p != f.dir && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.Type().IsRegular():
			if name, err := filepath.Rel(f.dir, p); err == nil {
				f.index.add(filepath.ToSlash(name))
			}
		}
		return nil
	})
}

func (f *folder) read(name string) ([]byte, error) {
	file, _, err := regular.Open(f.path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file)
}

func (f *folder) close() error { return nil }

// A zipFile is a tree in a jar or zip.
type zipFile struct {
	archive *zip.ReadCloser
	index   index // nil until it is needed
}

func (z *zipFile) find(file string) iter.Seq[string] {
	if z.index == nil {
		z.index = index{}
		for _, f := range z.archive.File[:min(len(z.archive.File), maxEntries)] {
			z.index.add(f.Name)
		}
	}
	return slices.Values(z.index.find(file))
}

func (z *zipFile) read(name string) ([]byte, error) {
	file, err := z.archive.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file)
}

func (z *zipFile) close() error { return z.archive.Close() }

// readAll reads a file, unless it is too large to be Java source.
func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFileSize+1))
	if err == nil && len(text) > maxFileSize {
		err = errors.New("too large for a source file")
	}
	return text, err
}
