package profile

import (
	"fmt"
	"math"
	"slices"
)

// warn adds the warnings about the whole profile.
func (w *work) warn(p *Profile) {
	for e, counter := range p.Counters {
		a := p.Accounts[e]
		say := func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			if len(p.Counters) > 1 {
				text = counter + ": " + text
			}
			w.warnf("%s", text)
		}
		n := float64(a.Profiled)
		if a.Profiled > 0 && a.Profiled < 500 {
			samples := "samples"
			if a.Profiled == 1 {
				samples = "sample"
			}
			say("only %d %s in the profile: a share of 10%% is good to ±%.0f points; let it run longer",
				a.Profiled, samples, math.Ceil(196*math.Sqrt(0.09/n)))
		}
		if share := float64(a.Unresolved) / n; share > 0.02 {
			say("%.1f%% of the profile is at addresses %s", 100*share, w.whyUnresolved(e))
		}
		if early := w.early(p, e); early/n >= 0.005 {
			say("%.1f%% of the profile is in methods that HotSpot had compiled before gasm switched DebugNonSafepoints on: "+
				"most of their lines are guesses (~)", 100*early/n)
		}
		var unknown int64
		for _, f := range p.Native {
			if f.Module == UnknownModule {
				unknown += f.Counts[e]
			}
		}
		if share := float64(unknown) / n; share > 0.02 {
			say("%.1f%% of the profile is native code whose library the samples don't name", 100*share)
		}
		if share := float64(a.Lost) / float64(a.Total); share > 0.01 {
			say("the sampler lost %.1f%% of its samples: lower --frequency", 100*share)
		}
		var reused int64
		for _, s := range w.sampled {
			if w.b.jvms.List[s.JVM].Code.Reused(s.Index) {
				reused += s.counts[e]
			}
		}
		if share := float64(reused) / n; share >= 0.01 {
			say("%.1f%% of the profile is at code-cache addresses that HotSpot used more than once: "+
				"told apart by the samples' times", 100*share)
		}
	}
	w.warnDamage()
}

// early returns the number of samples in methods that were compiled too early: in JVMs that had just started, before
// gasm switched DebugNonSafepoints on in them. early returns 0 if gasm has attached to JVMs, because then a note
// already says why their lines are guesses.
func (w *work) early(p *Profile, counter int) float64 {
	switched := slices.ContainsFunc(w.trial.PIDs, func(pid int) bool {
		j := w.b.jvms.Of(pid)
		return j != nil && j.DetailedFromMillis > 0
	})
	if !switched || p.SafepointsOnly == nil {
		return 0
	}
	return float64(p.SafepointsOnly[counter])
}

// warnDamage warns of logs that are damaged or not complete.
func (w *work) warnDamage() {
	for _, pid := range w.trial.PIDs {
		j := w.b.jvms.Of(pid)
		if j == nil {
			continue
		}
		log := j.Log
		if log.Damaged > 0 {
			w.warnf("%s: %s could not be read, because it is damaged or in a form that gasm does not know: samples in that code have no name",
				log.Name(), pieces(log.Damaged))
		}
		if log.Cut {
			w.warnf("%s ends in the middle: the JVM was killed while it wrote, its disk was full, or it is still running; "+
				"code after that is missing", log.Name())
		}
	}
}

// pieces returns a number of pieces of code in words: "1 piece of code", "2 pieces of code".
func pieces(n int) string {
	if n == 1 {
		return "1 piece of code"
	}
	return fmt.Sprintf("%d pieces of code", n)
}
