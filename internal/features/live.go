package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/report/schema"
)

// leastWhole is the smallest allowed share of samples with whole call stacks. In an emulated machine, gasm reaches its
// limits of time, which leave stacks without frames.
const leastWhole = 0.5

// stacks checks the call stacks of the profile: at least half of them must be whole, and all of those of Shares.heavy
// must come from Features.main.
func (t *trial) stacks() (string, error) {
	if t.report == nil {
		return "", errNoProfile
	}
	if t.report.Stacks == nil {
		return "", fmt.Errorf("no call stacks: %v", t.report.Warnings)
	}
	a := t.report.Account.Values[0]
	text := fmt.Sprintf("%d of %d whole, %d cut, %d not walked", a.StackWhole, a.Profiled, a.StackCut, a.StackUnwalked)
	found, called := int64(0), int64(0)
	nodes := t.report.Stacks.Nodes
	for i, n := range nodes {
		if n.Name != "Shares::heavy" || !whole(nodes, i) {
			continue
		}
		found += n.Counts.Values[0]
		if under(nodes, i, "Features::main") {
			called += n.Counts.Values[0]
		}
	}
	text += fmt.Sprintf("; %d of %d of heavy under main", called, found)
	if float64(a.StackWhole) < leastWhole*float64(a.Profiled) || found == 0 || called != found {
		return "", errors.New(text)
	}
	return text, nil
}

// under reports whether a node or one of its callers has this name.
func under(nodes []schema.StackNode, at int, name string) bool {
	for ; at >= 0; at = nodes[at].Parent {
		if nodes[at].Name == name {
			return true
		}
	}
	return false
}

// whole reports whether no frame between a node and the thread is missing.
func whole(nodes []schema.StackNode, at int) bool {
	for ; at >= 0; at = nodes[at].Parent {
		for _, kind := range []string{"cut", "frozen", "unwalked"} {
			if slices.Contains(nodes[at].Kinds, kind) {
				return false
			}
		}
	}
	return true
}

// allThreads prints the stacks of all threads, and checks two of them: that of the thread that runs, and that of a
// thread of the JDK that waits.
func (t *trial) allThreads() (string, error) {
	if t.running == nil {
		if err := t.start(); err != nil {
			return "", err
		}
	}
	text, err := t.run("stacks", t.pid())
	if err != nil {
		return "", err
	}
	threads := strings.Split(text, "\n\n")
	for thread, frame := range map[string]string{`"main"`: "at Features.main", `"Reference Handler"`: "at java.lang.ref.Reference"} {
		i := slices.IndexFunc(threads, func(s string) bool { return strings.HasPrefix(s, thread) })
		if i < 0 {
			return "", fmt.Errorf("no thread %s", thread)
		}
		if !strings.Contains(threads[i], frame) {
			return "", fmt.Errorf("no %q in\n%s", frame, threads[i])
		}
	}
	return fmt.Sprintf("%d threads", strings.Count("\n"+text, "\n\"")), nil
}

// wall records where threads wait, and checks two threads: the main thread is never blocked for long, and the thread
// that handles references is always blocked.
func (t *trial) wall() (string, error) {
	p, err := t.attachFor("wall", "--length", "8s", "--events", "none", "--wall")
	if err != nil {
		return "", err
	}
	if p.Waits == nil {
		return "", fmt.Errorf("no waits: %v", p.Warnings)
	}
	text := ""
	for name, running := range map[string]bool{"main": true, "Reference Handler": false} {
		i := slices.IndexFunc(p.Waits.Threads, func(w schema.WaitsThread) bool { return w.Name == name })
		if i < 0 {
			return "", fmt.Errorf("no thread %s", name)
		}
		states, all := p.Waits.Threads[i].States, int64(0)
		for _, ns := range states {
			all += ns
		}
		share := float64(states["on processor"]+states["runnable"]) / float64(max(all, 1))
		text += fmt.Sprintf("%s ran or was ready for %.0f %% of %.1f s; ", name, 100*share, float64(all)/1e9)
		if all == 0 || (share > 0.5) != running {
			err = errors.New("states are not as expected")
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s%v", err, text, p.Waits.States)
	}
	return strings.TrimSuffix(text, "; "), nil
}

// heavyRow matches a row of a table: the share of the method in which the program spends most of its time.
var heavyRow = regexp.MustCompile(`(?m)^.*\d%.*Shares::heavy.*$`)

// top prints what the live view shows, twice, and checks that the program's hottest method is in the second picture.
func (t *trial) top() (string, error) {
	if t.running == nil {
		if err := t.start(); err != nil {
			return "", err
		}
	}
	text, err := t.run("top", "--batch", "-n", "2", "-d", "8", "--color", "never", t.pid())
	if err != nil {
		return "", err
	}
	rows := heavyRow.FindAllString(text, -1)
	if len(rows) < 2 {
		return "", fmt.Errorf("%d rows of Shares::heavy, not one for each time:\n%s", len(rows), text)
	}
	return strings.Join(strings.Fields(rows[len(rows)-1]), " "), nil
}

// watch profiles the program continuously until there are two profiles of it, and checks that they have the program's
// hottest method.
func (t *trial) watch() (string, error) {
	if t.running == nil {
		if err := t.start(); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(t.dir, "watch")
	var errs bytes.Buffer
	cmd := exec.Command(t.gasm, "watch", "--every", "8s", "--to", "dir:"+dir, t.pid())
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var files []string
	for end := time.Now().Add(patience); len(files) < 2 && time.Now().Before(end); time.Sleep(time.Second) {
		files, _ = filepath.Glob(filepath.Join(dir, "*", "*.pb.gz")) // the pattern is right
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("gasm watch: %w\n%s", err, errs.String())
	}
	if len(files) < 2 {
		return "", fmt.Errorf("%d profiles after %s: %s", len(files), patience, errs.String())
	}
	for _, path := range files {
		profile, err := unzip(path)
		if err != nil {
			return "", err
		}
		if !bytes.Contains(profile, []byte("heavy")) {
			return "", fmt.Errorf("%s: no Shares.heavy", path)
		}
	}
	return fmt.Sprintf("%d profiles", len(files)), nil
}

// unzip reads a file that was compressed with gzip.
func unzip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
