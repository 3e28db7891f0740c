package usdt

import (
	"context"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

// probesListed returns the probes that DTrace lists in a process. It is for systems where gasm does
// not read the library's notes. So the arguments of each probe are taken from [usdt.Parameters].
//
// DTrace does not say whether the size argument of object__alloc has 4 or 8 bytes. It may have 4,
// as in JDK 11 and 17, and then its value can't be trusted (see hasSize). So 4 bytes are assumed.
func probesListed(pid int, listed []dtrace.Probe) (probes []Probe) {
	seen := map[string]bool{}
	for _, l := range listed {
		p := Probe{Provider: strings.TrimSuffix(l.Provider, strconv.Itoa(pid)), Name: strings.ReplaceAll(l.Name, "-", "__"),
			Offset: uint64(len(probes))}
		if seen[p.FullName()] {
			continue // another place of the same probe
		}
		seen[p.FullName()] = true
		for _, par := range usdt.Parameters(p.FullName()) {
			o := Operand{Size: 8, Signed: par.Kind != usdt.Address, Form: RegisterForm, Index: -1}
			if par.Kind == usdt.Boolean {
				o.Size, o.Signed = 1, false
			} else if p.Name == objectAlloc && par.Name == "size" {
				o.Size = 4
			}
			p.Args = append(p.Args, o)
			if par.Kind.Width() == 2 {
				p.Args = append(p.Args, Operand{Size: 4, Signed: true, Form: RegisterForm, Index: -1})
			}
		}
		probes = append(probes, p)
	}
	return probes
}

// allowedByDTrace finds out whether DTrace can be started, by starting it. It sets no probes. The parameter why is the
// reason why BPF and uprobes can't be used. It is "" if DTrace is the only way.
func allowedByDTrace(ctx context.Context, why string) (note string, err error) {
	d := &dtraced{why: why, ended: make(chan struct{}), cpus: map[int]uint64{}}
	if err := d.start(ctx, &dtrace.Script{}, false); err != nil {
		return "", err
	}
	err = d.detach()
	return d.note(), err
}
