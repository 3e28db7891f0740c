package top

// Sizes returns how much a Model keeps.
func (m *Model) Sizes() (keys, threads, functions int) {
	return len(m.all), len(m.threads), len(m.functions)
}
