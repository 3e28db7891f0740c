package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

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
		if n.Name != "Shares::heavy" {
			continue
		}
		under, whole := callers(nodes, i)
		if !whole {
			continue
		}
		found += n.Counts.Values[0]
		if under {
			called += n.Counts.Values[0]
		}
	}
	text += fmt.Sprintf("; %d of %d of heavy under main", called, found)
	if float64(a.StackWhole) < leastWhole*float64(a.Profiled) || found == 0 || called != found {
		return "", errors.New(text)
	}
	return text, nil
}

// callers reports whether Features.main has called a node, and whether no frame between the node and the thread is
// missing.
func callers(nodes []schema.StackNode, at int) (underMain, whole bool) {
	whole = true
	for ; at >= 0; at = nodes[at].Parent {
		n := &nodes[at]
		underMain = underMain || n.Name == "Features::main"
		whole = whole && !slices.ContainsFunc(n.Kinds, func(kind string) bool {
			return kind == "cut" || kind == "frozen" || kind == "unwalked"
		})
	}
	return underMain, whole
}

// allThreads prints the stacks of all threads, and checks two of them: that of the thread that runs, and that of a
// thread of the JDK that waits.
func (t *trial) allThreads() (string, error) {
	if err := t.start(); err != nil {
		return "", err
	}
	text, err := t.run("stacks", t.pid())
	if err != nil {
		return "", err
	}
	threads := strings.Split(text, "\n\n")
	for _, want := range []struct{ thread, frame string }{
		{`"main"`, "at Features.main"}, {`"Reference Handler"`, "at java.lang.ref.Reference"},
	} {
		i := slices.IndexFunc(threads, func(s string) bool { return strings.HasPrefix(s, want.thread) })
		if i < 0 {
			return "", fmt.Errorf("no thread %s", want.thread)
		}
		if !strings.Contains(threads[i], want.frame) {
			return "", fmt.Errorf("no %q in\n%s", want.frame, threads[i])
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
	var texts []string
	for _, want := range []struct {
		thread  string
		running bool
	}{{"main", true}, {"Reference Handler", false}} {
		i := slices.IndexFunc(p.Waits.Threads, func(w schema.WaitsThread) bool { return w.Name == want.thread })
		if i < 0 {
			return "", fmt.Errorf("no thread %s", want.thread)
		}
		states, all := p.Waits.Threads[i].States, int64(0)
		for _, ns := range states {
			all += ns
		}
		share := float64(states["on processor"]+states["runnable"]) / float64(max(all, 1))
		texts = append(texts, fmt.Sprintf("%s ran or was ready for %.0f %% of %.1f s", want.thread, 100*share, float64(all)/1e9))
		if all == 0 || (share > 0.5) != want.running {
			err = errors.New("states are not as expected")
		}
	}
	text := strings.Join(texts, "; ")
	if err != nil {
		return "", fmt.Errorf("%w: %s: %v", err, text, p.Waits.States)
	}
	return text, nil
}

// heavyRow matches a row of a table: the share of the method in which the program spends most of its time.
var heavyRow = regexp.MustCompile(`(?m)^.*\d%.*Shares::heavy.*$`)

// top prints what the live view shows, twice, and checks that the program's hottest method is in the second picture.
func (t *trial) top() (string, error) {
	if err := t.start(); err != nil {
		return "", err
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
	if err := t.start(); err != nil {
		return "", err
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
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		p, err := profile.Parse(f)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if !slices.ContainsFunc(p.Function, func(f *profile.Function) bool { return strings.Contains(f.Name, "heavy") }) {
			return "", fmt.Errorf("%s: no Shares.heavy", path)
		}
	}
	return fmt.Sprintf("%d profiles", len(files)), nil
}
