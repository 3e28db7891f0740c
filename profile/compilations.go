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
				PID: j.PID, MadeMillis: b.UptimeMillis, MadeByMillis: max(b.UptimeMillis, b.SeenMillis),
				Counts: w.counts(counts[jvmcode.Ref{JVM: jvm, Index: int(i)}])}
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

// addTimes sets what only the recorded events say about a profile's compilations: when exactly they were made, and when
// HotSpot stopped using their code.
func (b *Builder) addTimes(p *Profile, trial int, run *warmup.Run) {
	for i := range p.Compilations {
		c := &p.Compilations[i]
		j := b.jvms.Of(c.PID)
		if j == nil {
			continue
		}
		uptime := func(monoNanos int64) int64 { return max(monoNanos-j.StartMonoNanos, 0) / 1e6 }
		if begin, end, ok := run.TimeOf(c.PID, c.CompileID, c.OSR); ok && !c.MadeBefore() {
			c.Narrow(uptime(begin), uptime(end))
			c.MadeInside = b.trials[trial].Contains(&j.JVM, c.MadeMillis)
		}
		end := run.EndOf(c.PID, c.CompileID, c.OSR)
		if c.Ended != nil || end == nil {
			continue
		}
		millis := uptime(end.MonoNanos)
		c.Ended = &printassembly.End{UptimeMillis: millis, Reason: end.Reason, Trap: end.Trap}
		c.EndedInside = b.trials[trial].Contains(&j.JVM, millis)
	}
}
