package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/gasm-profiler/gasm/sampler"
)

// checkDTrace tries DTrace the way a profile uses it: as the user, and with
// sudo where that asks for no password.
func checkDTrace(ctx context.Context, dir string) samplerResult {
	var r samplerResult
	path, pathErr := findDTrace()
	version := "unknown version"
	known := false
	if pathErr == nil {
		stdout, stderr, _ := run(ctx, nil, path, "-V")
		if v, ok := dtraceVersion(stdout + stderr); ok {
			version, known = v, true
		}
	}
	if !known {
		// The sampler knows what is wrong with it, and what installs the real one.
		if _, err := tryDTrace(ctx, dir, false); err != nil {
			cause, mend := explain(err)
			r.missing, r.cause, r.mend = true, "dtrace: "+cause, mend
			r.checks = []Finding{{"dtrace", "found", Note, cause, mend}}
			return r
		}
	}
	r.checks = []Finding{{"dtrace", "found", OK, path + ", " + version, ""}}
	r.tryBoth(ctx, dir, os.Geteuid() == 0)
	if runtime.GOOS == "darwin" {
		stdout, stderr, _ := run(ctx, nil, "csrutil", "status")
		r.checks = append(r.checks, checkSIP(stdout+stderr))
	}
	return r
}

// tryBoth runs dtrace without sudo and, if that fails, with it.
func (r *samplerResult) tryBoth(ctx context.Context, dir string, root bool) {
	c := Finding{Area: "dtrace", Name: "sampling", Status: OK, Text: "runs"}
	event, err := tryDTrace(ctx, dir, false)
	r.works = err == nil
	if err != nil {
		c.Status = Problem
		c.Text, c.Mend = explain(err)
	}
	_, noSudo := exec.LookPath("sudo")
	if err != nil && !root && noSudo == nil {
		_, _, asks := run(ctx, nil, "sudo", "-n", "true")
		if asks == nil {
			event, err = tryDTrace(ctx, dir, true)
		}
		switch {
		case asks != nil:
			c.Status, c.Text, c.Mend = Note, c.Text+"; sudo asks for a password", "sudo -v && gasm profile --sampler dtrace --sudo ..."
		case err == nil:
			r.works, r.sudo = true, true
			c.Status, c.Text, c.Mend = Note, "runs under sudo only, which asks for no password", "gasm profile --sampler dtrace --sudo ..."
		default:
			c.Text, c.Mend = explain(err)
		}
	}
	r.checks, r.event = append(r.checks, c), event
	if !r.works {
		r.cause, r.mend = "dtrace: "+c.Text, c.Mend
	}
}

// tryDTrace starts and stops it, and gives the probe that sampled.
func tryDTrace(ctx context.Context, dir string, sudo bool) (event string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
	defer cancel()
	dir, err = os.MkdirTemp(dir, "dtrace-")
	if err != nil {
		return "", err
	}
	d, err := sampler.StartDTrace(ctx, sampler.DTraceOptions{Frequency: sampler.DefaultFrequency, Sudo: sudo, Dir: dir})
	if err != nil {
		return "", err
	}
	err = d.Stop()
	cancel() // it would take seconds to end by itself
	d.Wait()
	return d.Event(), err
}

// findDTrace also looks where a user's PATH does not lead on Linux.
func findDTrace() (string, error) {
	path, err := exec.LookPath("dtrace")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/dtrace")
	}
	return path, err
}

// dtraceVersion reads "dtrace: Sun D 1.13.2" or "dtrace: D 2.0.7". SystemTap
// has a program named dtrace, too, which says something else.
func dtraceVersion(text string) (string, bool) {
	for line := range strings.Lines(text) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "dtrace: "); ok && strings.Contains(" "+version, " D ") {
			return version, true
		}
	}
	return "", false
}

// checkSIP reads what `csrutil status` prints on macOS. Java's processes are
// not the system's, so protection is no problem.
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
