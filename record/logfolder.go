package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A logFolder is where the JVMs of a command create their logs. A command may become
// another user (su, setpriv, sudo -E), so any user can create a file in it. Nobody can
// list it, and its name is secret: it is known to gasm, and to the processes that have
// it in their environment. HotSpot lets everyone read its logs, whatever the folder is.
//
// The parent is another folder, which others can pass but not list. The files that java
// reads (options, directives) are there, and a [lock]. All users can read these files, since
// the command may become any, so their names are secret too: they tell where the logs are.
//
// When the command has ended, [logFolder.gather] moves the logs into the capture.
type logFolder struct {
	parent string
	own    bool   // the parent was made for it; else it is the capture's folder
	path   string // in the parent, or in the capture
	files  string // what the paths of java's files in the parent begin with
	// closed is why no other user can create logs in it; "" when all can.
	closed string
	lock   *lockedfolder.Lock
}

// maxLogFolder is how long a log folder's path can be. The name of a log must be longer
// (see logTail), and a file's name has 255 bytes at most, of which HotSpot needs some for
// the process id.
const maxLogFolder = 235

// newLogFolder makes the folder for the logs of a capture, and its parent, which is a
// temporary folder. The logs are in the parent if it is on the capture's file system, so
// that they can be moved and need not be copied. Else they are in the capture. Where the
// capture's path is too long, any place is good enough.
func newLogFolder(capture *Folder) (l *logFolder, err error) {
	l = &logFolder{parent: capture.Path, lock: capture.lock}
	for _, dir := range lockedfolder.TemporaryFolders() {
		if !passable(dir) {
			continue
		}
		if parent, err := os.MkdirTemp(dir, temporaryPattern); err == nil {
			l = &logFolder{parent: parent, own: true}
			break
		}
	}
	place := capture.Path
	if l.own && (sameFileSystem(l.parent, place) || len(place)+1+lockedfolder.SecretLength > maxLogFolder) {
		place = l.parent
	}
	if len(place)+1+lockedfolder.SecretLength > maxLogFolder {
		err = fmt.Errorf("HotSpot can't write its logs: %s has %d bytes, and a path of at most %d is needed: "+
			"set TMPDIR to a folder with a shorter path, or name one with -o", place, len(place), maxLogFolder-1-lockedfolder.SecretLength)
	} else {
		err = l.make(place)
	}
	if err != nil && l.own {
		os.RemoveAll(l.parent)
	}
	return l, err
}

// make locks the parent and makes the folder in a place.
func (l *logFolder) make(place string) (err error) {
	if l.lock == nil {
		if l.lock, err = lockedfolder.Make(l.parent); err != nil {
			return err
		}
	}
	l.files = filepath.Join(l.parent, lockedfolder.SecretName()+".")
	l.path = filepath.Join(place, lockedfolder.SecretName())
	if err := os.Mkdir(l.path, 0o700); err != nil {
		return fmt.Errorf("making a folder for the JVMs' logs: %w", err)
	}
	// Chmod takes no heed of the umask.
	if l.own {
		if err := os.Chmod(l.parent, 0o711); err != nil {
			return err
		}
	}
	switch {
	case !passable(filepath.Dir(place)):
		l.closed = "other users can't pass the folders above " + place
	case os.Geteuid() == 0 && !protected("symlinks"):
		// Whoever the command becomes could plant links here, through which a JVM of root's would write.
		l.closed = "fs.protected_symlinks is 0, so that other users must not write where root does"
	default:
		if err = os.Chmod(place, 0o711); err == nil {
			err = os.Chmod(l.path, 0o733|os.ModeSticky)
		}
	}
	return err
}

// passable tells whether all users can pass a folder and those above it.
func passable(dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

func sameFileSystem(a, b string) bool {
	var as, bs syscall.Stat_t
	return syscall.Stat(a, &as) == nil && syscall.Stat(b, &bs) == nil && as.Dev == bs.Dev
}

// pattern is what -XX:LogFile gets. HotSpot puts "pid" and the process id in the place of
// %p.
func (l *logFolder) pattern() string { return filepath.Join(l.path, logHead+"%p"+logTail(l.path)) }

const logHead = "asm-"

// logTail is the end of the names of logs in a folder. It makes them longer than the
// folder's path, for this reason: a JVM that can't open its log, as in a chroot or in a
// folder that its user can't pass, goes on with one of the same name in /tmp
// (defaultStream::open_file). To make its name it looks for %p in the whole path, and
// then counts from there in the name alone (make_log_name_internal in ostream.cpp, JDK 8
// to 28). With a shorter name it reads and writes outside of its memory, and crashes,
// hangs, or leaves files such as asm-%p.log<random>.
//
// Nobody can know the name in /tmp before, and plant a link there. It does not tell the
// folder's name.
func logTail(folder string) string {
	digest := sha256.Sum256([]byte(filepath.Base(folder)))
	filler := strings.Repeat(hex.EncodeToString(digest[:]), 1+maxLogFolder/sha256.Size/2)
	return "." + filler[:max(lockedfolder.SecretLength, len(folder))] + ".log"
}

// hotSpotTemp is where a JVM writes its log when it can't elsewhere
// (os::get_temp_directory), on Linux.
const hotSpotTemp = "/tmp"

// strayName gives the start and the end of the name of a log in hotSpotTemp, between
// which HotSpot puts the process id; see logTail.
func strayName(folder string) (head, tail string) {
	name := logHead + "%p" + logTail(folder)
	at := len(folder) + len("/"+logHead)
	return name[:at] + "pid", name[at+len("%p"):]
}

// A writtenLog is a log that a JVM has created.
type writtenLog struct {
	pid  int
	path string
}

// logs are the logs that JVMs have created in the folder by now.
func (l *logFolder) logs() []writtenLog { return logsIn(l.path, logHead+"pid", logTail(l.path)) }

// strays are the logs that JVMs have created in hotSpotTemp by now.
func (l *logFolder) strays() []writtenLog {
	if runtime.GOOS != "linux" {
		return nil
	}
	head, tail := strayName(l.path)
	return logsIn(hotSpotTemp, head, tail)
}

// logsIn finds the files of a folder whose names have a process id between head and tail.
func logsIn(dir, head, tail string) (found []writtenLog) {
	entries, _ := os.ReadDir(dir) // a folder that is gone has none
	for _, e := range entries {
		name, hasHead := strings.CutPrefix(e.Name(), head)
		digits, hasTail := strings.CutSuffix(name, tail)
		if pid, err := strconv.Atoi(digits); err == nil && hasHead && hasTail && e.Type().IsRegular() {
			found = append(found, writtenLog{pid, filepath.Join(dir, e.Name())})
		}
	}
	return found
}

// describe names the folder, and tells who can't write to it.
func (l *logFolder) describe() string {
	if l.closed == "" {
		return filepath.Dir(l.path)
	}
	return filepath.Dir(l.path) + " (" + l.closed + ")"
}

// release removes the folder, unless a process still has it in its environment: a JVM
// that it starts, or is, could not log. It tells which processes these are.
func (l *logFolder) release() (users []lockedfolder.Process) {
	defer l.lock.Close()
	if users = l.lock.Users(l.path+"/", l.files); len(users) > 0 {
		return users
	}
	for _, log := range l.strays() {
		os.Remove(log.path)
	}
	os.RemoveAll(l.path)
	if place := filepath.Dir(l.path); place != l.parent || !l.own {
		os.Chmod(place, 0o700) // the capture
	}
	if l.own {
		os.RemoveAll(l.parent)
		return nil
	}
	os.Remove(filepath.Join(l.parent, lockedfolder.LockFile))
	for _, name := range []string{optionsName, directivesName} {
		os.Remove(l.files + name)
	}
	probe.Remove(l.files)
	return nil
}
