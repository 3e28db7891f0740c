package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/hosts"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// writeHosts writes the table that compares the hosts of merged captures: the samples of each, its shares of the
// hottest regions, and the method in which it differs most from all others.
func writeHosts(v *view.View) {
	p := v.Profile
	if len(p.Hosts) < 2 {
		return
	}
	v.Rule("Hosts")
	header := []string{"samples", "JVMs"}
	var legend []string
	for i, r := range p.HostRegions {
		number := "#" + strconv.Itoa(i+1)
		header = append(header, number)
		legend = append(legend, fmt.Sprintf("%s is %s (%s)", number, p.Regions[r].Method, p.Regions[r].Source))
	}
	aligns := append(slices.Repeat([]layout.Align{layout.Right}, len(header)), layout.Left, layout.Left)
	shown := p.Hosts
	if v.Options.Top > 0 && len(shown) > v.Options.Top+1 {
		shown = shown[:v.Options.Top]
	}
	var rows [][]string
	for i := range shown {
		h := &shown[i]
		row := []string{strconv.FormatInt(h.Samples, 10), strconv.Itoa(len(h.PIDs))}
		for _, n := range h.Hottest {
			row = append(row, amount.ShareOf(n, h.Samples).String())
		}
		rows = append(rows, append(row, h.Name, farthest(v, h)))
	}
	for _, line := range layout.Table(append(header, "host", "farthest from all others, in points"), rows, aligns) {
		v.Line("%s", line)
	}
	v.EndRule()
	if len(legend) > 0 {
		v.Paragraph("", "Shares of the hottest regions in the host's samples: "+strings.Join(legend, ", ")+".")
	}
	v.Paragraph("", hostsNote(p.Hosts, len(p.Hosts)-len(shown)))
	v.Line("")
}

// farthest returns a text that says in which method a host differs most from the others: "+53.1 ±9.0 Hosts::b".
func farthest(v *view.View, h *hosts.Host) string {
	d := h.Farthest
	if d == nil {
		return "-"
	}
	text := fmt.Sprintf("%+.1f %s%.1f %s", 100*d.Change(), v.Glyph("±", "+-"), 100*d.Noise,
		v.Profile.Compared[d.Code].Name)
	if d.Different() {
		text += ": differs"
	}
	return text
}

// hostsNote returns sentences that explain the table. The parameter left is the number of hosts that the table does not
// show.
func hostsNote(all []hosts.Host, left int) string {
	text := "The last column has the method whose share differs most from its share on all other hosts together, the difference, and the noise. If hosts are equal, a difference is above the noise in one of a hundred reports."
	if len(all) == 2 {
		text += " With two hosts, each differs from the other: which of them is unusual is unknown, and so is how much hosts differ by themselves."
	}
	if left > 0 {
		text += fmt.Sprintf(" %s are not shown; none of them differs more than those above.", layout.Plural(left, "more host"))
	}
	return text
}
