package page

import (
	"fmt"
	"strconv"

	"github.com/gasm-profiler/gasm/report/page/show"
)

// hosts returns a table that compares the hosts of merged captures, those that differ from the others first.
func (t *tableBuilder) hosts() *table {
	if len(t.r.Hosts) < 2 {
		return nil
	}
	out := &table{ID: "p" + strconv.Itoa(t.b.listingProfile(t.p)) + "-hosts", Title: "Hosts",
		Note: "the method whose share of a host's samples differs most from its share on all other hosts together, and the " +
			"difference that chance explains; for the first event"}
	out.Columns = []column{{Name: "samples", Number: true}, {Name: "host"}, {Name: "method"}, {Name: "share", Number: true},
		{Name: "others", Number: true}, {Name: "noise", Number: true}, {Name: "differs"}}
	percent := func(share float64) cell {
		return cell{Text: fmt.Sprintf("%.2f%%", 100*share), Sort: strconv.FormatFloat(share, 'f', -1, 64)}
	}
	for _, h := range t.r.Hosts {
		cells := []cell{{Text: strconv.FormatInt(h.Samples, 10)}, {Text: show.Text(h.Name), Name: true}}
		if d := h.Farthest; d != nil {
			differs := "no"
			if d.Differs {
				differs = "yes"
			}
			cells = append(cells, cell{Text: show.Text(d.Method)}, percent(d.Share), percent(d.Others), percent(d.Noise),
				cell{Text: differs})
		} else {
			cells = append(cells, cell{Text: "-"}, cell{}, cell{}, cell{}, cell{})
		}
		out.Rows = append(out.Rows, row{Cells: cells})
	}
	full := len(out.Rows)
	out.Rows = out.Rows[:t.limit(full)]
	return t.cut(out, full)
}
