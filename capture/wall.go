package capture

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/wall"
)

// wallGlob matches the names that WallText returns.
const wallGlob = "wall-*.txt"

// WallText returns the name of the file that says what the threads of a JVM did over time, even while they were
// blocked, such as wall-4711.txt. Package wall describes its format.
func WallText(pid int) string { return fmt.Sprintf("wall-%d.txt", pid) }

// A WallFile is a JVM's file in the format of package wall.
type WallFile struct {
	PID  int // the JVM's process id in the capture
	path string
}

// WallFiles returns the capture's files in the format of package wall, in the order of the JVMs. There are none if gasm
// did not record what the threads did over time. If a recording was cut off, its files are included.
func (c *Capture) WallFiles() (files []WallFile) {
	for i := range c.parts {
		p := &c.parts[i]
		for _, f := range p.WallFiles() {
			files = append(files, WallFile{p.pid(f.PID), f.path})
		}
	}
	if c.dir == "" || len(c.parts) > 0 {
		return files
	}
	for i := range c.JVMs {
		path := filepath.Join(c.dir, WallText(c.JVMs[i].PID))
		if _, err := os.Lstat(path); err == nil {
			files = append(files, WallFile{c.JVMs[i].PID, path})
		}
	}
	return files
}

// Open opens the file. The caller closes the io.Closer when it has finished reading.
func (f *WallFile) Open() (*wall.Reader, io.Closer, error) {
	file, _, err := regular.Open(f.path)
	if err != nil {
		return nil, nil, err
	}
	return wall.NewReader(file, filepath.Base(f.path)), file, nil
}
