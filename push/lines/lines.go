// Package lines writes profiles as JSON, one per line:
//
//	{"from":"2026-11-27T13:02:00Z","to":"2026-11-27T13:02:15Z","labels":{"service.name":"shop","process.pid":"4711"},
//	 "samples":136,"cpu_nanoseconds":1346534653,"lost":0,"stacks":[{"samples":7,"frames":["org.acme.Shop::main:12","org.acme.Cart::sum:40"]}]}
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

// New returns a Writer. After the first error of w, the Writer calls closed with it, and refuses all further profiles.
func New(w io.Writer, closed func(error)) *Writer { return &Writer{w, closed} }

// String returns "-", which is how the flag --to names the standard output.
func (w *Writer) String() string { return "-" }

type line struct {
	From     time.Time         `json:"from"`
	To       time.Time         `json:"to"`
	Labels   map[string]string `json:"labels"`
	Samples  int64             `json:"samples"`
	CPUNanos int64             `json:"cpu_nanoseconds"`
	Lost     int64             `json:"lost"`
	Stacks   []stack           `json:"stacks"`
}

type stack struct {
	Samples int64    `json:"samples"`
	Frames  []string `json:"frames"`
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
	l := line{From: p.From.UTC(), To: p.To.UTC(), Labels: map[string]string{},
		Samples: p.Samples, CPUNanos: p.CPUNanos, Lost: p.Lost, Stacks: []stack{}}
	for _, label := range p.Labels {
		l.Labels[label.Name] = label.Value
	}
	for _, s := range parsed.Sample {
		l.Stacks = append(l.Stacks, stack{s.Value[0], frames(s)})
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
