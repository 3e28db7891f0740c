package amount

import (
	"strings"

	"github.com/gasm-profiler/gasm/profile"
)

// StackShares returns a text with the shares of an event's samples by how complete their stacks are: "99.70% whole,
// 0.20% cut, 0.10% not walked". The function share formats a share of all samples.
func StackShares(a *profile.Account, share func(n, all int64) string) string {
	var parts []string
	for _, end := range []struct {
		name string
		n    int64
	}{{"whole", a.Whole}, {"cut", a.Cut}, {"frozen", a.Frozen}, {"not walked", a.Unwalked}} {
		if end.n > 0 {
			parts = append(parts, share(end.n, a.Profiled)+" "+end.name)
		}
	}
	return strings.Join(parts, ", ")
}
