package record

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/record/probes"
)

// addProbeFlag adds the option that starts gasm's agent in the command's JVMs. It adds the option to JAVA_TOOL_OPTIONS
// and to JDK_JAVA_OPTIONS; in a JVM that reads both, the agent starts only once. addProbeFlag returns an error if JVMs
// of the command might not start with the option, or if the agent's files can't be made.
func (r *Recording) addProbeFlag(flags javaFlags) (javaFlags, error) {
	if len(r.o.Probes) == 0 {
		return flags, nil
	}
	if changer := rootChanger(r.o.Command); changer != "" && !startsJava(r.o.Command) {
		return flags, fmt.Errorf("a JVM that %s starts would not find gasm's agent, and not start: leave out the probes, or attach to it (gasm attach --probe …)", changer)
	}
	logs, err := r.folder.MakeLogs()
	if err != nil {
		return flags, err
	}
	if strings.Contains(logs.Files, "=") {
		return flags, fmt.Errorf("a JVM can't load an agent from %s, because of the =: set TMPDIR to another folder",
			filepath.Dir(logs.Files))
	}
	if err := probe.Write(logs.Files, logs.Path, r.o.Probes); err != nil {
		return flags, err
	}
	if probes.WantsSDT(r.o.Probes) {
		if r.publisher, err = probes.Publish(func() map[int]probes.Agent { return probes.LogAgents(logs) }, r.problem,
			r.o.Message); err != nil {
			return flags, err
		}
	}
	option := probe.StartOption(logs.Files)
	flags.tool = append(slices.Clip(flags.tool), option)
	flags.launcher = append(slices.Clip(flags.launcher), option)
	return flags, nil
}

// rootChanger returns the first of a command's words that names one of rootChangers, the programs that change the root
// directory or the mounts. It returns "" if there is no such word.
func rootChanger(command []string) string {
	for _, word := range command {
		for _, w := range strings.Fields(word) { // sh -c "chroot /srv java …"
			if slices.Contains(rootChangers, filepath.Base(w)) {
				return filepath.Base(w)
			}
		}
	}
	return ""
}

// drainWindows begins to save the windows that probes open in the command's JVMs. If no probe opens windows, it
// returns nil.
func (r *Recording) drainWindows() *probes.Drain {
	return probes.DrainWindows(r.o.Probes, r.folder.Path,
		func() map[int]probes.RingOpener { return probes.Rings(r.folder.Logs()) }, r.problem)
}

// takeProbes moves the files with the counts of the probes, which gasm's agent has written, into the capture. It sets
// Probed of each JVM that has probes. It returns notes for the capture, and also shows them to the user as messages.
func (r *Recording) takeProbes(jvms []capture.JVM) (notes []string) {
	if len(r.o.Probes) == 0 {
		return nil
	}
	if err := r.folder.Gather(); err != nil {
		r.problem(err)
	}
	notes = probes.Notes(r.folder.Path, jvms, r.problem)
	for _, n := range notes {
		if r.o.Message != nil {
			r.o.Message(n)
		}
	}
	return notes
}
