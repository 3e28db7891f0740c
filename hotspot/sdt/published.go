package sdt

import "fmt"

// A Published is an object that a JVM has loaded, with the methods that it shows. It is for one goroutine.
type Published struct {
	// Methods are those that it shows, in the order in which they came.
	Methods []Method

	file   *File
	taken  [Sites]bool
	probes []Probe
	shown  int // of probes
}

// NewPublished opens the object that a JVM has loaded. It closes f, also if there is an error.
func NewPublished(f Storage, m *Machine) (*Published, error) {
	file, err := Open(f, m)
	if err != nil {
		return nil, err
	}
	return &Published{file: file}, nil
}

// Has tells whether a site is a method's entry.
func (p *Published) Has(site int) bool { return site >= 0 && site < Sites && p.taken[site] }

// Add adds a method, of which a site is the entry and the next one the return. Publish shows it.
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

// Publish has tracers see what was added.
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

// Close ends it. The object stays, with its probes, until its file is removed. The JVM has it mapped and runs on.
func (p *Published) Close() error { return p.file.Close() }
