package folder

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

// Logs is the folder in which the JVMs of a command create their logs. A command may change its user (su, setpriv, sudo
// -E), so any user can create files in the folder. HotSpot makes all logs readable for everyone. To protect the logs,
// the folder has a secret name, and other users can't list the folder. Only gasm and the processes that have the name
// in their environment know it.
//
// The parent of the folder has a lock, and the files that java reads (options, directives). Other users can pass
// through the parent, but can't list it. The names of these files are secret too: all users can read the files, because
// the command may change to any user, and the files contain the path of the logs.
//
// When the command has ended, [Capture.Gather] moves the logs into the capture.
type Logs struct {
	Path  string // path of the folder, which is in the parent or in the capture
	Files string // the beginning of the paths of the files that java reads; see OptionsName
	// Closed says why other users can't create logs in the folder. It is "" if all users can.
	Closed string

	parent string
	own    bool // true if the parent was made for the logs; otherwise the parent is the capture's folder
	lock   *lockedfolder.Lock
}

// Names of the files that java reads. The path of such a file is Logs.Files followed by the name.
const (
	OptionsName    = "java.options"
	DirectivesName = "directives.json" // compiler directives
)

// maxLogFolder is the maximum length of the path of a folder for HotSpot's logs, in bytes. A log's name must be longer
// than the path of the folder (see logTail). It also contains the process id, and a file name can have at most 255
// bytes.
const maxLogFolder = 235

// newLogs makes the folder for the logs of a capture, and the parent that [Logs] describes. The parent is a new
// temporary folder. If there is no place for a temporary folder that all users can pass through, the capture's folder
// is the parent.
//
// Normally the folder for the logs is inside the parent. If the parent is on another file system than the capture, the
// folder is inside the capture instead, so that the logs can be moved and need not be copied. It remains inside the
// parent if the capture's path is too long for HotSpot.
func newLogs(capture *Capture) (l *Logs, err error) {
	l = &Logs{parent: capture.Path, lock: capture.lock}
	for _, dir := range lockedfolder.TemporaryFolders() {
		if !passable(dir) {
			continue
		}
		if parent, err := os.MkdirTemp(dir, temporaryPattern); err == nil {
			l = &Logs{parent: parent, own: true}
			break
		}
	}
	above := capture.Path
	if l.own && (sameFileSystem(l.parent, above) || len(above)+1+lockedfolder.SecretLength > maxLogFolder) {
		above = l.parent
	}
	if len(above)+1+lockedfolder.SecretLength > maxLogFolder {
		err = fmt.Errorf("HotSpot can't write its logs: %s has %d bytes, and a path of at most %d is needed: "+
			"set TMPDIR to a folder with a shorter path, or name one with -o", above, len(above),
			maxLogFolder-1-lockedfolder.SecretLength)
	} else {
		err = l.make(above)
	}
	if err != nil && l.own {
		os.RemoveAll(l.parent)
	}
	return l, err
}

// make locks the parent, and makes the folder for the logs. The parameter above is the path of the folder that will
// contain it: the parent or the capture.
func (l *Logs) make(above string) (err error) {
	if l.lock == nil {
		if l.lock, err = lockedfolder.Make(l.parent); err != nil {
			return err
		}
	}
	l.Files = filepath.Join(l.parent, lockedfolder.SecretName()+".")
	l.Path = filepath.Join(above, lockedfolder.SecretName())
	if err := os.Mkdir(l.Path, 0o700); err != nil {
		return fmt.Errorf("making a folder for the JVMs' logs: %w", err)
	}
	// Set the modes with Chmod, because Mkdir applies the umask.
	if l.own {
		if err := os.Chmod(l.parent, 0o711); err != nil {
			return err
		}
	}
	switch {
	case !passable(filepath.Dir(above)):
		l.Closed = "other users can't pass the folders above " + above
	case os.Geteuid() == 0 && !protected("symlinks"):
		// Any user that the command changes to could plant links here. A JVM that runs as root would then write to the
		// files to which the links point.
		l.Closed = "fs.protected_symlinks is 0, so that other users must not write where root does"
	default:
		if err = os.Chmod(above, 0o711); err == nil {
			err = os.Chmod(l.Path, 0o733|os.ModeSticky)
		}
	}
	return err
}

// passable reports whether all users can pass through a folder and all folders above it.
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

// Pattern returns the value for -XX:LogFile. HotSpot replaces %p with "pid" and the process id: asm-pid4711.….log.
func (l *Logs) Pattern() string { return filepath.Join(l.Path, logHead+"%p"+logTail(l.Path)) }

const logHead = "asm-"

// logTail returns the end of the names of the logs in a folder. It makes the names longer than the folder's path, to
// work around a bug in HotSpot. If a JVM can't open its log, for example because it is in a chroot, it opens a log of
// the same name in /tmp instead (defaultStream::open_file). To put the process id into this name, HotSpot should look
// for %p in the name, but it uses the position of %p in the whole path (make_log_name_internal in ostream.cpp, JDK 8
// to 28). If the name is shorter than this position, HotSpot reads and writes outside of the buffer. It then crashes,
// hangs, or leaves files such as asm-%p.log<random>.
//
// Other users must not be able to predict the name in /tmp, because they could plant a link there. So the name
// contains a digest of the folder's secret name, which does not reveal the secret name.
func logTail(folder string) string {
	digest := sha256.Sum256([]byte(filepath.Base(folder)))
	filler := strings.Repeat(hex.EncodeToString(digest[:]), 1+maxLogFolder/sha256.Size/2)
	return "." + filler[:max(lockedfolder.SecretLength, len(folder))] + ".log"
}

// HotSpotTemp is the folder to which a JVM on Linux writes its log if it can't write to the path in -XX:LogFile
// (os::get_temp_directory).
const HotSpotTemp = "/tmp"

// strayName returns what comes before and after the process id in the name of a log in HotSpotTemp. HotSpot puts the
// process id into the middle of the name. The position depends on the length of the path of the folder for logs; see
// logTail.
func strayName(folder string) (head, tail string) {
	name := logHead + "%p" + logTail(folder)
	at := len(folder) + len("/"+logHead)
	return name[:at] + "pid", name[at+len("%p"):]
}

// A Log is a file that a JVM has created.
type Log struct {
	PID  int
	Path string
}

// Written returns the logs of machine code that JVMs have created in the folder so far.
func (l *Logs) Written() []Log { return logsIn(l.Path, logHead+"pid", logTail(l.Path)) }

// Strays returns the logs of machine code that JVMs have created in HotSpotTemp so far, because they could not write to
// the folder.
func (l *Logs) Strays() []Log {
	if runtime.GOOS != "linux" {
		return nil
	}
	head, tail := strayName(l.Path)
	return logsIn(HotSpotTemp, head, tail)
}

// The names of the logs of events are ev-4711.log and, for files that are full, ev-4711.log.0 and so on.
const eventHead, eventTail = "ev-", ".log"

// EventPattern returns the path for -Xlog. HotSpot replaces %p with the process id.
func (l *Logs) EventPattern() string { return filepath.Join(l.Path, eventHead+"%p"+eventTail) }

// Parts of the names of the files that gasm's agent writes to the folder, such as probes-4711.ring and probes-4711.txt.
const (
	probeHead  = "probes-"
	ringTail   = ".ring"
	reportTail = ".txt"
)

// Rings returns the files in which gasm's agents count calls, one for each JVM. An agent creates its file when it
// starts.
func (l *Logs) Rings() []Log { return logsIn(l.Path, probeHead, ringTail) }

// Reports returns the reports that gasm's agents have created so far. They may be incomplete.
func (l *Logs) Reports() []Log { return logsIn(l.Path, probeHead, reportTail) }

// logsIn returns the files of a folder whose names consist of head, a process id and tail.
func logsIn(dir, head, tail string) (found []Log) {
	entries, _ := os.ReadDir(dir) // no entries if the folder was removed
	for _, e := range entries {
		name, hasHead := strings.CutPrefix(e.Name(), head)
		digits, hasTail := strings.CutSuffix(name, tail)
		if pid, err := strconv.Atoi(digits); err == nil && hasHead && hasTail && e.Type().IsRegular() {
			found = append(found, Log{pid, filepath.Join(dir, e.Name())})
		}
	}
	return found
}

// Describe returns the path of the folder for a message. If some users can't write to the folder, it adds the reason.
func (l *Logs) Describe() string {
	if l.Closed == "" {
		return filepath.Dir(l.Path)
	}
	return filepath.Dir(l.Path) + " (" + l.Closed + ")"
}

// release removes the folder, unless processes still have its path in their environment. Such a process may be a JVM,
// or start a JVM, and this JVM needs the folder for its log. These processes are returned.
func (l *Logs) release() (users []lockedfolder.Process) {
	defer l.lock.Close()
	if users = l.lock.Users(l.Path+"/", l.Files); len(users) > 0 {
		return users
	}
	for _, log := range l.Strays() {
		os.Remove(log.Path)
	}
	os.RemoveAll(l.Path)
	if above := filepath.Dir(l.Path); above != l.parent || !l.own {
		os.Chmod(above, 0o700) // above is the capture's folder
	}
	if l.own {
		os.RemoveAll(l.parent)
		return nil
	}
	os.Remove(filepath.Join(l.parent, lockedfolder.LockFile))
	for _, name := range []string{OptionsName, DirectivesName} {
		os.Remove(l.Files + name)
	}
	probe.Remove(l.Files)
	return nil
}
