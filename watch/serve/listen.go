package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/push/web"
)

// A Listener accepts connections.
type Listener struct {
	net.Listener
	path  string      // of a Unix socket; otherwise ""
	file  os.FileInfo // the socket's file
	token string      // the token that clients of a TCP port must send
}

// Listen opens unix:PATH or tcp:HOST:PORT. For the latter, tokenFile is the name of a file with a token that clients
// must send.
func Listen(address, tokenFile string) (*Listener, error) {
	kind, rest, _ := strings.Cut(address, ":")
	switch {
	case kind == "unix" && filepath.IsAbs(rest):
		return listenUnix(filepath.Clean(rest))
	case kind == "tcp" && rest != "":
		if tokenFile == "" {
			return nil, errors.New("a TCP port needs a file with a token that clients must send: --listen-token-file FILE")
		}
		token, err := web.ReadSecret(tokenFile)
		if err != nil {
			return nil, err
		}
		if len(token) < leastToken {
			return nil, fmt.Errorf("%s: the token has %d characters; it needs at least %d", tokenFile, len(token), leastToken)
		}
		l, err := net.Listen("tcp", rest)
		if err != nil {
			return nil, err
		}
		return &Listener{Listener: l, token: token}, nil
	}
	return nil, errors.New("it has the form unix:/PATH or tcp:HOST:PORT")
}

const (
	leastToken  = 16
	longestPath = 107 // the kernel's limit
)

// listenUnix opens a Unix socket that only this user can connect to. It replaces the socket of a process that has
// ended, but neither one that is in use nor another file.
//
// The socket gets its name only after its mode was set. Until then it is in a folder that is closed to others.
func listenUnix(path string) (*Listener, error) {
	if len(path) > longestPath {
		return nil, fmt.Errorf("the path has %d bytes; a Unix socket's can have %d", len(path), longestPath)
	}
	folder := filepath.Dir(path)
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	if err := checkStale(path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(folder, ".gasm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	private := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("opening a socket next to %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // the file is renamed below, and Close removes it
	listener := &Listener{Listener: l, path: path}
	if err = os.Chmod(private, 0o600); err == nil {
		listener.file, err = os.Lstat(private)
	}
	if err == nil {
		err = os.Rename(private, path)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return listener, nil
}

// checkFolder returns an error if other users can replace what this user creates in a folder. They could make gasm
// change the mode of another file.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || owner.Uid != 0 && int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("the folder %s belongs to another user, who can replace the socket: use your own folder", dir)
	case info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("all users can write to the folder %s, and replace the socket: use your own folder", dir)
	}
	return nil
}

// checkStale returns an error unless a socket may be created with this name.
func checkStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		conn.Close()
		return fmt.Errorf("another program listens on %s", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil
	}
	return fmt.Errorf("another program may listen on %s: %w", path, err)
}

// Close closes the listener, and removes the file of a Unix socket, unless it is another one by now.
func (l *Listener) Close() error {
	if info, err := os.Lstat(l.path); l.path != "" && err == nil && os.SameFile(info, l.file) {
		_ = os.Remove(l.path) // if this fails, the next gasm replaces the file
	}
	return l.Listener.Close()
}
