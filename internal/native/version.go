package native

// changed gives a process's mappings a new version number, because they have changed.
func (r *Resolver) changed(p *process) {
	r.versions++
	p.version = r.versions
}

// Version returns a number that changes whenever the mappings of a process change. It is 0 if no mappings are known.
func (r *Resolver) Version(pid int) int {
	if p := r.processes[pid]; p != nil {
		return p.version
	}
	return 0
}
