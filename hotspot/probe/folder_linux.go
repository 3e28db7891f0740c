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

// Place returns the path of the folder that the next Session with a JVM is to use, as the JVM sees it. The name is the
// same each time, because the JVM adds the path of each agent to its class path and keeps it. Anyone can make a folder
// of that name in /tmp. In that case the name gets a random suffix that nobody can guess.
func Place(w *foreign.World, ownPID int) (string, error) {
	tmp, err := w.Tmp()
	if err != nil {
		return "", fmt.Errorf("its /tmp can't be opened for the agent's files: %w", err)
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

// isFreeOrOwn reports whether a name in /tmp is free, or is that of a folder of the JVM's user.
func isFreeOrOwn(tmp *foreign.Folder, name string) (bool, error) {
	_, err := tmp.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	folder, err := tmp.Folder(name)
	if err != nil { // it is a file, a link, a mount point, or a folder that the JVM's user can't read
		return false, nil
	}
	defer folder.Close()
	owner, err := folder.Owner()
	return owner == tmp.World().User().UID, err
}

// openFolder opens a Session's folder in the JVM's /tmp, which it creates if necessary, and locks it.
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

// removeFiles removes a Session's files from its folder.
func removeFiles(folder *foreign.Folder) error {
	names, err := folder.Names()
	for _, name := range names {
		if ownFiles.MatchString(name) {
			err = cmp.Or(err, folder.Remove(name))
		}
	}
	return err
}

// EndLeft removes the probes that an earlier gasm has left in a JVM, and its folder. The path is that of [Place].
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

// RemoveFolder removes the folder of a JVM that has ended, unless another gasm uses it for a JVM with the same process
// id. The World must be that of the JVM's user.
func RemoveFolder(w *foreign.World, path string) {
	s, err := open(nil, w, path)
	if err == nil {
		s.remove()
		s.release()
	}
}
