package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/parts"
)

// partsData is what the script needs to show only the samples of some threads or of a slice of time. A part of a
// profile has the samples of one group of threads in one slice of time. Counts by part are texts in the form that
// partText returns.
type partsData struct {
	List    [][2]int     `json:"list"` // for each part: index in Slices, index in Threads
	Slices  []sliceData  `json:"slices"`
	Threads []threadData `json:"threads"`
	All     []string     `json:"all"` // for each event, all samples by part
}

// sliceData is a slice of time.
type sliceData struct {
	Name string `json:"name"`
	JVM  string `json:"jvm"`
}

// threadData is a group of threads.
type threadData struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // "" for all threads of the kind that have no group of their own
}

// partText returns the samples of an event by part, for the attribute data-v. For each part with samples, the text has
// the number of the part and, if it is not 1, the number of samples. "0.12 3 7.2" are 12 samples of part 0, 1 of part 3
// and 2 of part 7.
func partText(counts parts.Counts, event int) string {
	var b []byte
	for _, c := range counts {
		n := c.Counts[event]
		if n == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(c.Part), 10)
		if n != 1 {
			b = strconv.AppendInt(append(b, '.'), n, 10)
		}
	}
	return string(b)
}

// partTexts returns the partText of each event.
func partTexts(counts parts.Counts, events int) []string {
	texts := make([]string, events)
	for e := range texts {
		texts[e] = partText(counts, e)
	}
	return texts
}

// partsOf returns the parts of a profile for the script, or nil if the profile is not divided into parts.
func (b *builder) partsOf(p *profile.Profile, events int) *partsData {
	parts := p.Parts
	if parts == nil {
		return nil
	}
	d := &partsData{All: partTexts(parts.All, events)}
	for _, part := range parts.List {
		d.List = append(d.List, [2]int{part.Slice, part.Thread})
	}
	for _, g := range parts.Threads {
		d.Threads = append(d.Threads, threadData{shown(g.Kind), shown(g.Name)})
	}
	var from int64
	if h := b.in.Profiles.History; h != nil {
		from = h.FromMonoNanos
	}
	for _, s := range parts.Slices {
		d.Slices = append(d.Slices, sliceData{sliceName(s, from), b.jvmName(s.PID)})
	}
	return d
}

// sliceName returns the name of a slice of time, in seconds on the axis of the time line: "2–4.50 s". from is the
// time in ns at which the axis begins.
func sliceName(s parts.TimeSlice, from int64) string {
	if s.FromMonoNanos < 0 {
		return "without a time"
	}
	seconds := func(mono int64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", float64(mono-from)/1e9), ".00") }
	return seconds(s.FromMonoNanos) + "–" + seconds(s.ToMonoNanos) + " s"
}

// jvmName returns a short name of a JVM: "fork 2", "pid 4711".
func (b *builder) jvmName(pid int) string {
	for _, j := range b.in.Profiles.Capture.JVMs {
		if j.PID == pid && j.Fork > 0 {
			return "fork " + strconv.Itoa(j.Fork)
		}
	}
	return "pid " + strconv.Itoa(pid)
}
