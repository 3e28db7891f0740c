package main

import (
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/hotspot/probe"
)

// probeFlags holds the values of the flags that say what is probed. profile and attach share these flags.
type probeFlags struct {
	methods, locks, allocations, sdt []string
	this                             bool
}

func (f *probeFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.methods, "probe", nil,
		"count the calls of `CLASS::METHOD` and measure how long they take, by an agent that changes only such methods; * is any text; may be given several times")
	flags.BoolVar(&f.this, "probe-this", false,
		"have gasm events show the object of each call of --probe: System.identityHashCode of this")
	flags.StringArrayVar(&f.locks, "probe-lock", nil,
		"count the locks that methods of `CLASS` take by synchronized, and list them")
	flags.StringArrayVar(&f.allocations, "probe-alloc", nil,
		"count the objects that `CLASS::METHOD` allocates, and list them")
	flags.StringArrayVar(&f.sdt, "probe-sdt", nil,
		"show dtrace, perf and bpftrace the entries and returns of `CLASS::METHOD` as probes of the provider java; * is any text; may be given several times")
}

// windowProbe returns the probe for the method of --window-method. It returns nil if there is none.
func windowProbe(method string) (*probe.Spec, error) {
	if method == "" {
		return nil, nil
	}
	s, err := probe.ParseMethod(method, probe.Methods)
	if err != nil {
		return nil, usage("--window-method: %w", err)
	}
	s.Window = true
	return &s, nil
}

// specs returns the probes that the flags ask for.
func (f *probeFlags) specs() (specs []probe.Spec, err error) {
	add := func(flag string, s probe.Spec, err error) error {
		if err != nil {
			return usage("--%s: %w", flag, err)
		}
		specs = append(specs, s)
		return nil
	}
	for _, text := range f.methods {
		s, err := probe.ParseMethod(text, probe.Methods)
		s.This = f.this
		if err := add("probe", s, err); err != nil {
			return nil, err
		}
	}
	for _, text := range f.locks {
		s, err := probe.ParseClass(text, probe.Locks)
		if err := add("probe-lock", s, err); err != nil {
			return nil, err
		}
	}
	for _, text := range f.allocations {
		s, err := probe.ParseMethod(text, probe.Allocations)
		if err := add("probe-alloc", s, err); err != nil {
			return nil, err
		}
	}
	for _, text := range f.sdt {
		s, err := probe.ParseMethod(text, probe.SDT)
		if err := add("probe-sdt", s, err); err != nil {
			return nil, err
		}
	}
	if f.this && len(f.methods) == 0 {
		return nil, usage("--probe-this is for the calls that --probe counts: add --probe CLASS::METHOD")
	}
	return probe.Merge(specs), nil
}
