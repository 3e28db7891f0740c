package collect

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gasm-profiler/gasm/internal/tool"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// perfFields are the fields that a PerfReader expects.
const perfFields = "comm,pid,tid,time,event,ip,sym,dso"

// WriteText writes the recording as the text that a sampler.PerfReader reads. Call it after Stop, even if Stop returned
// an error.
func (p *Perf) WriteText(ctx context.Context, w io.Writer) error {
	args := []string{"script", "--ns", "-F", perfFields, "-i", p.data}
	stderr, err := p.script(ctx, append(args, "--show-lost-events"), w)
	if _, unknown := failure.LineWith(stderr, "unknown option `show-lost-events"); err != nil && unknown {
		stderr, err = p.script(ctx, args, w)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("perf script: %w", context.Cause(ctx))
	}
	if line := perfComplaint(stderr); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return fmt.Errorf("%s %s: %w", p.tool, strings.Join(args, " "), err)
}

// script runs perf script and returns what perf printed on stderr.
func (p *Perf) script(ctx context.Context, args []string, w io.Writer) (stderr string, err error) {
	var complaints external.Buffer
	out := &checkedWriter{w: w}
	cmd := tool.Command(ctx, p.tool, args...)
	cmd.Stdout, cmd.Stderr = out, &complaints
	err = cmd.Run()
	if out.err != nil {
		err = out.err // perf only knows of a broken pipe
	}
	return complaints.String(), err
}

// A checkedWriter remembers the first error of the writer under it. perf must not write into a file by itself, because
// perf does not check whether its writes worked. Because a checkedWriter is not an *os.File, os/exec copies perf's
// output through it.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(text []byte) (int, error) {
	n, err := c.w.Write(text)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}
