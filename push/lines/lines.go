// Package lines writes profiles as JSON, one per line:
//
//	{"type":"cpu","from":"2026-11-27T13:02:00Z","to":"2026-11-27T13:02:15Z","labels":{"service.name":"shop","process.pid":"4711"},
//	 "samples":136,"cpu_nanoseconds":1346534653,"lost":0,"stacks":[{"samples":7,"frames":["org.acme.Shop::main:12","org.acme.Cart::sum:40"]}]}
//
// Lines of other kinds of profiles have these fields in place of samples, cpu_nanoseconds and lost:
//
//	{"type":"lock",…,"contentions":12,"delay_nanoseconds":41953,"stacks":[{"contentions":3,"delay_nanoseconds":1953,"frames":[…]}]}
//	{"type":"alloc",…,"alloc_samples":12,"alloc_space_bytes":419430,"stacks":[{"alloc_samples":3,"alloc_space_bytes":1953,"frames":[…]}]}
//
// The frames of a stack are listed from the outermost to the innermost, and inlined methods have frames of their own. A
// frame ends with its line number if that is known.
package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/push"
)

// A Writer writes profiles as lines.
type Writer struct {
	w      io.Writer
	closed func(error)
}

// New returns a Writer. After the first error of w, the Writer calls the function closed with this error, and refuses
// all further profiles.
func New(w io.Writer, closed func(error)) *Writer { return &Writer{w, closed} }

// String returns "-", which is how the flag --to names the standard output.
func (w *Writer) String() string { return "-" }

type line struct {
	Type     string            `json:"type"`
	From     time.Time         `json:"from"`
	To       time.Time         `json:"to"`
	Labels   map[string]string `json:"labels"`
	Samples  *int64            `json:"samples,omitempty"`
	CPUNanos *int64            `json:"cpu_nanoseconds,omitempty"`
	Lost     *int64            `json:"lost,omitempty"`
	eventSums
	Stacks []stack `json:"stacks"`
}

type stack struct {
	Samples *int64 `json:"samples,omitempty"`
	eventSums
	Frames []string `json:"frames"`
}

// An eventSums has the sums of events. Only those of one kind are set.
type eventSums struct {
	Contentions  *int64 `json:"contentions,omitempty"`
	DelayNanos   *int64 `json:"delay_nanoseconds,omitempty"`
	AllocSamples *int64 `json:"alloc_samples,omitempty"`
	AllocBytes   *int64 `json:"alloc_space_bytes,omitempty"`
}

// sumsOf returns the sums of events of a kind: values[0] is their number, and values[1] is the sum of their ns or
// bytes.
func sumsOf(kind push.Kind, values []int64) (s eventSums) {
	if kind == push.Lock {
		s.Contentions, s.DelayNanos = &values[0], &values[1]
	} else {
		s.AllocSamples, s.AllocBytes = &values[0], &values[1]
	}
	return s
}

// Send writes a profile.
func (w *Writer) Send(_ context.Context, p *push.Profile) error {
	text, err := lineOf(p)
	if err != nil {
		return &push.RefusedError{Reason: err.Error()}
	}
	if _, err := w.w.Write(text); err != nil {
		w.closed(err)
		return &push.RefusedError{Reason: err.Error()}
	}
	return nil
}

func lineOf(p *push.Profile) ([]byte, error) {
	parsed, err := pprof.Parse(bytes.NewReader(p.Pprof))
	if err != nil {
		return nil, err
	}
	l := line{Type: p.Kind.String(), From: p.From.UTC(), To: p.To.UTC(), Labels: map[string]string{}, Stacks: []stack{}}
	for _, label := range p.Labels {
		l.Labels[label.Name] = label.Value
	}
	sums := make([]int64, 2)
	for _, s := range parsed.Sample {
		one := stack{Frames: frames(s)}
		if p.Kind == push.CPU {
			one.Samples = &s.Value[0]
		} else {
			one.eventSums = sumsOf(p.Kind, s.Value)
			sums[0], sums[1] = sums[0]+s.Value[0], sums[1]+s.Value[1]
		}
		l.Stacks = append(l.Stacks, one)
	}
	if p.Kind == push.CPU {
		l.Samples, l.CPUNanos, l.Lost = &p.Samples, &p.CPUNanos, &p.Lost
	} else {
		l.eventSums = sumsOf(p.Kind, sums)
	}
	text, err := json.Marshal(l)
	return append(layout.EscapeJSON(text), '\n'), err
}

// frames returns the frames of a sample, the outermost first.
func frames(s *pprof.Sample) (all []string) {
	for _, location := range slices.Backward(s.Location) {
		for _, in := range slices.Backward(location.Line) {
			frame := in.Function.Name
			if in.Line > 0 {
				frame += ":" + strconv.FormatInt(in.Line, 10)
			}
			all = append(all, frame)
		}
	}
	return all
}
