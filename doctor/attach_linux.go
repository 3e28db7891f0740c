package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/follow"
	"github.com/gasm-profiler/gasm/internal/fix"
)

// checkAttach starts a JVM of this JDK and finds out whether `gasm attach` can read its code. The JVM must not be a
// descendant of this process, because the kernel may let a process read its descendants, but no other processes
// (kernel.yama.ptrace_scope). checkAttach also asks the JVM which events it can report; the second finding says which.
func (j *foundJDK) checkAttach(ctx context.Context, area, dir string) (attached, events Finding) {
	ctx, cancel := withLimit(ctx, j.limit())
	defer cancel()
	attached, events = Finding{area, "attach", OK, "", ""}, Finding{area, "events", Note,
		"not tried: no JVM could be started", ""}
	jvm, err := startOrphan(j.java())
	if err != nil {
		attached.Status, attached.Text = Note, "gasm attach can't read a JVM's code: java does not run: "+err.Error()
		return attached, events
	}
	defer jvm.end()
	methods, err := jvm.tryAttach(ctx, dir)
	if err != nil {
		attached.Status = Note
		attached.Text, attached.Fix = fix.Parts(fmt.Errorf("gasm attach can't read a JVM's code: %w", err))
	} else {
		attached.Text =
			fmt.Sprintf("gasm attach and gasm profile read a running JVM's code: %d methods of one that has just started",
				methods)
	}
	return attached, j.checkEvents(ctx, area, jvm.pid)
}

// tryAttach reads the code of a JVM repeatedly until the JVM has compiled a method, and returns the number of compiled
// methods. It returns an error if the JVM can't be read, if the JVM has ended, or if ctx is done.
func (jvm *orphan) tryAttach(ctx context.Context, dir string) (methods int, err error) {
	for {
		switch methods, err = jvm.methods(dir); {
		case methods > 0, err != nil && jvm.refused(ctx):
			return methods, err
		case jvm.gone():
			return 0, errors.New("java ended at once")
		}
		select {
		case <-ctx.Done(): // the JVM has compiled nothing so far, or every attempt to read it failed
			return 0, errors.Join(err, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// An orphan is a JVM that is not a descendant of this process. It does nothing until its stdin is closed.
type orphan struct {
	pid   int
	group int // the process group of the JVM and of anything else that java has started
	stdin *os.File
}

// startOrphan starts a JVM from a shell that exits at once, so that this process is not an ancestor
// of the JVM. The JVM runs keytool, which is in every JDK's base module and waits for a certificate
// on its stdin.
func startOrphan(java string) (*orphan, error) {
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	shell := exec.Command("/bin/sh", "-c", `"$@" <&3 >/dev/null 2>&1 3<&- & echo $!`, "sh", java,
		"sun.security.tools.keytool.Main", "-printcert")
	shell.ExtraFiles = []*os.File{in}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	text, err := shell.Output()
	pid, notNumber := strconv.Atoi(strings.TrimSpace(string(text)))
	if err = errors.Join(err, notNumber); err != nil {
		stdin.Close()
		return nil, err
	}
	return &orphan{pid, shell.Process.Pid, stdin}, nil
}

// methods returns the number of methods that the JVM has compiled. The number is 0 while the JVM starts.
func (o *orphan) methods(dir string) (int, error) {
	log := filepath.Join(dir, fmt.Sprintf("attach-%d.log", o.pid))
	defer os.Remove(log)
	f, err := follow.Start(o.pid, follow.Options{Log: log})
	if err != nil {
		return 0, err
	}
	return f.Stop().Methods, nil
}

// refused reports whether the JVM can never be read, so that it is useless to try again.
func (o *orphan) refused(ctx context.Context) bool {
	seen, err := attach.Look(ctx, o.pid)
	return err == nil && seen.Unreadable != nil
}

func (o *orphan) gone() bool { return syscall.Kill(o.pid, 0) != nil }

// end makes the JVM exit by closing its stdin, and waits up to a second. Then it kills all processes that remain in the
// JVM's process group, because java may be a script that started other processes.
func (o *orphan) end() {
	o.stdin.Close()
	for range 100 {
		if o.gone() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(-o.group, syscall.SIGKILL) // the error ESRCH says that no process is left
}
