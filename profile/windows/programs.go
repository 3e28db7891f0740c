package windows

import (
	"regexp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// madeNumber matches a number of eight digits or more in the name of a jar. Such a long number is
// usually a time, or a random number from a tool: "surefirebooter-20261122165118123_3.jar",
// "surefirebooter1234567890.jar".
var madeNumber = regexp.MustCompile(`[-_.]?[0-9]{8,}(_[0-9]+)?`)

// Program converts the main class or jar of a JVM to the name of a program. Maven Surefire makes a
// new jar for each fork, with a number in its name. Program leaves that number out, so that all
// forks are one program: "surefirebooter.jar".
func Program(main string) string {
	if short := madeNumber.ReplaceAllString(main, ""); short != "" {
		return short
	}
	return main
}

// maxPrograms is the maximum number of programs of a run that have a profile of their own. All
// further programs share one profile.
const maxPrograms = 100

// OtherPrograms is the value of Measurement.Program for all programs beyond maxPrograms together.
const OtherPrograms = "(other programs)"

// A programKey identifies a program. Two JVMs run the same program if they have the same key.
type programKey struct{ program, jdk string }

// ByProgram divides the measurement of a run without trials. The result has one measurement for
// each program and JDK, in the order in which the JVMs are listed.
func (m *Measurement) ByProgram(jvms []capture.JVM) []Measurement {
	if len(m.PIDs) == 0 {
		return []Measurement{*m}
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
		if _, in := slices.BinarySearch(m.PIDs, j.PID); in {
			add(known[j.PID], j.PID)
		}
	}
	for _, pid := range m.PIDs { // a JVM of a damaged capture may be missing from the list
		if _, ok := known[pid]; !ok {
			add(programKey{}, pid)
		}
	}
	divided := make([]Measurement, 0, len(order))
	for _, key := range order {
		part := m.of(slices.Compact(slices.Sorted(slices.Values(pids[key]))))
		part.Program, part.JDK = key.program, key.jdk
		divided = append(divided, part)
	}
	return divided
}

// NameProgram sets the program and the JDK of a measurement from its parts. If all parts have the
// same program, that is the measurement's program too; otherwise it is "". The same goes for the
// JDK. There must be at least one part.
func (m *Measurement) NameProgram(parts []Measurement) {
	m.Program, m.JDK = parts[0].Program, parts[0].JDK
	for _, part := range parts {
		if m.Program != part.Program {
			m.Program = ""
		}
		if m.JDK != part.JDK {
			m.JDK = ""
		}
	}
}
