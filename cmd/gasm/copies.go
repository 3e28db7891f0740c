package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/nmethod"
	"github.com/gasm-profiler/gasm/printassembly"
)

// The values of --code.
const (
	codeAuto  = "auto"
	codePrint = "print"
	codeCopy  = "copy"
)

// checkCode checks --code.
func (f *profileFlags) checkCode(command []string) error {
	switch f.code {
	case codeAuto, codePrint:
		return nil
	case codeCopy:
	default:
		return usage("--code is %q; it can be auto, print or copy", f.code)
	}
	if len(f.methods) > 0 {
		return usage("--method names what HotSpot is to print, and --code copy has it print nothing: use one of the two")
	}
	if err := copyable(command); err != nil {
		return usage("--code copy: %v", err)
	}
	return nil
}

// copyable tells why code can't be copied out of the memory of a command's JVMs;
// nil when it can be.
func copyable(command []string) error {
	switch {
	case !jvm.KnowsFlags(command, printassembly.OldestKnown, printassembly.NewestKnown):
		return errors.New("the command must be java itself (gasm profile -- java …), so that its JVM is known before it starts")
	case ownDirectives(command) != "":
		return errors.New("it needs compiler directives of its own, and the command has -XX:CompilerDirectivesFile: HotSpot takes one alone")
	case slices.Contains(jvmOptions(command), "-XX:-LogCompilation"):
		return errors.New("the command has -XX:-LogCompilation, which is what tells where code is")
	}
	return nmethod.Copyable(jvm.Release(command))
}

// copied says whose code is copied out of the JVMs' memory, and not printed. Of
// itself gasm copies what C1 compiled, which costs a warm-up the least, and has C2's
// printed with all of HotSpot's comments. What HotSpot can't print is copied too.
func (r *run) copied() (what nmethod.What) {
	if r.own.code == codePrint || len(r.own.methods) > 0 || copyable(r.command) != nil {
		return 0
	}
	if !r.own.skipC1 {
		what |= nmethod.C1
	}
	if r.own.code == codeCopy || jvm.Release(r.command) < printassembly.OldestWithBytes {
		what |= nmethod.C2
	}
	return what
}

// codeCopies copies the code of the JVMs that write logs into a folder.
type codeCopies struct {
	dir       string
	what      nmethod.What
	followers map[int]*nmethod.Follower // by pid
	faults    []error
}

// follow begins to copy the code of one JVM.
func (c *codeCopies) follow(pid int) {
	if c.what == 0 {
		return
	}
	name := fmt.Sprintf("asm-pid%d.log", pid)
	f, err := nmethod.Follow(pid, c.what, filepath.Join(c.dir, name), c.spool(pid))
	if err != nil {
		c.faults = append(c.faults, fmt.Errorf("copying the code of JVM %d: %w", pid, err))
		return
	}
	c.followers[pid] = f
}

func (c *codeCopies) spool(pid int) string {
	return filepath.Join(c.dir, fmt.Sprintf("code-%d.tmp", pid))
}

// finish appends the copies to the logs, which have their final names now. The
// notes say what could not be copied.
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

// fewLate methods are compiled as any JVM ends, and have no samples worth a word.
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

// append appends a JVM's copies to its log. A JVM that still runs would write
// over them: then the log becomes a file of its own, which that JVM has no part
// in.
func (c *codeCopies) append(pid int, f *nmethod.Follower) error {
	log := filepath.Join(c.dir, fmt.Sprintf("asm-%d.log", pid))
	if syscall.Kill(pid, 0) == nil {
		if err := replaceByCopy(log); err != nil {
			return fmt.Errorf("copying the log of JVM %d, which still runs: %w", pid, err)
		}
	}
	return f.AppendTo(log)
}

func replaceByCopy(path string) error {
	from, err := os.Open(path)
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
