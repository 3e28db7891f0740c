package sdt

import "fmt"

// A Published is an object that a JVM has loaded, and the methods in it. Only one goroutine may use it.
type Published struct {
	// Methods are the methods in the object, in the order in which they were added.
	Methods []Method

	file   *File
	taken  [Sites]bool
	probes []Probe
	shown  int // how many of probes were published
}

// NewPublished opens the object that a JVM has loaded. [Published.Close] closes f; after an error, f is
// closed already.
func NewPublished(f Storage, m *Machine) (*Published, error) {
	file, err := Open(f, m)
	if err != nil {
		return nil, err
	}
	return &Published{file: file}, nil
}

// Has reports whether a site is the entry of a method.
func (p *Published) Has(site int) bool { return site >= 0 && site < Sites && p.taken[site] }

// Add adds a method. The site is its entry, and the next site its return. Tracers see it after Publish.
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

// Publish makes tracers see the methods that were added.
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

// Close closes the object's Storage. The object stays with its probes until its file is removed. The JVM has it mapped
// and is not affected.
func (p *Published) Close() error { return p.file.Close() }
