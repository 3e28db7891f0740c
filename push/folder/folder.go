// Package folder keeps profiles in a folder, as files in pprof's format. Each hour (of UTC) has a folder of its own:
//
//	2026-11-27T13/20261127T130215Z-shop-4711.pb.gz
//	2026-11-27T13/20261127T130215Z-shop-4711-lock.pb.gz
//
// The total size of the files is limited: the oldest ones are removed. Other files in the folder are left alone.
package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/push"
)

// Layouts of time for the names of folders and files.
const (
	hourLayout = "2006-01-02T15"
	timeLayout = "20060102T150405Z"
)

// Patterns for the names of a Folder's own folders and files. A file whose name ends with .part is incomplete, because
// gasm was killed while it wrote the file.
var (
	hourName = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d$`)
	fileName = regexp.MustCompile(`^\d{8}T\d{6}Z-[A-Za-z0-9._-]*\.pb\.gz(\.part)?$`)
)

// A Folder keeps profiles in a folder.
type Folder struct {
	path  string
	limit int64
	root  *os.Root
	size  int64 // of all files
}

// Open creates the folder if it does not exist, and adds up the files in it. limit is the maximum size of all files, in
// bytes.
func Open(path string, limit int64) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{path: path, limit: limit, root: root}
	hours, err := f.hours()
	for _, hour := range hours {
		if err == nil {
			err = f.eachFile(hour, func(_ string, size int64) bool { f.size += size; return true })
		}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return f, nil
}

// String returns the folder's name in the form that the flag --to has.
func (f *Folder) String() string { return "dir:" + f.path }

// hours returns the names of the folders for an hour, oldest first.
func (f *Folder) hours() (names []string, err error) {
	return f.names(".", func(e fs.DirEntry) bool { return e.IsDir() && hourName.MatchString(e.Name()) })
}

// names returns the names of those entries of a folder for which wanted returns true, sorted.
func (f *Folder) names(folder string, wanted func(fs.DirEntry) bool) (names []string, err error) {
	dir, err := f.root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	for _, e := range entries {
		if wanted(e) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

// eachFile calls yield with the files of an hour, oldest first, until yield returns false.
func (f *Folder) eachFile(hour string, yield func(name string, size int64) bool) error {
	names, err := f.names(hour, func(e fs.DirEntry) bool { return e.Type().IsRegular() && fileName.MatchString(e.Name()) })
	for _, name := range names {
		name = path.Join(hour, name)
		if info, err := f.root.Lstat(name); err == nil && !yield(name, info.Size()) { // an error: somebody has removed it
			break
		}
	}
	return err
}

// Send writes a profile to a file. Before that, it removes the oldest files if the limit would be exceeded.
func (f *Folder) Send(_ context.Context, p *push.Profile) error {
	size := int64(len(p.Pprof))
	if size > f.limit {
		return &push.RefusedError{Reason: fmt.Sprintf("a profile of %d bytes is larger than the limit", size)}
	}
	if err := f.makeRoom(size); err != nil {
		return err
	}
	hour := p.To.UTC().Format(hourLayout)
	if err := f.root.Mkdir(hour, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	name := path.Join(hour, nameOf(p))
	part := name + ".part"
	err := f.root.WriteFile(part, p.Pprof, 0o600)
	if err == nil {
		err = f.root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(f.root.Remove(part)))
	}
	f.size += size
	return nil
}

// nameOf returns the name of a profile's file. The name ends with the kind of the profile, unless that is CPU.
func nameOf(p *push.Profile) string {
	service := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, cmp.Or(p.Label(push.ServiceName), "java"))
	service = service[:min(len(service), 80)]
	kind := ""
	if p.Kind != push.CPU {
		kind = "-" + p.Kind.String()
	}
	return fmt.Sprintf("%s-%s-%s%s.pb.gz", p.To.UTC().Format(timeLayout), service, p.Label(push.ProcessID), kind)
}

// makeRoom removes the oldest files until there is room for the given number of bytes, and then the empty folders of
// hours.
func (f *Folder) makeRoom(bytes int64) error {
	if f.size+bytes <= f.limit {
		return nil
	}
	room := max(bytes, f.limit/16) // more than is needed now, so that the files are not counted again for each profile
	hours, err := f.hours()
	if err != nil {
		return err
	}
	f.size = 0 // others may have removed files, so it is counted again
	for _, hour := range hours {
		if err := f.eachFile(hour, func(_ string, size int64) bool { f.size += size; return true }); err != nil {
			return err
		}
	}
	present := time.Now().UTC().Format(hourLayout)
	for _, hour := range hours {
		err := f.eachFile(hour, func(name string, size int64) bool {
			if f.size+room <= f.limit {
				return false
			}
			if err = f.root.Remove(name); err == nil {
				f.size -= size
			}
			return true
		})
		if err != nil {
			return err
		}
		if f.size+room <= f.limit {
			break
		}
		if hour != present {
			_ = f.root.Remove(hour) // fails if other files are in it
		}
	}
	if f.size+bytes > f.limit {
		return errors.New("files could not be removed, so there is no room")
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
