package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/warmup"
)

const (
	compiledMethods = 8   // the maximum number of methods whose compilations are listed
	leastCompiled   = 100 // each of these methods has at least 1/leastCompiled of the profile's samples
)

// compilations lists the versions of the hottest methods. If there are several JVMs, it takes a method's versions from
// the JVM that has the most samples of the method, because forks repeat one another.
func (w *work) compilations(p *Profile) []warmup.Version {
	hottest := w.hottestCompiled(p)
	if len(hottest) == 0 {
		return nil
	}
	counts := map[jvmcode.Ref]tally.Counts{}
	for _, s := range w.sampled {
		counts[s.Ref] = s.counts
	}
	var all []warmup.Version
	for _, name := range orderOf(hottest) {
		jvm := hottest[name].jvm
		j := w.b.jvms.List[jvm]
		var versions []warmup.Version
		for _, i := range j.Compiled(name) {
			b := &j.Log.Blobs[i]
			c := warmup.Version{Source: b.Source(), Method: name, CompileID: b.ID, Level: b.Level, OSR: b.OSR, OSRBCI: b.OSRBCI, PID: j.PID,
				MadeMillis: b.UptimeMillis, Counts: w.counts(counts[jvmcode.Ref{JVM: jvm, Index: int(i)}])}
			c.MadeInside = w.trial.Contains(&j.JVM, c.MadeMillis)
			if end, ok := j.Log.EndOf(b); ok {
				c.Ended, c.EndedInside = &end, w.trial.Contains(&j.JVM, end.UptimeMillis)
			}
			versions = append(versions, c)
		}
		all = append(all, warmup.Latest(versions)...)
	}
	return all
}

// A compiledMethod sums up the samples of a method in all tiers.
type compiledMethod struct {
	counts tally.Counts
	jvm    int          // the JVM that has the most samples of the method
	most   tally.Counts // the method's samples in this JVM
}

// hottestCompiled returns the hottest compiled methods, at most compiledMethods of them. The key is the method's name.
func (w *work) hottestCompiled(p *Profile) map[string]*compiledMethod {
	type inJVM struct {
		name string
		jvm  int
	}
	methods, in := map[string]*compiledMethod{}, map[inJVM]tally.Counts{}
	for _, s := range w.sampled {
		if s.Kind != printassembly.NMethod {
			continue
		}
		m := methods[s.Name]
		if m == nil {
			m = &compiledMethod{counts: make(tally.Counts, w.n), jvm: s.JVM}
			methods[s.Name] = m
		}
		m.counts.Add(s.counts)
		of := inJVM{s.Name, s.JVM}
		tally.AddTo(in, of, s.counts, w.n)
		if m.most == nil || slices.Compare(in[of], m.most) > 0 {
			m.jvm, m.most = s.JVM, in[of]
		}
	}
	for i, name := range orderOf(methods) {
		if i >= compiledMethods || p.Share(methods[name].counts) < 1.0/leastCompiled {
			delete(methods, name)
		}
	}
	return methods
}

// orderOf returns the names of methods, hottest first.
func orderOf(methods map[string]*compiledMethod) []string {
	names := make([]string, 0, len(methods))
	for name := range methods {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(tally.Compare(methods[a].counts, methods[b].counts), cmp.Compare(a, b))
	})
	return names
}
