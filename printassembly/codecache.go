package printassembly

import (
	"strconv"
	"strings"
)

// defaultCodeCache is the size that HotSpot (JDK 8 to 28) reserves by default with tiered compilation: 48 MB
// (c2_globals_*.hpp) times 5 (CompilationPolicy::initialize, compilerDefinitions.cpp). Without tiered compilation it
// reserves less.
const defaultCodeCache = 240 << 20

// reservedCodeCache returns the size that the JVM's arguments set for the code cache. If several arguments set it, the
// last one counts. If none does, the result is defaultCodeCache. HotSpot accepts 240m, 245760K and 251658240.
func reservedCodeCache(args string) uint64 {
	size := uint64(defaultCodeCache)
	for arg := range strings.FieldsSeq(args) {
		text, ok := strings.CutPrefix(arg, "-XX:ReservedCodeCacheSize=")
		if !ok || text == "" {
			continue
		}
		shift := 0
		switch text[len(text)-1] | 0x20 {
		case 'k':
			shift = 10
		case 'm':
			shift = 20
		case 'g':
			shift = 30
		}
		if shift > 0 {
			text = text[:len(text)-1]
		}
		// HotSpot allows at most 2 GB (CODE_CACHE_SIZE_LIMIT).
		if n, err := strconv.ParseUint(text, 10, 32); err == nil && n<<shift <= 1<<31 {
			size = n << shift
		}
	}
	return size
}

// framePointers reports whether the JVM's arguments set PreserveFramePointer. The last argument that sets it counts.
func framePointers(args string) (on bool) {
	for arg := range strings.FieldsSeq(args) {
		switch arg {
		case "-XX:+PreserveFramePointer":
			on = true
		case "-XX:-PreserveFramePointer":
			on = false
		}
	}
	return on
}
