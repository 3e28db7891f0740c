package schema

// A Host is one of the hosts whose captures were merged. If all captures are of one host, the report treats each
// capture as a host. All numbers are of the first event.
type Host struct {
	Name    string       `json:"name"` // the host's name, or the folder of the capture if it is unknown
	PIDs    []int        `json:"pids"`
	Samples int64        `json:"samples"`           // in the profile
	Regions []HostRegion `json:"regions,omitempty"` // the hottest regions of the profile
	// Farthest is the method in which the host differs most from the others. It is nil if there is nothing to compare
	// with.
	Farthest *HostDifference `json:"farthest,omitempty"`
}

// A HostRegion is the number of a host's samples in a region.
type HostRegion struct {
	Region  int   `json:"region"` // index in the profile's regions
	Samples int64 `json:"samples"`
}

// A HostDifference compares a method's share of a host's samples with its share on all other hosts together.
type HostDifference struct {
	Method  string  `json:"method"`
	Share   float64 `json:"share"`  // of the host's samples
	Others  float64 `json:"others"` // of the samples of all other hosts
	Noise   float64 `json:"noise"`  // the largest difference that chance explains
	Differs bool    `json:"differs"`
}
