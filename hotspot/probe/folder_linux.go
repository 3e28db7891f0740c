package probe

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// Place returns the path, as the JVM has it, of the folder that the next Session with it is to use. It has the same name
// each time, because the JVM adds the path of each agent to its class path once, and keeps it. Anyone can make a folder of
// that name in /tmp. Then it has a name that nobody can guess.
func Place(w *foreign.World, ownPID int) (string, error) {
	tmp, err := w.Tmp()
	if err != nil {
		return "", fmt.Errorf("its folder /tmp, which the agent's files would be in, can't be looked into: %w", err)
	}
	defer tmp.Close()
	name := fmt.Sprint(folderHead, ownPID)
	switch usable, err := isFreeOrOwn(tmp, name); {
	case err != nil:
		return "", err
	case !usable:
		secret := make([]byte, 16)
		_, _ = rand.Read(secret) // it never fails
		name += "-" + hex.EncodeToString(secret)
	}
	return path.Join("/tmp", name), nil
}

// isFreeOrOwn reports whether nothing has a name, or a folder of the JVM's user.
func isFreeOrOwn(tmp *foreign.Folder, name string) (bool, error) {
	_, err := tmp.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	folder, err := tmp.Folder(name)
	if err != nil { // a file, a link, a mount point, or a folder that is closed to the JVM's user
		return false, nil
	}
	defer folder.Close()
	owner, err := folder.Owner()
	return owner == tmp.World().User().UID, err
}

// openFolder opens the folder of a Session in the JVM's /tmp, or makes it, and locks it.
func openFolder(tmp *foreign.Folder, name string) (*foreign.Folder, error) {
	folder, err := tmp.Folder(name)
	if errors.Is(err, fs.ErrNotExist) {
		folder, err = tmp.MakeFolder(name)
	}
	if err != nil {
		return nil, err
	}
	if err := folder.Lock(); err != nil {
		folder.Close()
		if errors.Is(err, foreign.ErrLocked) {
			err = errors.New("another gasm probes it: wait until that has ended")
		}
		return nil, err
	}
	return folder, nil
}

// removeFiles removes the files of a Session from its folder.
func removeFiles(folder *foreign.Folder) error {
	names, err := folder.Names()
	for _, name := range names {
		if ownFiles.MatchString(name) {
			err = cmp.Or(err, folder.Remove(name))
		}
	}
	return err
}

// EndLeft ends the probes that a gasm has left in a JVM, and removes its folder. The path is that of [Place].
func EndLeft(ctx context.Context, p *foreign.Process, w *foreign.World, path string) error {
	s, err := open(p, w, path)
	if err != nil {
		return err
	}
	defer s.release()
	if err := s.end(ctx); err != nil {
		return err
	}
	s.remove()
	return nil
}

// RemoveFolder removes the folder of a JVM that has ended, unless another gasm uses it for one with the same process id.
// The World is one of the user whom the JVM had.
func RemoveFolder(w *foreign.World, path string) {
	s, err := open(nil, w, path)
	if err == nil {
		s.remove()
		s.release()
	}
}
