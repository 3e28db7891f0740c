package profile

import (
	"github.com/gasm-profiler/gasm/profile/hosts"
)

// hostRegions is the maximum number of regions whose shares are listed for each host.
const hostRegions = 3

// A hotCut is one of the hottest regions, with its index in Profile.Regions.
type hotCut struct {
	regionCut
	index int
}

// keepHottest keeps the hottest regions of code in the code cache. The cuts must be sorted, hottest first. Regions of
// native code are left out, because their samples are not counted by JVM.
func (r *regionCutter) keepHottest(cuts []regionCut) {
	for i := range cuts {
		if len(r.hottest) == hostRegions {
			return
		}
		if !cuts[i].Native {
			r.hottest = append(r.hottest, hotCut{cuts[i], i})
		}
	}
}

// nativeOfHost is the name of all native code together, when hosts are compared.
const nativeOfHost = "<native code and kernel>"

// hosts sets Hosts, HostRegions and Compared of the profile. It compares them by the methods that their samples were
// in, and not by regions, because one host may inline a method that another one does not, and still do the same work.
// The parameter hottest has the hottest regions.
func (w *work) hosts(p *Profile, hottest []hotCut) {
	index := map[string]int{}
	of := make([]int, len(p.Shares)) // of[i] is the host of the JVM p.Shares[i]
	for i, s := range p.Shares {
		name := w.b.hosts[s.PID]
		h, ok := index[name]
		if !ok {
			h = len(p.Hosts)
			index[name] = h
			p.Hosts = append(p.Hosts, hosts.Host{Name: name, Hottest: make([]int64, len(hottest))})
		}
		host := &p.Hosts[h]
		of[i], host.PIDs = h, append(host.PIDs, s.PID)
		if len(s.Counts) > 0 {
			host.Samples += s.Counts[0]
		}
	}
	if len(p.Hosts) < 2 || w.n == 0 {
		p.Hosts = nil
		return
	}
	for n, cut := range hottest {
		p.HostRegions = append(p.HostRegions, cut.index)
		for _, blob := range cut.from.blobs {
			h := index[w.b.hosts[blob.pid]]
			for pc, c := range blob.atPC {
				if at := pc - blob.Lo + cut.from.Lo; at >= cut.Lo && at < cut.Hi {
					p.Hosts[h].Hottest[n] += c[0]
				}
			}
		}
	}
	p.Compared = compared(p, of)
	hosts.Compare(p.Hosts, p.Compared)
	hosts.Order(p.Hosts)
}

// compared returns the code by which hosts are compared: the Java methods, and all native code together. of[i] is the
// host of the JVM p.Shares[i].
func compared(p *Profile, of []int) []hosts.Code {
	native := hosts.Code{Name: nativeOfHost, Samples: map[int]int64{}}
	for i := range p.Shares {
		native.Samples[of[i]] += p.Shares[i].Native[0]
	}
	all := []hosts.Code{native}
	for i := range p.Frames {
		f := &p.Frames[i]
		code := hosts.Code{Name: f.Method, Samples: map[int]int64{}}
		for k, c := range f.PerJVM {
			if c[0] > 0 {
				code.Samples[of[k]] += c[0]
			}
		}
		if len(code.Samples) > 0 {
			all = append(all, code)
		}
	}
	return all
}
