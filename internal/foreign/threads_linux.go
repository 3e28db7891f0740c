package foreign

import (
	"fmt"
	"strings"
)

// HasThread reports whether a thread of the process has a name. The kernel keeps the first 15 bytes of a name.
func (p *Process) HasThread(name string) bool {
	for _, tid := range p.Threads() {
		text, err := p.Read(fmt.Sprintf("task/%d/comm", tid), 64)
		if err == nil && strings.TrimSpace(string(text)) == name {
			return true
		}
	}
	return false
}
