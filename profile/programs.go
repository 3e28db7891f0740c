package profile

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// A measurement is a trial of a capture with the JVMs whose samples count for it. A trial
// without a name is of one program, unless programs are merged.
type measurement struct {
	capture.Trial
	pids         []int // ascending. Without windows these JVMs are measured all the time
	program, jdk string
}

// measurements are the trials with all their JVMs. Without trials there is one, of all
// JVMs that have a log.
func measurements(jvms []capture.JVM, trials []capture.Trial) []measurement {
	var all []measurement
	for _, t := range trials {
		all = append(all, measurement{Trial: t, pids: t.PIDs()})
	}
	if len(trials) == 0 {
		all = append(all, measurement{pids: withLogs(jvms)})
	}
	return all
}

// withLogs gives the JVMs that have a log, ascending.
func withLogs(jvms []capture.JVM) []int {
	var pids []int
	for _, j := range jvms {
		if j.Log != nil {
			pids = append(pids, j.PID)
		}
	}
	return distinct(pids)
}

// of narrows a measurement to some of its JVMs, which are ascending.
func (m *measurement) of(pids []int) measurement {
	narrow := *m
	narrow.pids = pids
	if len(pids) == len(m.pids) {
		return narrow
	}
	narrow.Operations, narrow.Score = 0, nil // JMH's scores are of all forks together
	narrow.Windows = nil
	for _, w := range m.Windows {
		if _, in := slices.BinarySearch(pids, w.PID); in {
			narrow.Windows = append(narrow.Windows, w)
		}
	}
	return narrow
}

// madeNumber is a number of eight digits or more in the name of a jar, as a time or a random
// number is: "surefirebooter-20261122165118123_3.jar", "surefirebooter1234567890.jar".
var madeNumber = regexp.MustCompile(`[-_.]?[0-9]{8,}(_[0-9]+)?`)

// Program is what the main class or jar of a JVM is called in all JVMs of the program. Maven
// Surefire makes a jar for each of its forks, so the number in the jar's name is left out:
// "surefirebooter.jar".
func Program(main string) string {
	if short := madeNumber.ReplaceAllString(main, ""); short != "" {
		return short
	}
	return main
}

// maxPrograms is how many programs of a run have a profile of their own. The others share
// one.
const maxPrograms = 100

// OtherPrograms is the Program of a profile of all programs that are too many.
const OtherPrograms = "(other programs)"

// programKey tells programs apart.
type programKey struct{ program, jdk string }

// byProgram divides a measurement into one for each main class and JDK, in the order in
// which the JVMs are listed. It is for a run without trials.
func (m *measurement) byProgram(jvms []capture.JVM) []measurement {
	if len(m.pids) == 0 {
		return []measurement{*m}
	}
	pids, order := map[programKey][]int{}, []programKey{}
	add := func(key programKey, pid int) {
		if pids[key] == nil {
			if len(order) >= maxPrograms {
				key = programKey{OtherPrograms, ""}
			}
			if pids[key] == nil {
				order = append(order, key)
			}
		}
		pids[key] = append(pids[key], pid)
	}
	known := map[int]programKey{}
	for _, j := range jvms {
		known[j.PID] = programKey{Program(j.Main), j.Version}
		if _, in := slices.BinarySearch(m.pids, j.PID); in {
			add(known[j.PID], j.PID)
		}
	}
	for _, pid := range m.pids { // of a damaged capture: it has no such JVM
		if _, ok := known[pid]; !ok {
			add(programKey{}, pid)
		}
	}
	divided := make([]measurement, 0, len(order))
	for _, key := range order {
		part := m.of(distinct(pids[key]))
		part.program, part.jdk = key.program, key.jdk
		divided = append(divided, part)
	}
	return divided
}

// nameProgram gives a measurement the program and the JDK that all its parts are of, if they
// are of one.
func (m *measurement) nameProgram(parts []measurement) {
	m.program, m.jdk = parts[0].program, parts[0].jdk
	for _, part := range parts {
		if m.program != part.program {
			m.program = ""
		}
		if m.jdk != part.jdk {
			m.jdk = ""
		}
	}
}

// Name is what a profile is called among those of its capture: the trial, or else the
// program. It has the JDK where another profile is of the same program.
func (ps *Profiles) Name(p *Profile) string {
	if p.Trial != "" || p.Program == "" {
		return p.Trial
	}
	same := func(other Profile) bool { return other.Trial == "" && other.Program == p.Program && other.JDK != p.JDK }
	if slices.ContainsFunc(ps.Trials, same) {
		return fmt.Sprintf("%s (JDK %s)", p.Program, p.JDK)
	}
	return p.Program
}
