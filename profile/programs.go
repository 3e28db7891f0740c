package profile

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// madeNumber is a number of eight digits or more in the name of a jar. Such a number is a time or a random number:
// "surefirebooter-20261122165118123_3.jar", "surefirebooter1234567890.jar".
var madeNumber = regexp.MustCompile(`[-_.]?[0-9]{8,}(_[0-9]+)?`)

// Program returns the name of the program for the main class or jar of a JVM. Maven Surefire makes a jar for each of
// its forks, so the number in the jar's name is left out: "surefirebooter.jar".
func Program(main string) string {
	if short := madeNumber.ReplaceAllString(main, ""); short != "" {
		return short
	}
	return main
}

// maxPrograms is how many programs of a run have a profile of their own. All others share one.
const maxPrograms = 100

// OtherPrograms is the Program of the profile that the programs beyond maxPrograms share.
const OtherPrograms = "(other programs)"

// A programKey tells programs apart.
type programKey struct{ program, jdk string }

// byProgram divides the measurement of a run without trials into one for each main class and JDK, in the order in which
// the JVMs are listed.
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
	for _, pid := range m.pids { // a damaged capture may lack the JVM
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

// nameProgram sets the program and the JDK of a measurement to those of its parts, where all parts have the same.
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

// Name returns the name that tells a profile apart from the others of its capture: the trial, or else the program. It
// includes the JDK if another profile has the same program.
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
