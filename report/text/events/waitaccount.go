package events

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// writeWallAccount writes where the recorded time of all threads went, and how the threads were observed.
func writeWallAccount(v *view.View) {
	w := v.Profile.Waits
	a := &w.Account
	labels, values := []string{"recorded"}, []int64{a.Total}
	add := func(label string, n int64, always bool) {
		if n > 0 || always {
			labels, values = append(labels, label), append(values, n)
		}
	}
	add("  outside the window", a.OutsideWindow, true)
	add("  other threads", a.OtherThread, false)
	add("  outside the method", a.OutsideMethod, false)
	add("  not under the method", a.NotUnder, false)
	add("  in the profile", a.Profiled, true)
	top := len(values)
	for _, s := range statesIn(&w.Times) {
		add("    "+s.String(), w.Times[s], true)
	}
	ofRecorded, ofProfile := amount.Shares(values[1:top], a.Total), amount.Shares(values[top:], a.Profiled)
	var rows [][]string
	for i, n := range values {
		row := []string{labels[i], tableSeconds(n), "", ""}
		switch {
		case i == 0:
			row[2] = amount.Whole.String()
		case i < top && n > 0:
			row[2] = ofRecorded[i-1].String()
		case i >= top:
			row[3] = ofProfile[i-top].String()
		}
		if i == top-1 && n > 0 {
			row[3] = amount.Whole.String()
		}
		rows = append(rows, row)
	}
	v.Rule("Account of Threads' Time")
	for _, line := range layout.Table([]string{"", "s", "of recorded", "of profile"}, rows,
		[]layout.Align{layout.Left, layout.Right, layout.Right, layout.Right}) {
		v.Line("%s", line)
	}
	for i := range w.JVMs {
		v.Paragraph("", looks(v, &w.JVMs[i]))
	}
	v.Line("")
}

// looks returns sentences about how the threads of a JVM were observed.
func looks(v *view.View, j *waits.JVM) string {
	text := fmt.Sprintf("Threads%s were looked at %d times a second, for %s.", v.InJVM(j.PID), j.Hertz,
		view.Seconds(j.ToMonoNanos-j.FromMonoNanos))
	if len(v.Profile.PIDs) > 1 {
		text = strings.Replace(text, "Threads, ", "Threads of ", 1)
	}
	e := j.End
	if e == nil {
		return text + " The recording was cut off."
	}
	text +=
		fmt.Sprintf(" Of %d looks, %d found a thread that ran each time it was read, %d could not read the thread, and %d were left out to save time.", e.Looks+e.Left, e.Moved, e.Unread, e.Left)
	if e.Clamped >= 5e6 { // less would be shown as 0.00 s
		text += fmt.Sprintf(" %s were taken off the kernel's counters, which said more than the clock.",
			view.Seconds(e.Clamped))
	}
	if e.Together {
		text += " All threads were asked together whether they had run, with a BPF iterator."
	}
	if e.Unrecorded > 0 {
		text += fmt.Sprintf(" There were up to %s more than gasm records; the time of these is missing.",
			layout.Plural(int(e.Unrecorded), "thread"))
	}
	if e.Reopened > 0 {
		text += fmt.Sprintf(" gasm could not keep the files of %s open (ulimit -n), which made looks at them expensive.",
			layout.Plural(int(e.Reopened), "thread"))
	}
	if e.Full {
		text += fmt.Sprintf(" The recording ended after %s because the file had reached its largest size.",
			view.Seconds(j.ToMonoNanos-j.FromMonoNanos))
	}
	return text
}
