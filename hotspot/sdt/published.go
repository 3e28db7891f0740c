package sdt

import "fmt"

// A Published is a shared object that a JVM has loaded, with the methods whose probes are in the object. It is not safe
// for concurrent use.
type Published struct {
	// Methods are the methods in the object, in the order in which they were added.
	Methods []Method

	file   *File
	taken  [Sites]bool
	probes []Probe
	shown  int // number of elements of probes that were published
}

// NewPublished opens the object that a JVM has loaded. The Published owns f: [Published.Close] closes it, and
// NewPublished itself closes it if it returns an error.
func NewPublished(f Storage, m *Machine) (*Published, error) {
	file, err := Open(f, m)
	if err != nil {
		return nil, err
	}
	return &Published{file: file}, nil
}

// Has reports whether a site is already in use for the entry of a method. It returns false for a number that is not a
// valid site.
func (p *Published) Has(site int) bool { return site >= 0 && site < Sites && p.taken[site] }

// Add adds a method. The probe at its entry gets the given site, which must be an even number, and the probe at its
// return gets the next site. Tracers see the method only after Publish.
func (p *Published) Add(site int, m Method) error {
	if site < 0 || site+1 >= Sites || site%2 != 0 || p.taken[site] || m.Class == "" || m.Name == "" {
		return fmt.Errorf("%s.%s can't have the site %d", m.Class, m.Name, site)
	}
	entry, ret, err := m.Probes(site)
	if err != nil {
		return err
	}
	p.taken[site] = true
	p.probes = append(p.probes, entry, ret)
	p.Methods = append(p.Methods, m)
	return nil
}

// Publish makes the methods that were added visible to tracers. If no method was added since the last call, it does
// nothing.
func (p *Published) Publish() error {
	if p.shown == len(p.probes) {
		return nil
	}
	if err := p.file.Publish(p.probes); err != nil {
		return fmt.Errorf("publishing %d probes: %w", len(p.probes), err)
	}
	p.shown = len(p.probes)
	return nil
}

// Close closes the object's Storage. The file and the probes in it remain until the file is removed. The JVM is not
// affected, because it has the file mapped.
func (p *Published) Close() error { return p.file.Close() }
