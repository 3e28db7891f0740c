package warmup

import (
	"cmp"
	"slices"
)

// A Repetition is a method that a JVM has compiled several times in the same way: at the same level, and either for its
// normal entry or as on-stack replacements. A method that is compiled once at each of several levels is only warming
// up, and is not a repetition. An on-stack replacement is for one loop. A method may have several loops, so its
// on-stack replacements may be for different loops.
type Repetition struct {
	PID      int
	Method   string
	Level    int
	Compiler string // as in a Compilation
	OSR      bool
	Count    int
	Nanos    int64 // total time of the compilations whose time is known
	// Versions are the compilations, the earliest first. If there are many, only the last of them are kept.
	Versions []Compilation
	// Causes say why HotSpot stopped using the versions, the most frequent reason first.
	Causes []Cause
}

// A Cause is a reason for which HotSpot stopped using code, and how often it occurred.
type Cause struct {
	Reason string // reason of the trap ("unstable_if"), or else HotSpot's reason ("not used"); "" if it is unknown
	Count  int
}

// maxVersions is the maximum number of versions that a Repetition keeps.
const maxVersions = 20

// repetitions returns the first [Most] repetitions (those that took longest), the number of all repetitions, and the
// number of different methods in them.
func repetitions(all []Compilation) (first []Repetition, number, methods int) {
	type way struct {
		pid, level                 int
		method, overload, compiler string
		osr                        bool
	}
	byWay := map[way]*Repetition{}
	for i := range all {
		c := &all[i]
		key := way{c.PID, c.Level, c.Method, c.Overload, c.Compiler, c.OSR}
		r := byWay[key]
		if r == nil {
			r = &Repetition{PID: c.PID, Method: c.Method, Level: c.Level, Compiler: c.Compiler, OSR: c.OSR}
			byWay[key] = r
		}
		r.Count++
		r.Nanos += c.Nanos
		r.Versions = append(r.Versions, *c)
	}
	for _, r := range byWay {
		if r.Count < 2 || r.Level == 0 {
			continue
		}
		slices.SortStableFunc(r.Versions, func(a, b Compilation) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
		r.Causes = causes(r.Versions)
		r.Versions = slices.Clone(r.Versions[max(0, len(r.Versions)-maxVersions):])
		first = append(first, *r)
	}
	slices.SortFunc(first, func(a, b Repetition) int {
		return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count, a.Count), cmp.Compare(b.Level, a.Level),
			cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.PID, b.PID), cmp.Compare(a.Versions[0].MonoNanos, b.Versions[0].MonoNanos),
			cmp.Compare(a.Versions[0].Overload, b.Versions[0].Overload),
			cmp.Compare(a.Compiler, b.Compiler), cmp.Compare(a.Versions[0].ID, b.Versions[0].ID))
	})
	return slices.Clone(first[:min(len(first), Most)]), len(first), compiledAgain(first)
}

// compiledAgain returns the number of different methods in some repetitions. A method that was repeated at several
// levels or in several JVMs counts once.
func compiledAgain(all []Repetition) int {
	type method struct{ name, overload string }
	methods := map[method]bool{}
	for i := range all {
		methods[method{all[i].Method, all[i].Versions[0].Overload}] = true
	}
	return len(methods)
}

// causes counts the reasons for which HotSpot stopped using versions.
func causes(versions []Compilation) []Cause {
	counts := map[string]int{}
	for _, v := range versions {
		if v.End != nil {
			counts[cmp.Or(v.End.Trap, v.End.Reason)]++
		}
	}
	var list []Cause
	for reason, n := range counts {
		list = append(list, Cause{reason, n})
	}
	slices.SortFunc(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
