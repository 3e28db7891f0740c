package usdt

// The parts of a text that are not firings of probes. The package comment has examples.
const (
	// TextHead is the first line.
	TextHead = "# gasm usdt 1"
	// ProbesHead begins the second line. The names of the recorded probes follow, with blanks
	// between them. From these names the reader knows which starts can be paired with an end.
	ProbesHead = "# probes "
	// WordAllocated, WordLost and WordEnd stand in place of a probe's name.
	WordAllocated = "allocated"
	WordLost      = "lost"
	WordEnd       = "end"
)
