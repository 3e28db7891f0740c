// Package probes manages the probes that gasm's agent sets in methods of JVMs during a recording. It makes running
// JVMs load the agent ([Attached]), makes probes visible to other tracers ([Publisher]), saves the windows that a
// probe opens ([Drain]), and returns notes about methods that could not be probed ([Notes]).
package probes

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// Notes reads the reports of the JVMs' agents in the folder of a capture. It sets Probed of each JVM that has a report,
// and returns notes for the user about what could not be probed.
func Notes(dir string, jvms []capture.JVM, problem func(error)) []string {
	var all summary
	for i := range jvms {
		j := &jvms[i]
		f, _, err := regular.Open(filepath.Join(dir, capture.ProbeReport(j.PID)))
		if err != nil {
			all.without = append(all.without, fmt.Sprintf("JVM %d", j.PID))
			continue
		}
		rep, err := rings.ReadReport(f, capture.ProbeReport(j.PID))
		f.Close()
		if err != nil {
			problem(err)
		}
		j.Probed = true
		all.add(rep)
	}
	return all.notes()
}

// A summary combines the reports of the agents of several JVMs.
type summary struct {
	lines   []string
	missing map[string]string // texts by probe; a probe may be in found, too, because of another JVM
	found   map[string]bool   // by probe; true if at least one JVM has a method for the probe
	without []string          // names of the JVMs without probes: "JVM 4711"
}

// maxLines is the maximum number of notes about methods that could not be probed.
const maxLines = 8

// maxWithout is the maximum number of JVMs without probes that a note lists.
const maxWithout = 4

func (s *summary) add(rep *rings.Report) {
	if s.found == nil {
		s.found, s.missing = map[string]bool{}, map[string]string{}
	}
	for _, site := range rep.Sites {
		s.found[site.Probe] = true
	}
	for _, m := range rep.Missing {
		s.missing[m.Probe] = missText(m)
	}
	for _, r := range rep.Refused {
		s.found[r.Probe] = true
		s.say(refusalText(&r))
	}
	for _, e := range rep.Errors {
		s.say("probes: " + e)
	}
}

func (s *summary) say(line string) {
	if len(s.lines) < maxLines && !slices.Contains(s.lines, line) {
		s.lines = append(s.lines, line)
	}
}

func (s *summary) notes() []string {
	var probes []string
	for p := range s.missing {
		if !s.found[p] {
			probes = append(probes, p)
		}
	}
	slices.Sort(probes)
	for _, p := range probes {
		s.say(s.missing[p])
	}
	if len(s.without) > 0 {
		s.say("no probes in " + strings.Join(s.without[:min(len(s.without), maxWithout)], ", ") +
			": gasm's agent did not start there (was its environment cleared, is java.instrument not in its runtime, or has a JVM of JDK 9 or newer a security manager?)")
	}
	return s.lines
}

func refusalText(r *rings.Refusal) string {
	return fmt.Sprintf("%s is not probed: %s", r.Method, r.Reason)
}

// missText returns a text that says that no method matches a probe, with the names of similar methods.
func missText(m rings.Miss) string {
	text := "no method is " + m.Probe + ": no such class was loaded"
	switch {
	case m.Idle:
		return "nothing is probed by " + m.Probe + ": such methods take no locks by synchronized, or make no objects"
	case m.ClassSeen:
		text = "no method is " + m.Probe + ": the class has none of this name and these arguments"
	}
	if m.Near != "" {
		text += "; similar are " + m.Near
	}
	return text
}
