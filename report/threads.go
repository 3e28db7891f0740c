package report

import (
	"cmp"
	"fmt"
	"strings"
)

// threadTable writes what the program's threads, the JIT compilers' and the collector's
// took, with the hottest threads of each kind.
func (r *textReport) threadTable() ranking {
	t := ranking{title: "Threads", more: "kind", all: true}
	for _, k := range r.p.Threads {
		const most = 4
		var names []string
		for _, thread := range k.Threads {
			if len(names) == most {
				break
			}
			if amount := r.amount(thread.Counts[0], 0); amount != "" {
				names = append(names, cmp.Or(thread.Name, "(no name)")+" "+amount)
			}
		}
		if more := len(k.Threads) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		r.add(&t, k.Counts, func() rankingRow { return rankingRow{name: k.Kind, native: true, details: strings.Join(names, ", ")} })
	}
	return t
}
