package report

import (
	"math"

	"github.com/gasm-profiler/gasm/profile/hosts"
	"github.com/gasm-profiler/gasm/report/schema"
)

// host converts what the profile says about a host.
func (p jsonProfile) host(h *hosts.Host) schema.Host {
	out := schema.Host{Name: h.Name, PIDs: list(h.PIDs), Samples: h.Samples}
	for i, n := range h.Hottest {
		out.Regions = append(out.Regions, schema.HostRegion{Region: p.HostRegions[i], Samples: n})
	}
	if d := h.Farthest; d != nil {
		share := func(s float64) float64 { return math.Round(1e6*s) / 1e6 }
		out.Farthest = &schema.HostDifference{Method: p.Compared[d.Code].Name, Share: share(d.Share),
			Others: share(d.Others), Noise: share(d.Noise), Differs: d.Different()}
	}
	return out
}
