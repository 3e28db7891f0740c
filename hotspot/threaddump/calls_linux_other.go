//go:build linux && !amd64

package threaddump

// moreCalls are system calls that only x86-64 has.
var moreCalls map[int]callKind
