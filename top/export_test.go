package top

// Sizes returns how much a Model keeps.
func (m *Model) Sizes() (keys, threads, functions int) {
	return len(m.all), len(m.threads), len(m.functions)
}

// Copied returns the number of pieces of a JVM's code that the Model keeps.
func (m *Model) Copied(pid int) (n int) {
	for _, c := range m.jvms[pid].copy {
		if c != nil {
			n++
		}
	}
	return n
}

// Kept returns how many JVMs, bytes of their code, and decoded instructions a Model keeps.
func (m *Model) Kept() (jvms, text, decoded int) { return len(m.jvms), m.textBytes, m.decoded }

// Compilations returns the number of different pieces of code that the samples of a compilation are counted in.
func (p *Picture) Compilations(method string, id int) int {
	found := map[*Code]bool{}
	for i := range p.entries {
		if c := p.entries[i].code; c != nil && c.Name == method && c.CompileID == id {
			found[c] = true
		}
	}
	return len(found)
}

// ForgetStart turns a Model that has no samples yet into one as NewRecent returns it.
func (m *Model) ForgetStart() { m.all = nil }
