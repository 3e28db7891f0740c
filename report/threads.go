package report

import (
	"cmp"
	"fmt"
	"strings"
)

// threadTable shows what the threads of the program, of the compilers and of
// the collector took.
func (r *textReport) threadTable() {
	t := ranking{title: "Threads", more: "kind", all: true, shorten: shortMiddle}
	for _, k := range r.p.Threads {
		const most = 4
		var names []string
		for _, thread := range k.Threads {
			if amount := r.amount(thread.Counts[0], 0); amount != "" && len(names) < most {
				names = append(names, cmp.Or(thread.Name, "(no name)")+" "+amount)
			}
		}
		if more := len(k.Threads) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		t.rows = append(t.rows, rankingRow{counts: k.Counts, name: k.Kind, details: strings.Join(names, ", ")})
	}
	r.ranking(t)
}
