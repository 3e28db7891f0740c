package usdt

// What a text has other than probes. The package comment has examples.
const (
	// TextHead is the first line.
	TextHead = "# gasm usdt 1"
	// ProbesHead begins the second line. The names of the recorded probes follow, with blanks between them: the
	// reader must know of which things there are both starts and ends.
	ProbesHead = "# probes "
	// WordAllocated, WordLost and WordEnd stand in place of a probe's name.
	WordAllocated = "allocated"
	WordLost      = "lost"
	WordEnd       = "end"
)
