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

// files are the files that a process sees; none if they can't be reached.
type files struct {
	world  *foreign.World // nil if the files can't be reached
	ownPID int
}

// enter enters the file system of the process. Only root can enter that of another user's process. Without root, if the
// process has the same id in its own namespace as here, its /tmp may be that of gasm, which at least shows which files
// are there.
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

// perfFolderHead is the beginning of the names of HotSpot's folders of performance data. The name of a user follows,
// who may exist only in the JVM's container.
const perfFolderHead = "hsperfdata_"

// maxPerfFolders is how many such folders are looked into. Anyone can make them in /tmp.
const maxPerfFolders = 256

// eachPerfFolder calls see with each such folder that belongs to a user, until see returns true. Anyone can make a
// folder of such a name in /tmp, so it must belong to the process's user. HotSpot demands that, too
// (is_directory_secure in perfMemory_posix.cpp).
func (f files) eachPerfFolder(uid int, see func(folder *foreign.Folder) (found bool)) {
	if f.world == nil {
		return
	}
	tmp, err := f.world.Tmp()
	if err != nil {
		return
	}
	defer tmp.Close()
	names, _ := tmp.Names() // if they can't be read, there are none
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

// perfText returns the process's performance data; nil if there are none.
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
		n, _ := file.ReadAt(text, 0) // what can't be read is left out
		text = text[:n]
		return true
	})
	return text
}

// perfData returns the strings of the process's performance data by name; none if they can't be read.
func (f files) perfData() map[string]string {
	strs, _ := perfStrings(f.perfText()) // a file of another format has no strings
	return strs
}

// hasPerfData reports whether there are performance data for the process's id. Other users can see the file without
// reading it. The data may be of a JVM in a container that has the same id there, if the container shares this /tmp.
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

// version returns the version of the JDK in a folder, from its release file; "" if it can't be found out.
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
