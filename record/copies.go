package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// codeCopies copies the code of the JVMs that write logs, out of their memory.
type codeCopies struct {
	dir       string // of the capture
	compilers nmethod.CompilerSet
	followers map[int]*nmethod.Follower // by pid
	faults    []error
}

// follow begins to copy the code of one JVM.
func (c *codeCopies) follow(log writtenLog) {
	if c.compilers == 0 {
		return
	}
	f, err := nmethod.Follow(log.pid, c.compilers, log.path, c.spool(log.pid))
	if err != nil {
		c.faults = append(c.faults, fmt.Errorf("copying the code of JVM %d: %w", log.pid, err))
		return
	}
	c.followers[log.pid] = f
}

func (c *codeCopies) spool(pid int) string {
	return filepath.Join(c.dir, fmt.Sprintf("code-%d.tmp", pid))
}

// finish ends the copying and appends the copies to the logs, which have their final
// names by now. The notes say what could not be copied.
func (c *codeCopies) finish() (notes []string, faults []error) {
	for pid, f := range c.followers {
		result := f.Stop()
		if err := c.append(pid, f); err != nil {
			result.Disk = err
		}
		os.Remove(c.spool(pid))
		if result.Disk != nil {
			c.faults = append(c.faults, result.Disk)
		}
		if note := copyNote(pid, result); note != "" {
			notes = append(notes, note)
		}
	}
	slices.Sort(notes)
	return notes, c.faults
}

// fewLate is how many methods are gone before they can be copied in any JVM: those
// that are compiled while it ends. They have next to no samples, so no note is needed.
const fewLate = 50

// copyNote says what of a JVM's code could not be copied.
func copyNote(pid int, r nmethod.Result) string {
	all := r.Copied + r.Late + r.Missed
	switch {
	case r.Missed*100 > all:
		return fmt.Sprintf("the code of %d of the %d methods of JVM %d could not be copied, and is not in the report: %v "+
			"(--code print has HotSpot print it)", r.Missed, all, pid, r.Why)
	case r.Late > fewLate && r.Late*10 > all:
		return fmt.Sprintf("the code of %d of the %d methods of JVM %d was gone before it was copied, and is not in the report "+
			"(--code print has HotSpot print it)", r.Late, all, pid)
	}
	return ""
}

// append appends a JVM's copies to its log. A JVM that still runs would write over
// them, because it goes on where it stopped in the file. Then the log is replaced by a
// copy of it, which that JVM does not have open.
func (c *codeCopies) append(pid int, f *nmethod.Follower) error {
	log := filepath.Join(c.dir, capture.LogFile(pid))
	if running(pid) {
		if err := replaceByCopy(log); err != nil {
			return fmt.Errorf("copying the log of JVM %d, which still runs: %w", pid, err)
		}
	}
	return f.AppendTo(log)
}

// replaceByCopy replaces a file by a new one with the same content.
func replaceByCopy(path string) error {
	from, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	next := path + ".tmp"
	to, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err = io.Copy(to, from); err == nil {
		err = to.Close()
	}
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}
