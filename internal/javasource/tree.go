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
	"syscall"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// maxEntries is the maximum number of files and directories of a tree that are looked at. The rest are ignored. Even a
// large project has fewer. The limit saves time if the user has named a directory such as / by mistake.
const maxEntries = 1_000_000

// openTree opens a directory or an archive. The size of an archive's list of files is added to l.
func openTree(p string, l *lists) (tree, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, err // it contains the path
	}
	if info.IsDir() {
		if p, err = filepath.EvalSymlinks(p); err != nil { // resolve links, because walk does not follow them
			return nil, err
		}
		opened, err := openFolder(p, 0)
		if err != nil {
			return nil, err
		}
		defer opened.Close()
		if _, err := opened.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return &folder{dir: p}, nil
	}
	file, size, err := regular.Open(p)
	if err != nil {
		return nil, err // it contains the path
	}
	archive, err := l.archive(file, size)
	if err != nil {
		file.Close()
		if errors.Is(err, zip.ErrFormat) {
			return nil, errNoTree(p)
		}
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return &zipFile{name: p, archive: archive, file: file}, nil
}

func errNoTree(p string) error { return fmt.Errorf("%s is neither a folder nor a jar or zip", p) }

// An index has the paths of a tree's source files by their last element: "HashMap.java".
type index map[string][]string

func (x index) add(name string) {
	if base := path.Base(name); isSource(base) {
		x[base] = append(x[base], name)
	}
}

// find returns the paths that end in a path like "java/util/HashMap.java", likeliest first.
func (x index) find(file string) []string {
	var found []string
	for _, name := range x[path.Base(file)] {
		if endsIn(name, file) {
			found = append(found, name)
		}
	}
	slices.SortFunc(found, compareLikely)
	return found
}

// endsIn reports whether a path ends in another one, element by element: "src/a/b/C.java" ends in "a/b/C.java".
func endsIn(name, file string) bool { return name == file || strings.HasSuffix(name, "/"+file) }

// compareLikely compares two paths of files with the same name, for sorting. The path with fewer elements comes first,
// because copies of a source tree are usually deeper than the tree. Of two paths with the same depth, that of a test
// comes last.
func compareLikely(a, b string) int {
	return cmp.Or(cmp.Compare(depth(a), depth(b)), compareTests(a, b), cmp.Compare(a, b))
}

// compareTests compares two paths, for sorting. The paths of tests come after all others.
func compareTests(a, b string) int {
	test := func(name string) int {
		if isTest(name) {
			return 1
		}
		return 0
	}
	return cmp.Compare(test(a), test(b))
}

func depth(name string) int { return strings.Count(name, "/") }

// isTest reports whether a path contains one of the directories that Maven, Gradle and sbt use for tests.
func isTest(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(element string) bool {
		return element == "test" || element == "tests" || element == "it"
	})
}

// A folder is a tree on disk: the root of sources, or a project that contains one or more such roots.
type folder struct {
	dir   string
	index index // nil until it is needed
}

// find first tries the path file, which is right if the folder is the root of sources, and then the last element of
// file, which is right if the folder is the directory of the class's package. The folder is walked only if the caller
// asks for more paths.
//
// The file names come from the capture, whose author may be somebody else and may try to make gasm show other files,
// such as .env. So only files of known languages are found.
func (f *folder) find(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !fs.ValidPath(file) || !isSource(path.Base(file)) {
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

func (f *folder) named(base string) []string {
	if f.index == nil {
		f.walk()
	}
	return f.index[base]
}

// walk fills the index. It skips directories that can't be read, and directories whose names begin with a dot, because
// a package can't have such a name.
func (f *folder) walk() {
	f.index = index{}
	entries := 0
	folders := []string{"."} // still to be read; relative to f.dir, with slashes
	for len(folders) > 0 && entries < maxEntries {
		at := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		eachEntry(f.path(at), syscall.O_NOFOLLOW, func(e fs.DirEntry) (more bool) {
			entries++
			switch name := path.Join(at, e.Name()); {
			case e.IsDir() && !strings.HasPrefix(e.Name(), "."):
				folders = append(folders, name)
			case e.Type().IsRegular():
				f.index.add(name)
			}
			return entries < maxEntries
		})
	}
}

// eachEntry calls see(entry) for each entry of a folder, in no particular order, until see returns false. It reads the
// entries in portions, so it never needs memory for all of them. If the folder can't be read, it does nothing.
func eachEntry(folder string, flags int, see func(fs.DirEntry) (more bool)) {
	opened, err := openFolder(folder, flags)
	if err != nil {
		return
	}
	defer opened.Close()
	for {
		entries, err := opened.ReadDir(1000)
		for _, e := range entries {
			if !see(e) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// openFolder opens a folder, with additional flags of open(2). It returns an error for other files, and does not block
// if the folder was replaced with a named pipe.
func openFolder(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|flags, 0)
}

func (f *folder) open(name string) (io.ReadCloser, error) {
	file, _, err := regular.Open(f.path(name))
	return file, err
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *folder) close() error { return nil }

// A zipFile is a tree in a jar or zip file.
type zipFile struct {
	name    string
	archive *zip.Reader
	file    io.Closer
	index   index // nil until it is needed
}

func (z *zipFile) find(file string) iter.Seq[string] { return slices.Values(z.entries().find(file)) }

func (z *zipFile) named(base string) []string { return z.entries()[base] }

func (z *zipFile) entries() index {
	if z.index == nil {
		z.index = index{}
		for _, f := range z.archive.File[:min(len(z.archive.File), maxEntries)] {
			z.index.add(f.Name)
		}
	}
	return z.index
}

func (z *zipFile) open(name string) (io.ReadCloser, error) { return z.archive.Open(name) }

func (z *zipFile) path(name string) string { return filepath.Join(z.name, filepath.FromSlash(name)) }

func (z *zipFile) close() error { return z.file.Close() }

// An allowance is the number of bytes that may still be read. It bounds the time and memory for archives whose files
// unpack to a thousand times their size.
type allowance int64

// maxRead is the maximum number of bytes of source files that a Finder reads. Class files and nested jars together have
// the same limit. Programs need less for the sources or classes of their hot code. When the limit is reached, nothing
// more is read.
const maxRead allowance = 256 << 20

// all returns the content of a file of a tree. It returns an error if the file has more than limit bytes.
func (a *allowance) all(t tree, name string, limit int64) ([]byte, error) {
	text, err := a.head(t, name, limit+1)
	if err == nil && int64(len(text)) > limit {
		err = errors.New("too large for what it should be")
	}
	return text, err
}

// head returns the first limit bytes of a file of a tree. If the allowance is used up, the error is errSpent.
func (a *allowance) head(t tree, name string, limit int64) ([]byte, error) {
	if int64(*a) < limit { // reading one byte beyond the allowance shows that it is exceeded
		limit = int64(*a) + 1
	}
	file, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit))
	if *a -= allowance(len(text)); *a < 0 {
		*a = 0
		return nil, errSpent
	}
	return text, err
}

var errSpent = fmt.Errorf("more than %d MiB were read already", maxRead>>20)
