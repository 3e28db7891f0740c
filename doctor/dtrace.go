package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

// checkDTrace tries DTrace as `gasm profile` would use it: first as this user, and then with sudo if sudo asks for no
// password.
func checkDTrace(ctx context.Context, dir string) samplerResult {
	version := ""
	path, err := dtrace.Find()
	if err == nil {
		stdout, stderr, _ := run(ctx, path, "-V")
		version = dtraceVersion(stdout + stderr)
	}
	if version == "" {
		// There is no dtrace, or the program named dtrace is another tool. The sampler's error says which, and how to
		// install DTrace.
		if _, err := tryDTrace(ctx, dir, false); err != nil {
			cause, todo := explain(err)
			return samplerResult{cause: "dtrace: " + cause, fix: todo, checks: []Finding{{"dtrace", "found", Note, cause, todo}}}
		}
		version = "unknown version"
	}
	r := samplerResult{checks: []Finding{{"dtrace", "found", OK, path + ", " + version, ""}}}
	r.tryWithAndWithoutSudo(ctx, dir, os.Geteuid() == 0)
	if file, lines, known := dtraceUprobes(); known {
		r.checks = append(r.checks, checkLeft(file, lines, isDTrace)...)
	}
	if runtime.GOOS == "darwin" {
		stdout, stderr, _ := run(ctx, "csrutil", "status")
		r.checks = append(r.checks, checkSIP(stdout+stderr))
	}
	return r
}

// tryWithAndWithoutSudo runs dtrace without sudo and, if that fails, with sudo. root is true if this process already
// runs as root, so that sudo would not help.
func (r *samplerResult) tryWithAndWithoutSudo(ctx context.Context, dir string, root bool) {
	c := Finding{Area: "dtrace", Name: "sampling", Status: OK, Text: "runs"}
	event, err := tryDTrace(ctx, dir, false)
	r.works = err == nil
	if err != nil {
		c.Status = Problem
		c.Text, c.Fix = explain(err)
	}
	if _, noSudo := exec.LookPath("sudo"); err != nil && !root && noSudo == nil {
		_, _, refused := run(ctx, "sudo", "-n", "true")
		if refused == nil {
			event, err = tryDTrace(ctx, dir, true)
		}
		switch {
		case refused != nil:
			c.Status, c.Text, c.Fix =
				Note, c.Text+"; sudo asks for a password", "sudo -v && gasm profile --sampler dtrace --sudo ..."
		case err == nil:
			r.works, r.sudo = true, true
			c.Status, c.Text, c.Fix =
				Note, "runs only with sudo, which asks for no password", "gasm profile --sampler dtrace --sudo ..."
		default:
			c.Text, c.Fix = explain(err)
		}
	}
	r.checks, r.event = append(r.checks, c), event
	if !r.works {
		r.cause, r.fix = "dtrace: "+c.Text, c.Fix
	}
}

// tryDTrace starts dtrace and stops it again. It returns the name of the probe that took the samples, such as
// profile-1001.
func tryDTrace(ctx context.Context, dir string, sudo bool) (event string, err error) {
	dir, err = os.MkdirTemp(dir, "dtrace-")
	if err != nil {
		return "", err
	}
	// If ctx ends, dtrace must not be killed at once, because its uprobes would remain in the kernel. It gets time to
	// end properly, but less than usual.
	ownCtx, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer kill(nil)
	limit := time.AfterFunc(patience, func() { kill(noAnswerError{patience}) })
	defer limit.Stop()
	defer context.AfterFunc(ctx, func() { limit.Reset(patienceAtEnd) })()

	_, before, known := dtraceUprobes()
	d, err := dtrace.Start(ownCtx, dtrace.Options{Frequency: collect.DefaultFrequency, Sudo: sudo, Dir: dir})
	if err != nil {
		return "", err
	}
	err = d.Stop()
	if known {
		if err == nil {
			awaitRelease(ownCtx, before)
		}
		kill(nil) // dtrace would take seconds to end by itself
	}
	d.Wait()
	return d.Events()[0].Spec, err
}

// patienceAtEnd is how long dtrace may take to end after the user has stopped the doctor.
const patienceAtEnd = 5 * time.Second

// dtraceUprobes reads the uprobes that DTrace for Linux has set in the kernel for its BEGIN and END probes. file is the
// path of the kernel's file uprobe_events, and lines are the lines of DTrace's uprobes in that file:
//
//	p:dt_4711_dtrace/BEGIN /usr/lib/x86_64-linux-gnu/libdtrace.so.2.0.0:0x00000000000ded20
//
// The result known is false for users other than root, and on macOS.
func dtraceUprobes() (file string, lines []string, known bool) {
	for _, tracefs := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		file = filepath.Join(tracefs, "uprobe_events")
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "p:dt_") {
				lines = append(lines, line)
			}
		}
		return file, lines, true
	}
	return "", nil, false
}

// uprobeOwner matches the process id in the name of a DTrace uprobe.
var uprobeOwner = regexp.MustCompile(`^p:dt_(\d+)_dtrace/`)

// checkLeft reports uprobes of DTrace processes that were killed and so could not remove them. It may mistake a DTrace
// that runs in a container for a killed one, because a uprobe's name contains the process id within the container. Even
// then the suggested command is safe, because the kernel refuses to remove uprobes that are in use.
func checkLeft(file string, lines []string, runs func(pid string) bool) []Finding {
	left := map[string]bool{}
	for _, line := range lines {
		if m := uprobeOwner.FindStringSubmatch(line); m != nil && !runs(m[1]) {
			left[m[1]] = true
		}
	}
	if len(left) == 0 {
		return nil
	}
	owners := "a DTrace process that was killed has"
	if len(left) > 1 {
		owners = fmt.Sprintf("%d DTrace processes that were killed have", len(left))
	}
	return []Finding{{"dtrace", "left", Note, owners + " left probes in " + file + ", which cost nothing",
		"sudo sh -c 'for p in $(grep -o \"dt_[0-9]*_dtrace/[A-Z]*\" " + file + "); do echo \"-:$p\" >>" + file +
			"; done' 2>/dev/null"}}
}

// isDTrace reports whether a process with this id runs and has the name dtrace.
func isDTrace(pid string) bool {
	name, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
	return err == nil && strings.TrimSpace(string(name)) == "dtrace"
}

// awaitRelease waits until the stopped DTrace has removed its uprobes, which takes less than a second. If DTrace were
// killed earlier, its uprobes would remain in the kernel. The parameter before has the uprobes that existed before this
// DTrace was started; awaitRelease does not wait for them.
func awaitRelease(ctx context.Context, before []string) {
	for ctx.Err() == nil {
		_, now, _ := dtraceUprobes()
		if !slices.ContainsFunc(now, func(line string) bool { return !slices.Contains(before, line) }) {
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// dtraceVersion returns the version from the output of dtrace -V: "D 2.0.7" on Linux, "Sun D 1.13.2" on macOS. It
// returns "" if the text comes from another program named dtrace, such as SystemTap's.
func dtraceVersion(text string) string {
	for line := range strings.Lines(text) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "dtrace: "); ok && strings.Contains(" "+version, " D ") {
			return version
		}
	}
	return ""
}

// checkSIP judges what `csrutil status` prints on macOS. System Integrity Protection covers the system's own programs,
// but not the JVM. So a JVM can be sampled even if the protection is on.
func checkSIP(text string) Finding {
	c := Finding{Area: "dtrace", Name: "SIP", Status: OK}
	_, status, ok := strings.Cut(firstLine(text), "status: ")
	status = strings.TrimSuffix(strings.TrimSpace(status), ".")
	switch {
	case !ok:
		c.Text = "unknown: " + firstLine(text)
	case strings.HasPrefix(status, "enabled"):
		c.Text = "System Integrity Protection is on, which is normal: the JVM can be sampled all the same"
	case strings.HasPrefix(status, "disabled"):
		c.Text = "System Integrity Protection is off"
	default:
		c.Text = "System Integrity Protection: " + status
	}
	return c
}
