package threads

import "strings"

// AddNames adds the whole names of a process's threads, the latest last (printassembly.Header.ThreadNames). Samples
// only have what the kernel keeps of a name.
func (t *Table) AddNames(pid int, names map[int][]string) {
	if len(names) > 0 {
		t.whole[pid] = names
	}
}

// Name returns the whole name of a thread or, if that is not known, the kernel's name for it. If the kernel's name is
// not known either, kernel is "", and Name returns the latest name that the thread's id has had.
func (t *Table) Name(pid, tid int, kernel string) string {
	if names := t.whole[pid][tid]; kernel == "" && len(names) > 0 {
		return names[len(names)-1]
	}
	return t.nameOf(pid, tid, kernel)
}

// nameOf returns the whole name of a thread or, if that is not known, the kernel's name for it.
func (t *Table) nameOf(pid, tid int, kernel string) string {
	names := t.whole[pid][tid]
	for i := len(names) - 1; i >= 0; i-- {
		if shortens(kernel, names[i]) {
			return names[i]
		}
	}
	// The kernel does not know the names of the main thread, of threads that another thread has renamed, and of threads
	// that a library has started. In these cases the name that belongs to the id is right. But if the id has several
	// names, or if the kernel's name is that of one of HotSpot's own threads, the names belong to other threads.
	if len(names) == 1 && KindOf(kernel) == Application {
		return names[0]
	}
	return kernel
}

// shortens reports whether the kernel's name for a thread is the one that HotSpot gives the kernel for the whole name:
// the name itself if it is short, and otherwise a shortened form.
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
