package profile

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/warmup"
)

// compilations lists the versions of the hottest methods. If there are several JVMs, it takes a method's versions from
// the JVM that has the most samples of the method. The other JVMs usually run the same program, and would repeat the
// list.
func (w *work) compilations(p *Profile) []warmup.Version {
	counts := map[jvmcode.Ref]tally.Counts{}
	var sampled []warmup.Sampled
	for _, s := range w.sampled {
		counts[s.Ref] = s.counts
		if s.Kind == printassembly.NMethod {
			sampled = append(sampled, warmup.Sampled{Method: s.Name, JVM: s.JVM, Counts: s.counts})
		}
	}
	var all []warmup.Version
	for _, hot := range warmup.Hottest(sampled, p.Share, w.n) {
		name, jvm := hot.Method, hot.JVM
		j := w.b.jvms.List[jvm]
		var versions []warmup.Version
		for _, i := range j.Compiled(name) {
			b := &j.Log.Blobs[i]
			c := warmup.Version{Source: b.Source(), Method: name, CompileID: b.ID, Level: b.Level, OSR: b.OSR, OSRBCI: b.OSRBCI,
				PID:        j.PID,
				MadeMillis: b.UptimeMillis, Counts: w.counts(counts[jvmcode.Ref{JVM: jvm, Index: int(i)}])}
			c.MadeInside = w.trial.Contains(&j.JVM, c.MadeMillis)
			if end, ok := j.Log.EndOf(b); ok {
				c.Ended, c.EndedInside = &end, w.trial.Contains(&j.JVM, end.UptimeMillis)
			}
			versions = append(versions, c)
		}
		all = append(all, warmup.Latest(warmup.Joined(versions))...)
	}
	return all
}

// addEnds sets when HotSpot stopped using the code of a profile's compilations, if only HotSpot's log of events has
// that time.
func (b *Builder) addEnds(p *Profile, trial int, run *warmup.Run) {
	for i := range p.Compilations {
		c := &p.Compilations[i]
		end, j := run.EndOf(c.PID, c.CompileID, c.OSR), b.jvms.Of(c.PID)
		if c.Ended != nil || end == nil || j == nil {
			continue
		}
		millis := max(end.MonoNanos-j.StartMonoNanos, 0) / 1e6
		c.Ended = &printassembly.End{UptimeMillis: millis, Reason: end.Reason, Trap: end.Trap}
		c.EndedInside = b.trials[trial].Contains(&j.JVM, millis)
	}
}
