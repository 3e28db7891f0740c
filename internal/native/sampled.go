package native

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
)

// mostSampled limits the number of functions and addresses, in all processes together, whose samples a Resolver counts.
// Samples of further ones are not counted.
const mostSampled = 1 << 17

// Sampled is like [Resolver.Resolve], for a PC that was sampled. The Resolver counts the samples of each function, so
// that [Resolver.Code] can read the code of those that have many.
func (r *Resolver) Sampled(pid int, pc uint64, claim string) (Range, bool) {
	found, ok := r.Resolve(pid, pc, claim)
	if !ok {
		return found, false
	}
	at := r.processes[pid].find(pc)
	addr, ok := at.image.segments.Address(pc - at.Lo + at.FileOffset)
	if !ok {
		return found, true
	}
	slot, _, _ := at.image.find(addr)
	key := sampledKey{slot: slot}
	if slot%2 == 0 {
		key.addr = addr // a gap may contain several functions without symbols
	}
	if at.samples == nil {
		at.samples, at.owner = map[sampledKey]int{}, r.owners[pid].owner
	}
	if _, known := at.samples[key]; !known {
		if r.sampled == mostSampled {
			return found, true
		}
		r.sampled++
	}
	at.samples[key]++
	return found, true
}

// A sampledKey is a function that has samples or, in a gap between functions, an address.
type sampledKey struct {
	slot int
	addr uint64 // 0 for a function
}

// A sampledImage is an image together with the parts (mappings of processes) in which it has samples.
type sampledImage struct {
	*image
	parts   []*part
	samples map[sampledKey]int // number of samples in all parts
	arch    disasm.Arch        // set by readCode
	stubs   map[uint64]string  // set by readCode; see object.stubs
}

// sampledImages returns the images that have samples.
func (r *Resolver) sampledImages() []*sampledImage {
	images := map[*image]*sampledImage{}
	for _, pid := range slices.Sorted(maps.Keys(r.processes)) {
		p := r.processes[pid]
		for _, at := range slices.Concat(p.past, p.parts) {
			if len(at.samples) == 0 {
				continue
			}
			s := images[at.image]
			if s == nil {
				s = &sampledImage{image: at.image, samples: map[sampledKey]int{}}
				images[at.image] = s
			}
			s.parts = append(s.parts, at)
			for key, n := range at.samples {
				s.samples[key] += n
			}
		}
	}
	return slices.SortedFunc(maps.Values(images), func(a, b *sampledImage) int {
		return cmp.Or(cmp.Compare(a.parts[0].Path, b.parts[0].Path), cmp.Compare(a.parts[0].PID, b.parts[0].PID),
			cmp.Compare(a.parts[0].Lo, b.parts[0].Lo))
	})
}
