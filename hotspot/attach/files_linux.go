package attach

import (
	"context"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/jdk"
)

// files is the file system as a process sees it. If gasm can't reach that file system, all methods behave as if it were
// empty.
type files struct {
	world  *foreign.World // nil if the files can't be reached
	ownPID int
}

// enter enters the file system of the process. Only root can enter the file system of another user's process. If gasm
// is not root and can't enter it, gasm's own file system is used instead, but only if the process has the same id in
// its own PID namespace as here. Such a process is probably not in a container and sees the same /tmp, so gasm can at
// least find out which files exist there.
func (p process) enter(ctx context.Context, status foreign.Status) files {
	f := files{ownPID: status.OwnPID}
	var err error
	if f.world, err = p.World(ctx); err != nil && status.OwnPID == p.PID() && os.Geteuid() != 0 {
		f.world, err = foreign.OwnWorld(ctx, foreign.User{UID: os.Geteuid(), GID: os.Getegid()})
	}
	if err != nil {
		f.world = nil
	}
	return f
}

func (f files) close() {
	if f.world != nil {
		f.world.Close()
	}
}

// perfFolderHead is the beginning of the names of HotSpot's folders of performance data. The rest of a name is the
// name of a user, as in hsperfdata_app. This user may exist only in the JVM's container.
const perfFolderHead = "hsperfdata_"

// maxPerfFolders limits the number of folders of performance data that are opened, because anyone can create such
// folders in /tmp.
const maxPerfFolders = 256

// eachPerfFolder calls see(folder) for each folder of performance data that belongs to the user with this id. It stops
// when see returns true. Folders of other users are left out, because anyone can create a folder with such a name in
// /tmp. HotSpot checks the owner, too (is_directory_secure in perfMemory_posix.cpp).
func (f files) eachPerfFolder(uid int, see func(folder *foreign.Folder) (found bool)) {
	if f.world == nil {
		return
	}
	tmp, err := f.world.Tmp()
	if err != nil {
		return
	}
	defer tmp.Close()
	names, _ := tmp.Names() // if the names can't be read, there are no names
	looked := 0
	for _, name := range names {
		if !strings.HasPrefix(name, perfFolderHead) || looked == maxPerfFolders {
			continue
		}
		looked++
		folder, err := tmp.Folder(name)
		if err != nil {
			continue
		}
		owner, err := folder.Owner()
		found := err == nil && owner == uid && see(folder)
		folder.Close()
		if found {
			return
		}
	}
}

// perfText returns the process's performance data, or nil if there are none.
func (f files) perfText() (text []byte) {
	if f.world == nil {
		return nil
	}
	f.eachPerfFolder(f.world.User().UID, func(folder *foreign.Folder) bool {
		file, err := folder.Open(strconv.Itoa(f.ownPID))
		if err != nil {
			return false
		}
		defer file.Close()
		text = make([]byte, min(file.Size(), maxPerfData))
		n, _ := file.ReadAt(text, 0) // if reading fails, the beginning of the file is used
		text = text[:n]
		return true
	})
	return text
}

// perfData returns the strings of the process's performance data by name. The map is empty if the data can't be read.
func (f files) perfData() map[string]string {
	strs, _ := perfStrings(f.perfText()) // a file of another format has no strings
	return strs
}

// hasPerfData reports whether there is a file of performance data for the process's id. Other users can't read the
// file, but they can see that it exists. It may be the file of another JVM, for example of one that has the same id in
// a container that shares this /tmp.
func (p process) hasPerfData(ctx context.Context, status foreign.Status) (has bool) {
	f := p.enter(ctx, status)
	defer f.close()
	f.eachPerfFolder(status.UID, func(folder *foreign.Folder) bool {
		_, err := folder.Stat(strconv.Itoa(status.OwnPID))
		has = err == nil
		return has
	})
	return has
}

// version returns the version of the JDK in a folder. It reads the JDK's release file, and returns "" if it can't.
func (f files) version(home string) string {
	if f.world == nil {
		return ""
	}
	file, err := f.world.Open(path.Join(home, "release"))
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := file.ReadAll(jdk.MaxRelease)
	if err != nil {
		return ""
	}
	return jdk.ParseRelease(text)["JAVA_VERSION"]
}
