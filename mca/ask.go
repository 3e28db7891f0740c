package mca

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/tool"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/loops"
)

// Limits on the time that the modelling program may take for one loop and for all loops of a report, on what it may
// print, and on its memory.
const (
	timeForLoop = time.Minute // OSACA takes a few seconds
	timeForAll  = 5 * time.Minute
	maxOutput   = 64 << 10
	maxMemory   = 4 << 30 // bytes of address space; llvm-mca needs 0.3 GB, and OSACA with one thread 1 GB
)

// limitedCommand returns a command that runs the program with at most maxMemory and, even if gasm is killed,
// timeForLoop of CPU time. A shell that does not know a limit (macOS has none on memory) runs the program without it.
func limitedCommand(ctx context.Context, path string, args ...string) *exec.Cmd {
	limits := fmt.Sprintf(`{ ulimit -v %d; ulimit -t %d; } 2>/dev/null; exec "$@"`, maxMemory>>10,
		int(timeForLoop.Seconds()))
	cmd := tool.Command(ctx, "/bin/sh", append([]string{"-c", limits, "sh", path}, args...)...)
	// Without these variables, OSACA's numpy reserves memory for one thread per processor.
	cmd.Env = append(cmd.Env, "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	return cmd
}

// Ask asks the program about the hottest loops of all profiles, several at a time, and sets Modelled of each of these
// loops. It skips a loop if the loop has no path that the program can read. Ask returns when all loops have an answer.
// If that takes longer than timeForAll, or if ctx is done, it returns soon after that.
func (t *Tool) Ask(ctx context.Context, ps *profile.Profiles) {
	var all []*loops.Facts
	for i := range ps.Trials {
		for j := range ps.Trials[i].HotLoops {
			if f := ps.Trials[i].HotLoops[j].Facts; f.Innermost && f.Assembly() != "" {
				all = append(all, f)
			}
		}
	}
	t.askAll(ctx, all)
}

// askAll asks the program about loops.
func (t *Tool) askAll(ctx context.Context, all []*loops.Facts) {
	ctx, cancel := context.WithTimeout(ctx, timeForAll)
	defer cancel()
	work := make(chan *loops.Facts)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		wg.Go(func() {
			for f := range work {
				f.Modelled = t.ask(ctx, f.Assembly())
			}
		})
	}
	for _, f := range all {
		work <- f
	}
	close(work)
	wg.Wait()
}

// ask returns what the program says about a loop's source.
func (t *Tool) ask(ctx context.Context, source string) *loops.Model {
	m := &loops.Model{Tool: t.String()}
	output, err := t.run(ctx, source)
	m.Text = strings.TrimSpace(strings.ReplaceAll(output, "\t", " "))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		m.Verdict = "no answer, because it took too long"
	case errors.Is(err, context.Canceled):
		m.Verdict = "no answer, because of a signal"
	case err != nil:
		m.Verdict = "no answer: " + err.Error()
	case t.OSACA():
		m.Verdict, m.Text = osacaVerdict(m.Text), shortened(m.Text)
	default:
		m.Verdict = llvmVerdict(m.Text)
	}
	if m.Verdict == "" {
		m.Verdict = "an answer that gasm does not know"
	}
	return m
}

// run runs the program. It returns what it printed: its messages if it failed.
func (t *Tool) run(ctx context.Context, source string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeForLoop)
	defer cancel()
	file := ""
	if t.OSACA() {
		dir, err := os.MkdirTemp("", "gasm-osaca-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "loop.s")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			return "", err
		}
	}
	cmd := limitedCommand(ctx, t.path, t.args(file)...)
	var stdout, stderr limited
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if file == "" {
		cmd.Stdin = strings.NewReader(source)
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return string(stderr.kept), err
	}
	return string(stdout.kept), nil
}

// A limited buffer keeps the first maxOutput bytes.
type limited struct{ kept []byte }

// Write keeps what there is room for. It returns no error, so that the program does not wait.
func (l *limited) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(maxOutput-len(l.kept), len(p))]...)
	return len(p), nil
}
