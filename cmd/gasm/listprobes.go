package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	loaded "github.com/gasm-profiler/gasm/hotspot/classes"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/hotspot/sdt"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// listTime limits how long reading the classes of a JVM may take. 100 000 classes take a few seconds.
const listTime = time.Minute

// listProbes lists the probes that --probe-sdt could add to a JVM for other tracers. It only reads the JVM's memory.
func listProbes(s streams, args []string) error {
	if len(args) != 2 {
		return usage("--list-probes: say which JVM and which methods, for example gasm attach --list-probes 4711 'org.acme.Svc::*'")
	}
	spec, err := probe.ParseMethod(args[1], probe.SDT)
	if err != nil {
		return usage("--list-probes: %w", err)
	}
	jvms, err := attach.Choose(context.Background(), args[:1])
	if err != nil {
		return err
	}
	if apart == nil && anyOfOther(jvms) {
		return runApart(s)
	}
	found, err := vmstructs.Ask(context.Background(), listTime, jvms[0].PID,
		func(vm *vmstructs.VM) ([]loaded.Class, error) {
			return loaded.Read(vm, func(class string) bool { return spec.MatchesClass(dotted(class)) })
		})
	if err != nil {
		return fmt.Errorf("JVM %s: %w", &jvms[0], err)
	}
	page := layout.NewPage(s.out, layout.LookOf(s.out))
	rows := probeRows(&spec, found)
	if len(rows) == 0 {
		page.Line("No class that JVM %s has loaded has a method %s.", &jvms[0], args[1])
		return page.Flush()
	}
	for _, line := range layout.Table([]string{"METHOD", "PROBES"}, rows, []layout.Align{layout.Left, layout.Left}) {
		page.Line("%s", line)
	}
	return page.Flush()
}

// dotted returns a class's name with dots instead of slashes.
func dotted(class string) string { return strings.ReplaceAll(class, "/", ".") }

// probeRows returns a row of the table for each method that matches the probe spec. A row has the method, and either
// its probes or the reason why it can't have any.
func probeRows(spec *probe.Spec, found []loaded.Class) (rows [][]string) {
	for i := range found {
		c := &found[i]
		for _, m := range c.Methods {
			method := sdt.Method{Class: c.Name, Name: m.Name, Descriptor: m.Descriptor}
			parameters, err := method.Parameters()
			if err != nil || !spec.MatchesMethod(m.Name, parameters) {
				continue
			}
			name := method.ProbeName()
			probes := name + "-entry, " + name + "-return"
			switch {
			case hidden(c.Name):
				probes = "none: no agent may change a hidden class"
			case m.Flags&loaded.Native != 0:
				probes = "none: it is native; probe a method that calls it"
			case m.Flags&loaded.Abstract != 0:
				probes = "those of the methods that implement it"
			}
			rows = append(rows, []string{dotted(c.Name) + "::" + m.Name + "(" + strings.Join(parameters, ", ") + ")", probes})
		}
	}
	slices.SortFunc(rows, slices.Compare)
	return slices.CompactFunc(rows, slices.Equal) // several class loaders may have a class of the same name
}

// hidden reports whether a class is a hidden class of the JVM. The name of such a class contains an address:
// "Svc$$Lambda+0x00007f1c08000a00".
func hidden(class string) bool {
	return strings.Contains(class, "+0x") || strings.Contains(class, "/0x")
}
