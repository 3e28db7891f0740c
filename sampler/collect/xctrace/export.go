package xctrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/tool"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
)

// WriteText writes the samples in perf script's format, with times of CLOCK_MONOTONIC.
func (x *Recording) WriteText(ctx context.Context, w io.Writer) error {
	began, err := x.began(ctx)
	if err != nil {
		return err
	}
	cmd := tool.Command(ctx, "xcrun", exportArgs(x.trace, x.table)...)
	var stderr external.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("xctrace export: %w", err)
	}
	bad, err := rewrite(w, sampler.NewXCTraceReader(out, "xctrace's export"), x.event, began)
	if err != nil {
		// The rest of the output must be read. Otherwise xctrace would wait forever for room in the pipe.
		_, _ = io.Copy(io.Discard, out)
	}
	if waitErr := cmd.Wait(); err == nil && waitErr != nil {
		err = fmt.Errorf("xctrace export: %w: %s", waitErr, stderr.String())
	}
	if bad.count > 0 {
		x.note("%d rows of xctrace's export could not be read, the first: %s", bad.count, bad.first)
	}
	return err
}

// A badRows has the number of rows that could not be read, and the error of the first one.
type badRows struct {
	count int
	first string
}

// rewrite writes the samples of an export in perf script's format. began is the recording's start on CLOCK_MONOTONIC,
// in ns.
func rewrite(w io.Writer, r *sampler.XCTraceReader, event sampler.Event, began int64) (bad badRows, err error) {
	text := sampler.NewPerfText([]string{event.Spec})
	last := sampler.Sample{PID: sampler.NoPID, TID: sampler.NoPID, MonoNanos: began}
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *sampler.Sample:
			last = *rec
			last.MonoNanos += began
			path := last.Module
			switch path {
			case "":
				path = "//anon"
			case sampler.KernelModule:
				path = "[kernel.kallsyms]"
			}
			text.Sample(&last, 0, path)
		case *sampler.Lost:
			text.Lost(&last, rec.Count, false)
		case *sampler.SyntaxError:
			if bad.count++; bad.count == 1 {
				bad.first = rec.Error()
			}
		}
		if text.Len() > 64<<10 {
			if _, err := w.Write(text.Bytes()); err != nil {
				return bad, err
			}
			text.Reset()
		}
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		return bad, err
	}
	return bad, r.Err()
}

// began returns when the recording began, in ns on CLOCK_MONOTONIC. The times of the samples count from this moment.
// The recording's table time-info has the moment in ticks of mach_absolute_time. If the table is missing, the result
// comes from the wall clock time in the recording's table of contents, which has a resolution of 1 ms.
func (x *Recording) began(ctx context.Context) (int64, error) {
	out, err := tool.Command(ctx, "xcrun", exportArgs(x.trace, "time-info")...).Output()
	if err == nil {
		if uptime, err := sampler.XCTraceStart(bytes.NewReader(out)); err == nil {
			return uptime + uptimeToMono(), nil
		}
	}
	out, tocErr := tool.Command(ctx, "xcrun", tocArgs(x.trace)...).Output()
	if tocErr != nil {
		return 0, fmt.Errorf("xctrace export --toc: %w", errors.Join(tocErr, err))
	}
	wall, err := sampler.XCTraceDate(out)
	if err != nil {
		return 0, err
	}
	x.note("xctrace did not tell when its recording began by the clock of the samples: it is taken from the wall clock, in ms")
	return wall.UnixNano() - time.Now().UnixNano() + monotonic.Nanos(), nil
}
