package native

import (
	"maps"
	"sync"
	"weak"
)

// A recording of a view that stays open for long begins before the one that it replaces has ended, and both need the
// functions of the same files. So a Resolver does not read the symbols of a file whose functions another Resolver still
// has.

// A sharedKey has all that the functions of a file depend on.
type sharedKey struct {
	file    fileKey
	version fileVersion
	debug   [4]fileVersion // of its debug files; see debugFinder.versions
	folder  string         // of the debugFinder
	limits  *limits        // to which the memory is charged
}

// A sharing has the functions of files, as long as a Resolver uses them.
type sharing struct {
	mu    sync.Mutex
	known map[sharedKey]weak.Pointer[functions]
}

var sharedFunctions = sharing{known: map[sharedKey]weak.Pointer[functions]{}}

// find returns the functions of a file, or nil if no Resolver has them.
func (s *sharing) find(key sharedKey) *functions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[key].Value()
}

func (s *sharing) add(f *functions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.known, func(_ sharedKey, f weak.Pointer[functions]) bool { return f.Value() == nil })
	s.known[f.key] = weak.Make(f)
}
