package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A Compilation is one version of a method's code, in one JVM.
type Compilation struct {
	Source    string // "c2, level 4"
	Method    string
	CompileID int
	Level     int // tier
	OSR       bool
	OSRBCI    int // bci at which an OSR method is entered
	PID       int
	Counts    Counts
	// MadeMillis is when it was made, in milliseconds of the JVM's life.
	MadeMillis int64
	// Ended tells when and why it was left; nil when it was not, or the log does not tell.
	Ended *printassembly.End
	// MadeInside and EndedInside tell that it was made, and left, within a window, while the
	// samples were taken. They are false for a run without windows.
	MadeInside, EndedInside bool
}

const (
	compiledMethods = 8   // so many methods have their compilations listed,
	leastCompiled   = 100 // if they have at least a hundredth of the profile
	maxVersions     = 12  // of one method
)

// compilations lists the versions of the hottest methods. Of several JVMs, it is the one
// with the most samples of the method, because forks repeat one another.
func (w *work) compilations(p *Profile, sampled []*sampledBlob) []Compilation {
	hottest := w.hottestCompiled(p, sampled)
	if len(hottest) == 0 {
		return nil
	}
	counts := map[blobRef]Counts{}
	for _, s := range sampled {
		counts[s.blobRef] = s.counts
	}
	var all []Compilation
	for _, name := range orderOf(hottest) {
		jvm := hottest[name].jvm
		j := w.b.jvms[jvm]
		var versions []Compilation
		for _, i := range j.compiled(name) {
			b := &j.Log.Blobs[i]
			c := Compilation{Source: b.Source(), Method: name, CompileID: b.ID, Level: b.Level, OSR: b.OSR, OSRBCI: b.OSRBCI, PID: j.PID, MadeMillis: b.UptimeMillis, Counts: w.counts(counts[blobRef{jvm, int(i)}])}
			c.MadeInside = w.inside(&j.JVM, c.MadeMillis)
			if end, ok := j.Log.EndOf(b); ok {
				c.Ended, c.EndedInside = &end, w.inside(&j.JVM, end.UptimeMillis)
			}
			versions = append(versions, c)
		}
		all = append(all, latest(versions)...)
	}
	return all
}

// compiled gives the compilations of a method whose time is known, by their place in the log.
// Many trials may ask, so the names are looked up in one pass.
func (j *jvmCode) compiled(name string) []int32 {
	if j.byName == nil {
		j.byName = map[string][]int32{}
		for i := range j.Log.Blobs {
			if b := &j.Log.Blobs[i]; b.Kind == printassembly.NMethod && b.Stamped {
				j.byName[b.Name] = append(j.byName[b.Name], int32(i))
			}
		}
	}
	return j.byName[name]
}

// A compiledMethod is a method with its samples in all tiers.
type compiledMethod struct {
	counts Counts
	jvm    int // that has the most samples of it, and how many
	most   Counts
}

// hottestCompiled gives the hottest methods by name.
func (w *work) hottestCompiled(p *Profile, sampled []*sampledBlob) map[string]*compiledMethod {
	type inJVM struct {
		name string
		jvm  int
	}
	methods, in := map[string]*compiledMethod{}, map[inJVM]Counts{}
	for _, s := range sampled {
		if s.Kind != printassembly.NMethod {
			continue
		}
		m := methods[s.Name]
		if m == nil {
			m = &compiledMethod{counts: make(Counts, w.n), jvm: s.jvm}
			methods[s.Name] = m
		}
		m.counts.Add(s.counts)
		of := inJVM{s.Name, s.jvm}
		addTo(w, in, of, s.counts)
		if m.most == nil || slices.Compare(in[of], m.most) > 0 {
			m.jvm, m.most = s.jvm, in[of]
		}
	}
	for i, name := range orderOf(methods) {
		if i >= compiledMethods || p.Share(methods[name].counts) < 1.0/leastCompiled {
			delete(methods, name)
		}
	}
	return methods
}

// orderOf gives the names of methods, hottest first.
func orderOf(methods map[string]*compiledMethod) []string {
	names := make([]string, 0, len(methods))
	for name := range methods {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(compareCounts(methods[a].counts, methods[b].counts), cmp.Compare(a, b))
	})
	return names
}

// latest orders versions by time, and keeps the last ones of too many.
func latest(versions []Compilation) []Compilation {
	slices.SortStableFunc(versions, func(a, b Compilation) int {
		return cmp.Or(cmp.Compare(a.MadeMillis, b.MadeMillis), cmp.Compare(a.CompileID, b.CompileID))
	})
	return versions[max(0, len(versions)-maxVersions):]
}

// inside tells whether a time of a JVM's life is within one of its windows.
func (w *work) inside(j *capture.JVM, uptimeMillis int64) bool {
	at := j.StartMonoNanos + uptimeMillis*1e6
	return slices.ContainsFunc(w.trial.Windows, func(win capture.Window) bool {
		return win.PID == j.PID && at >= win.FromMonoNanos && at < win.ToMonoNanos
	})
}
