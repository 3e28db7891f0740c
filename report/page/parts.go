package page

import (
	"strconv"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/page/timeline"
)

// partsData is what the script needs to show only the samples of some threads or of a slice of time. A part of a
// profile has the samples of one group of threads in one slice of time. Counts by part are texts in the form that
// partText returns.
type partsData struct {
	List    [][2]int     `json:"list"` // for each part: index in Slices, index in Threads
	Slices  []sliceData  `json:"slices"`
	Threads []threadData `json:"threads"`
	All     []string     `json:"all"`            // for each event, all samples by part
	Warm    []int        `json:"warm,omitempty"` // the slices after warm-up; empty if these are all slices, or none
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

// partText returns the numbers of an event's samples in each part, for the attribute data-v. For each part with
// samples, the text has the number of the part and, if it is not 1, the number of samples. "0.12 3 7.2" are 12 samples
// of part 0, 1 of part 3 and 2 of part 7.
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
		d.Threads = append(d.Threads, threadData{show.Text(g.Kind), show.Text(g.Name)})
	}
	for _, s := range parts.Slices {
		d.Slices = append(d.Slices, sliceData{timeline.SliceName(s, amount.Origin(b.in.Profiles, s.PID)), b.jvmName(s.PID)})
	}
	d.Warm = warmSlices(parts.Slices, amount.Warmths(b.in.Profiles, p))
	return d
}

// warmSlices returns the indexes of the slices that began after their JVM was warm. It returns nil if all slices did,
// or none.
func warmSlices(slices []parts.TimeSlice, warmths []amount.JVMWarmth) (warm []int) {
	from := map[int]int64{}
	for i := range warmths {
		if w := &warmths[i]; w.Warm {
			from[w.PID] = w.FromMonoNanos
		}
	}
	for i, s := range slices {
		if at, ok := from[s.PID]; ok && s.FromMonoNanos >= at {
			warm = append(warm, i)
		}
	}
	if len(warm) == len(slices) {
		return nil
	}
	return warm
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
