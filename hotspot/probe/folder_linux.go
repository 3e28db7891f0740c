package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Folder is the path, as the JVM has it, of the folder that a Session with the JVM uses.
func Folder(pid int) (string, error) {
	s := &Session{pid: pid, ownPID: pid}
	_, _, err := s.owner()
	return fmt.Sprint("/tmp/", folderHead, s.ownPID), err
}

// EndLeft ends the probes that a gasm which was killed has left in a JVM, and removes its folder.
func EndLeft(ctx context.Context, pid int) error {
	s := &Session{pid: pid, ownPID: pid}
	uid, _, err := s.owner()
	if err != nil {
		return err
	}
	s.name = fmt.Sprint(folderHead, s.ownPID)
	s.dir, s.prefix = filepath.Join(fmt.Sprintf("/proc/%d/root/tmp", pid), s.name), "/tmp/"+s.name+"/"
	if err = s.removeLeft(ctx, uid); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveFolder removes the folder of a JVM that has ended, unless another gasm uses it for one with the same process id.
func RemoveFolder(path string) {
	lock, err := lockFolder(path)
	if err != nil {
		return
	}
	defer lock.Close()
	var stat unix.Stat_t
	if unix.Fstat(int(lock.Fd()), &stat) == nil && (os.Geteuid() == 0 || int(stat.Uid) == os.Geteuid()) {
		os.RemoveAll(path)
	}
}
