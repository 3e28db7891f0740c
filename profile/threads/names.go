package threads

import "strings"

// AddNames adds the whole names of a process's threads, the latest last (printassembly.Header.ThreadNames). Samples only
// have what the kernel keeps of a name.
func (t *Table) AddNames(pid int, names map[int][]string) {
	if len(names) > 0 {
		t.whole[pid] = names
	}
}

// nameOf returns the whole name of a thread, or the kernel's name for it if the whole one is not known.
func (t *Table) nameOf(pid, tid int, kernel string) string {
	names := t.whole[pid][tid]
	for i := len(names) - 1; i >= 0; i-- {
		if shortens(kernel, names[i]) {
			return names[i]
		}
	}
	// The kernel does not know the names of the main thread, of threads that another thread has renamed, and of threads
	// that a library has started. But if there are several names, or it is not a Java thread, the id was another thread's.
	if len(names) == 1 && KindOf(kernel) == Application {
		return names[0]
	}
	return kernel
}

// shortens reports whether the kernel's name for a thread is what HotSpot lets it keep of the whole name.
func shortens(kernel, whole string) bool {
	if len(whole) <= keptName {
		return kernel == whole
	}
	if kernel == whole[:keptName] {
		return true
	}
	return len(kernel) == keptName && kernel[:keptStart]+".." == whole[:keptStart]+kernel[keptStart:keptStart+2] &&
		strings.HasSuffix(whole, kernel[keptStart+2:])
}
