package usdt

// Lines of a USDT log that are not about a firing of a probe, and words that stand in place of a probe's name. The
// package comment has examples.
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
