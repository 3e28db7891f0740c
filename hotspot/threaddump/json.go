package threaddump

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// Schema is the version of the JSON form, which docs/stacks.md describes. New fields may be added without a new
// version.
const Schema = 1

// The types of the JSON form. Addresses are hexadecimal text, because many programs read JSON's numbers as floating
// point, which is not exact.
type (
	jsonDump struct {
		Schema    int          `json:"schema"`
		PID       int          `json:"pid"`
		Release   int          `json:"release"`
		Version   string       `json:"version,omitempty"`
		Time      string       `json:"time"`
		TookNanos int64        `json:"tookNanos"`
		Moved     int          `json:"moved"`
		Unsampled string       `json:"unsampled,omitempty"`
		More      bool         `json:"more,omitempty"`
		Threads   []jsonThread `json:"threads"`
		Deadlocks [][]int      `json:"deadlocks"`
	}
	jsonThread struct {
		Name      string       `json:"name"`
		TID       int          `json:"tid"`
		NID       int          `json:"nid"`
		CPUNanos  int64        `json:"cpuNanos"`
		Java      *jsonJava    `json:"java,omitempty"`
		Kernel    jsonKernel   `json:"kernel"`
		Virtual   *jsonVirtual `json:"virtual,omitempty"`
		Compiling string       `json:"compiling,omitempty"`
		Stack     string       `json:"stack"`
		Frames    []jsonFrame  `json:"frames"`
	}
	jsonJava struct {
		ID       int64  `json:"id"`
		Address  string `json:"address"`
		Daemon   bool   `json:"daemon"`
		Priority int    `json:"priority"`
		State    string `json:"state,omitempty"`
	}
	jsonKernel struct {
		State string `json:"state"`
		Call  string `json:"call,omitempty"`
		On    string `json:"on,omitempty"`
	}
	jsonVirtual struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	jsonFrame struct {
		Kind      string     `json:"kind"`
		Name      string     `json:"name,omitempty"`
		Module    string     `json:"module,omitempty"`
		File      string     `json:"file,omitempty"`
		Line      int        `json:"line,omitempty"`
		BCI       *int       `json:"bci,omitempty"`
		CompileID int        `json:"compileId,omitempty"`
		PC        string     `json:"pc,omitempty"`
		Native    bool       `json:"native,omitempty"`
		Locks     []jsonLock `json:"locks,omitempty"`
	}
	jsonLock struct {
		Kind    string `json:"kind"`
		Address string `json:"address"`
		Class   string `json:"class"`
		Of      string `json:"of,omitempty"`
		Owner   *int   `json:"owner,omitempty"` // an index in threads
	}
)

// WriteJSON writes a Dump as JSON.
func WriteJSON(w io.Writer, d *Dump) error {
	out := jsonDump{Schema: Schema, PID: d.PID, Release: d.Release, Version: d.Version,
		Time:      d.Time.UTC().Format("2006-01-02T15:04:05.000Z"),
		TookNanos: d.Took.Nanoseconds(), Moved: d.Moved, More: d.More, Threads: []jsonThread{}, Deadlocks: [][]int{}}
	if d.Unsampled != nil {
		out.Unsampled = d.Unsampled.Error()
	}
	for i := range d.Threads {
		out.Threads = append(out.Threads, d.Threads[i].json())
	}
	for _, deadlock := range d.Deadlocks {
		out.Deadlocks = append(out.Deadlocks, deadlock)
	}
	text, err := json.MarshalIndent(&out, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(layout.EscapeJSON(text), '\n'))
	return err
}

func (t *Thread) json() jsonThread {
	j := jsonThread{Name: t.Name, TID: t.TID, NID: t.NID, CPUNanos: t.CPU.Nanoseconds(), Compiling: t.Compiling,
		Stack:  string(t.Stack),
		Kernel: jsonKernel{string(t.Kernel.State), t.Kernel.Call, t.Kernel.On}, Frames: []jsonFrame{}}
	if t.Java != nil {
		j.Java = &jsonJava{t.Java.ID, hexadecimal(t.Java.Address), t.Java.Daemon, t.Java.Priority, t.Java.State}
	}
	if t.Virtual != nil {
		j.Virtual = &jsonVirtual{t.Virtual.ID, t.Virtual.Name}
	}
	for i := range t.Frames {
		j.Frames = append(j.Frames, t.Frames[i].json())
	}
	return j
}

func (f *Frame) json() jsonFrame {
	j := jsonFrame{Kind: f.Kind.String(), Name: f.Name, Module: f.Module, File: f.Source, Line: max(f.Line, 0),
		CompileID: f.CompileID, Native: f.Native}
	if f.PC != 0 {
		j.PC = hexadecimal(f.PC)
	}
	if bci := f.BCI; f.Kind.Java() && bci != callstack.Unknown {
		j.BCI = &bci
	}
	for _, l := range f.Locks {
		lock := jsonLock{string(l.Kind), hexadecimal(l.Address), l.Class, l.Of, nil}
		if owner := l.Owner; owner >= 0 {
			lock.Owner = &owner
		}
		j.Locks = append(j.Locks, lock)
	}
	return j
}

// hexadecimal returns an address as text.
func hexadecimal(address uint64) string { return fmt.Sprintf("0x%x", address) }
