//go:build !linux

package foreign

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// errUnsupported is the error of the functions below. gasm accesses the files of other processes on Linux only.
var errUnsupported = errors.New(
	"gasm reaches the files of running JVMs on Linux only: start the program with gasm profile")

// A Process is a process that may be hostile. Only Linux has an implementation, so Open always returns an error here.
type Process struct{}

// A User has the user and group ids of a process.
type User struct {
	UID, GID int
	Groups   []int
}

// A Stat is the state and the start time of a process.
type Stat struct {
	State      byte
	StartTicks uint64
}

// A Status is the name, the state and the user of a process.
type Status struct {
	Name  string
	State byte
	User
	OwnPID  int
	Catches uint64
}

// A World is the file system that a process sees.
type World struct{}

// A Folder is an open folder in a [World].
type Folder struct{}

// A File is an open regular file in a [World].
type File struct{}

// An Info has what the file system says about a file.
type Info struct {
	Regular      bool
	Size         int64
	UID          int
	ChangedNanos int64
}

func Open(int) (*Process, error)                         { return nil, errUnsupported }
func StatOf(int) Stat                                    { return Stat{} }
func OwnWorld(context.Context, User) (*World, error)     { return nil, errUnsupported }
func (s Stat) Ended() bool                               { return false }
func (s Stat) Stopped() bool                             { return false }
func (p *Process) Close()                                {}
func (p *Process) PID() int                              { return 0 }
func (p *Process) Stat() (Stat, error)                   { return Stat{}, errUnsupported }
func (p *Process) Status() (Status, error)               { return Status{}, errUnsupported }
func SharesFiles(int) bool                               { return false }
func (p *Process) Trusted() bool                         { return false }
func (p *Process) Read(string, int64) ([]byte, error)    { return nil, errUnsupported }
func (p *Process) Readlink(string) (string, error)       { return "", errUnsupported }
func (p *Process) OwnTID(int) (int, error)               { return 0, errUnsupported }
func (p *Process) Threads() []int                        { return nil }
func (p *Process) OpenFiles() []string                   { return nil }
func (p *Process) World(context.Context) (*World, error) { return nil, errUnsupported }
func (w *World) Open(string) (*File, error)              { return nil, errUnsupported }
func (w *World) Close()                                  {}
func (w *World) User() User                              { return User{} }
func (w *World) Err() error                              { return errUnsupported }
func (w *World) Tmp() (*Folder, error)                   { return nil, errUnsupported }
func (w *World) Folder(string) (*Folder, error)          { return nil, errUnsupported }
func (d *Folder) Close()                                 {}
func (d *Folder) Folder(string) (*Folder, error)         { return nil, errUnsupported }
func (d *Folder) OwnFolder(string) (*Folder, error)      { return nil, errUnsupported }
func (d *Folder) MakeFolder(string) (*Folder, error)     { return nil, errUnsupported }
func (d *Folder) Names() ([]string, error)               { return nil, errUnsupported }
func (d *Folder) Stat(string) (Info, error)              { return Info{}, errUnsupported }
func (d *Folder) Create(string, []byte) error            { return errUnsupported }
func (d *Folder) Open(string) (*File, error)             { return nil, errUnsupported }
func (d *Folder) Remove(string) error                    { return errUnsupported }
func (d *Folder) RemoveFolder(string) error              { return errUnsupported }
func (f *File) Info() Info                               { return Info{} }
func (f *File) Close() error                             { return nil }
func (f *File) ReadAt([]byte, int64) (int, error)        { return 0, io.EOF }
func (f *File) CopyTo(*os.File, int64) error             { return errUnsupported }

func Each[T any](time.Duration, func(int) (T, bool)) (map[int]T, []int, error) {
	return nil, nil, errUnsupported
}
