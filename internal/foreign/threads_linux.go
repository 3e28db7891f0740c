package foreign

import (
	"fmt"
	"strings"
)

// HasThread reports whether a thread of the process has the given name. The kernel keeps only the first 15 bytes of a
// thread's name, so a longer name is never found.
func (p *Process) HasThread(name string) bool {
	for _, tid := range p.Threads() {
		text, err := p.Read(fmt.Sprintf("task/%d/comm", tid), 64)
		if err == nil && strings.TrimSpace(string(text)) == name {
			return true
		}
	}
	return false
}
