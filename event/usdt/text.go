package usdt

// Fixed parts of a USDT log: how the first two lines begin, and the words that a line has in place of a probe's name
// if it is not about a firing. The package comment has examples.
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
