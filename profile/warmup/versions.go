package warmup

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Version is one version of a method's code, in one JVM.
type Version struct {
	Source    string // "c2, level 4"
	Method    string
	CompileID int
	Level     int // tier
	OSR       bool
	OSRBCI    int // bci at which an OSR method is entered
	PID       int
	Counts    tally.Counts
	// Moved is how often HotSpot has moved the code.
	Moved int
	// MadeMillis is when the code was made, in milliseconds since the JVM's start. It is 0 if that is unknown, because
	// the code was there when gasm attached to the JVM. If the time is not exactly known, MadeMillis is the earliest
	// time, and MadeByMillis the latest one. Otherwise, both are the same.
	MadeMillis, MadeByMillis int64
	// Ended says when and why the JVM stopped using the code. It is nil if the JVM did not stop, or if the log does not
	// say so.
	Ended *printassembly.End
	// MadeInside is true if the code was made within a window, and EndedInside if the JVM stopped using it within a
	// window. Both are false for a run without windows.
	MadeInside, EndedInside bool
}

// MadeBefore reports whether the code was there when gasm attached to the JVM, so that nobody knows when it was made.
func (v *Version) MadeBefore() bool { return v.MadeMillis == 0 }

// Narrow takes into account that the code was made at the end of a compilation that began at beginMillis and ended at
// endMillis. endMillis is 0 if only the beginning is known. Times that contradict what is known already are ignored.
func (v *Version) Narrow(beginMillis, endMillis int64) {
	if beginMillis > v.MadeByMillis {
		return
	}
	v.MadeMillis = max(v.MadeMillis, beginMillis)
	if endMillis >= v.MadeMillis { // HotSpot installs the code shortly before the compilation's end
		v.MadeByMillis = min(v.MadeByMillis, endMillis)
		v.MadeMillis = v.MadeByMillis
	}
}

// Joined joins the versions of a JVM's method that are the same compilation at several addresses.
func Joined(versions []Version) (joined []Version) {
	for _, v := range versions {
		same := slices.IndexFunc(joined, func(w Version) bool {
			return v.CompileID > 0 && w.CompileID == v.CompileID && w.OSR == v.OSR && w.OSRBCI == v.OSRBCI &&
				w.Source == v.Source
		})
		if same < 0 {
			joined = append(joined, v)
			continue
		}
		w := &joined[same]
		w.Moved++
		w.Counts = slices.Clone(w.Counts)
		w.Counts.Add(v.Counts)
		if v.MadeMillis < w.MadeMillis {
			w.MadeMillis, w.MadeByMillis, w.MadeInside = v.MadeMillis, v.MadeByMillis, v.MadeInside
		}
	}
	return joined
}

// maxLatest is the maximum number of versions that Latest returns.
const maxLatest = 12

// Latest sorts versions by time, and returns the last maxLatest of them.
func Latest(versions []Version) []Version {
	slices.SortStableFunc(versions, func(a, b Version) int {
		return cmp.Or(cmp.Compare(a.MadeMillis, b.MadeMillis), cmp.Compare(a.CompileID, b.CompileID))
	})
	return versions[max(0, len(versions)-maxLatest):]
}
