package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A jvmFolder is a folder in the /tmp that a JVM has, which may be of another mount
// namespace. It is the JVM's user's, who is not trusted: what is in it is only taken if it
// is a plain file, and no link leads out of that /tmp (os.Root).
type jvmFolder struct {
	tmp  *os.Root
	name string // in tmp
	path string // as the JVM has it
}

// jvmFolderHead is what the names of such folders begin with.
const jvmFolderHead = "gasm-jvm-"

// errNotThere is a file that the JVM has not written.
var errNotThere = errors.New("it is not there")

// jvmRoot opens the root folder of a process. The folder stays open when the process ends.
func jvmRoot(pid int) (*os.Root, error) {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/%d/root", pid))
	if err != nil {
		return nil, fmt.Errorf("its files can't be looked at: %w", err)
	}
	return root, nil
}

// jvmFolderPath makes up the path of a new folder, as the JVM has it.
func jvmFolderPath() string { return path.Join("/tmp", jvmFolderHead+secretName()) }

// newJVMFolder makes a folder of a path of jvmFolderPath.
func newJVMFolder(pid int, jvmPath string) (f *jvmFolder, err error) {
	owner, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return nil, err
	}
	stat, ok := owner.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, errors.New("nobody knows whose it is")
	}
	root, err := jvmRoot(pid)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f = &jvmFolder{name: path.Base(jvmPath), path: jvmPath}
	if f.tmp, err = root.OpenRoot("tmp"); err != nil {
		return nil, fmt.Errorf("its /tmp can't be used: %w", err)
	}
	if err = f.tmp.Mkdir(f.name, 0o700); err != nil {
		f.tmp.Close()
		return nil, fmt.Errorf("making a folder in its /tmp: %w", err)
	}
	if err = f.own(f.name, stat); err != nil {
		f.remove()
		return nil, err
	}
	return f, nil
}

// own gives a file to the JVM's user.
func (f *jvmFolder) own(name string, stat *syscall.Stat_t) error {
	if os.Geteuid() == int(stat.Uid) && os.Getegid() == int(stat.Gid) {
		return nil
	}
	if err := f.tmp.Lchown(name, int(stat.Uid), int(stat.Gid)); err != nil {
		return fmt.Errorf("giving a folder to its user: %w", err)
	}
	return nil
}

// write writes a file for the JVM. All can read it who can pass the folder.
func (f *jvmFolder) write(name, text string) error {
	file, err := f.tmp.OpenFile(filepath.Join(f.name, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Chmod(0o644); err != nil { // whatever the umask is
		return err
	}
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	return file.Close()
}

// take copies a file of the folder.
func (f *jvmFolder) take(name, to string) error {
	return copyFrom(f.tmp, filepath.Join(f.name, name), to)
}

// copyFrom copies a plain file out of a folder that may be another user's.
func copyFrom(root *os.Root, name, to string) error {
	in, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return errNotThere
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return copyMade(in, to)
}

// remove removes the folder.
func (f *jvmFolder) remove() {
	_ = f.tmp.RemoveAll(f.name) // what can't be removed is the JVM's own
	f.tmp.Close()
}

// A jvmRepository is the folder in which Flight Recorder keeps what it records, until it
// ends. A JVM that is killed leaves it.
type jvmRepository struct {
	root *os.Root // of the JVM
	dir  string   // in root
	own  bool     // a recording of the user's is in it, too
}

// openJVMRepository opens the repository at a path that the JVM has; nil where that can't be.
func openJVMRepository(pid int, dir string, own bool) *jvmRepository {
	root, err := jvmRoot(pid)
	if err != nil {
		return nil
	}
	return &jvmRepository{root, strings.TrimPrefix(dir, "/"), own}
}

func (r *jvmRepository) close() {
	if r != nil {
		r.root.Close()
	}
}

// maxChunks is how many chunks are taken of a JVM that was killed, the newest ones: each has 12 MB.
const maxChunks = 60

// chunks are the parts of the recording that are there, the oldest first. Before JDK 14 the last one is empty, since a JVM
// kept in memory what it had not finished.
func (r *jvmRepository) chunks() (names []string) {
	if r == nil {
		return nil
	}
	folder, err := r.root.Open(r.dir)
	if err != nil {
		return nil // a JVM that ends removes it
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(-1)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 0 && strings.HasSuffix(e.Name(), ".jfr") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names) // they have times
	return names[max(len(names)-maxChunks, 0):]
}

func (r *jvmRepository) take(chunk, to string) error {
	return copyFrom(r.root, filepath.Join(r.dir, chunk), to)
}

// remove removes what a JVM that was killed has left, if it was for gasm alone.
func (r *jvmRepository) remove() {
	if r != nil && !r.own {
		_ = r.root.RemoveAll(r.dir)
	}
}

// openChunk finds the file that a JVM's Flight Recorder writes into, with JDK 11 a .part; "" when it does not record.
func (t *toldJVM) openChunk() string {
	dir := fmt.Sprintf("/proc/%d/fd", t.pid)
	entries, _ := os.ReadDir(dir) // one that has ended has none
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		chunk := strings.HasSuffix(target, ".jfr") || strings.HasSuffix(target, ".part")
		if err == nil && chunk && strings.HasSuffix(filepath.Dir(target), "_"+strconv.Itoa(t.ownPID)) {
			return target
		}
	}
	return ""
}

// ownID is the id that a process, or a thread of it, has itself: in the innermost PID namespace
// that it is in. Where nobody knows it is the same.
func ownID(pid, tid int) int {
	file, id := fmt.Sprintf("/proc/%d/status", pid), pid
	if tid != 0 {
		file, id = fmt.Sprintf("/proc/%d/task/%d/status", pid, tid), tid
	}
	text, _ := os.ReadFile(file) // it has ended
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(value)
			if own, err := strconv.Atoi(fields[len(fields)-1]); err == nil {
				return own
			}
		}
	}
	return id
}
