package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/report/perfetto"
)

// An EventFormat is a form in which the events of a capture can be listed.
type EventFormat struct {
	Name    string
	Write   func(io.Writer, []event.Event, EventOptions) error
	Samples bool // also has the samples of the capture
}

// EventOptions say how to write a list of events.
type EventOptions struct {
	Look  layout.Look
	Sites event.SiteRule // chooses the frame that the formats text and perfetto show for each event; "" is event.SiteOwn
	// Capture has the samples for the format perfetto, and Samples chooses some of them. If Capture is nil, the trace has
	// no samples. If Note is not nil, it is called with a note about each thing that the trace lacks.
	Capture *capture.Capture
	Samples choice.Options
	Note    func(text string)
}

// EventFormats are all formats for lists of events, the default one first.
var EventFormats = []EventFormat{
	{Name: "text", Write: writeEventText},
	{Name: "jsonl", Write: writeEventLines},
	{Name: "perfetto", Write: writeTrace, Samples: true},
}

// EventFormatNames returns the names of EventFormats, in the same order.
func EventFormatNames() []string {
	names := make([]string, len(EventFormats))
	for i, f := range EventFormats {
		names[i] = f.Name
	}
	return names
}

// tableRows is the number of rows that are laid out together, with their columns aligned. It limits the memory for a
// long list.
const tableRows = 4096

// writeEventText writes a row for each event. Times are relative to the time of the first event.
func writeEventText(w io.Writer, events []event.Event, o EventOptions) error {
	page := layout.NewPage(w, o.Look)
	header := []string{"SECONDS", "MS", "WAIT MS", "PID", "THREAD", "KIND", "NAME", ""}
	aligns := []layout.Align{layout.Right, layout.Right, layout.Right, layout.Right, layout.Right, layout.Left,
		layout.Left, layout.Left}
	if len(events) == 0 {
		page.Line("The capture has no events.")
	}
	for start := 0; start < len(events); start += tableRows {
		var rows [][]string
		for i := range events[start:min(start+tableRows, len(events))] {
			e := &events[start+i]
			rows = append(rows, []string{fmt.Sprintf("%.6f", float64(e.MonoNanos-events[0].MonoNanos)/1e9), eventMillis(e.Nanos),
				eventMillis(e.WaitNanos),
				strconv.Itoa(e.PID), eventThread(e), string(e.Kind), e.Name, eventText(e, o.Sites)})
		}
		for _, line := range layout.Table(header, rows, aligns) {
			page.Line("%s", line)
		}
		header = nil
	}
	return page.Flush()
}

// eventThread returns the id of an event's thread as text, or "" if the event concerns the whole JVM.
func eventThread(e *event.Event) string {
	if e.TID == 0 || !e.Kind.OfThread() {
		return ""
	}
	return strconv.Itoa(e.TID)
}

// eventMillis returns a duration as a number of ms, or "" for 0.
func eventMillis(nanos int64) string {
	if nanos == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", float64(nanos)/1e6)
}

// A jsonEvent is a line of the format jsonl.
type jsonEvent struct {
	MonoNanos int64             `json:"mono_nanos"`
	Nanos     int64             `json:"nanos"`
	WaitNanos int64             `json:"wait_nanos,omitempty"`
	PID       int               `json:"pid"`
	TID       int               `json:"tid,omitempty"`
	Bytes     int64             `json:"bytes,omitempty"`
	PC        string            `json:"pc,omitempty"`
	Frames    []jsonFrame       `json:"frames,omitempty"`    // the innermost one first
	Truncated bool              `json:"truncated,omitempty"` // the outermost frames are missing
	Kind      event.Kind        `json:"kind"`
	Name      string            `json:"name"`
	Args      map[string]string `json:"args,omitempty"`
}

// A jsonFrame is a frame of an event's stack.
type jsonFrame struct {
	Method string `json:"method"`
	BCI    int    `json:"bci"`
	Line   int    `json:"line,omitempty"`
}

func newJSONEvent(e *event.Event) jsonEvent {
	j := jsonEvent{MonoNanos: e.MonoNanos, Nanos: e.Nanos, WaitNanos: e.WaitNanos, PID: e.PID, TID: e.TID, Bytes: e.Bytes,
		Truncated: e.Truncated, Kind: e.Kind, Name: e.Name, Args: eventArgs(e.Args)}
	if e.PC != 0 {
		j.PC = fmt.Sprintf("0x%x", e.PC)
	}
	for _, f := range e.Frames {
		j.Frames = append(j.Frames, jsonFrame(f))
	}
	return j
}

// writeEventLines writes a line of JSON for each event.
func writeEventLines(w io.Writer, events []event.Event, _ EventOptions) error {
	out := bufio.NewWriter(w)
	for i := range events {
		e := &events[i]
		if err := writeJSONLine(out, newJSONEvent(e)); err != nil {
			return err
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

func eventArgs(args []event.Arg) map[string]string {
	if len(args) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, a := range args {
		m[a.Name] = a.Value
	}
	return m
}

func writeJSONLine(out *bufio.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	out.Write(layout.EscapeJSON(text))
	return nil
}

// writeTrace writes a trace for Perfetto, with the events and the samples.
func writeTrace(w io.Writer, events []event.Event, o EventOptions) error {
	t := perfetto.Trace{Capture: &capture.Description{}, Events: events, Sites: o.Sites,
		SourceFile: func(string) string { return "" }}
	if o.Capture != nil {
		t.Capture, t.SourceFile = &o.Capture.Description, profile.SourceFileOf(o.Capture)
		for _, f := range o.Capture.WallFiles() {
			if o.Samples.PID == 0 || f.PID == o.Samples.PID {
				t.Waits = append(t.Waits, f)
			}
		}
		t.Samples = func(yield func(*profile.PlacedSample) error) (*profile.Placement, error) {
			return profile.PlaceSamples(o.Capture, o.Samples, yield)
		}
	}
	notes, err := perfetto.Write(w, &t)
	if o.Note != nil {
		for _, note := range notes {
			o.Note(note)
		}
	}
	return err
}

// eventText describes an event by its place and its arguments: "at Workload::main:12, cause=G1 Evacuation Pause".
func eventText(e *event.Event, sites event.SiteRule) string {
	var parts []string
	if f := sites.Site(e); f.Method != "" {
		parts = append(parts, fmt.Sprintf("at %s:%d", f.Method, f.Line))
	}
	for _, a := range e.Args {
		parts = append(parts, a.Name+"="+a.Value)
	}
	return strings.Join(parts, ", ")
}
