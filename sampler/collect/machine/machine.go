// Package machine reads facts about the machine: who runs gasm, the kernel's settings and release, and the
// distribution. They decide whether a sampler may sample here, and how to install a sampler. The facts are in /proc
// and /etc/os-release. macOS has neither, so only the user is known there.
package machine

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A Host has the facts about a machine and its user that matter for sampling.
type Host struct {
	User     int    // effective user id
	Paranoid int    // kernel.perf_event_paranoid; 2, the kernel's default, if it is unknown
	Kernel   string // the kernel's release: "6.8.0-31-generic"
	Distro   string // the text of /etc/os-release
}

// This returns the Host for the machine on which gasm runs.
func This() Host {
	h := Host{User: os.Geteuid(), Paranoid: 2}
	if n, ok := Sysctl("kernel/perf_event_paranoid"); ok {
		h.Paranoid = n
	}
	h.Kernel = ReadTrimmed("/proc/sys/kernel/osrelease")
	h.Distro = ReadTrimmed("/etc/os-release")
	return h
}

// Owns reports whether the process belongs to the user. It returns true if the owner is unknown.
func (h Host) Owns(pid int) bool {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == h.User
}

// DistroIDs returns the ID in /etc/os-release, followed by the words of ID_LIKE.
func (h Host) DistroIDs() (ids []string) {
	for line := range strings.Lines(h.Distro) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.Trim(value, `"'`)
		switch key {
		case "ID":
			ids = append([]string{value}, ids...)
		case "ID_LIKE":
			ids = append(ids, strings.Fields(value)...)
		}
	}
	return ids
}

// Sysctl reads a number below /proc/sys, such as "kernel/perf_event_paranoid". It returns false if there is no such
// number.
func Sysctl(name string) (int, bool) {
	n, err := strconv.Atoi(ReadTrimmed("/proc/sys/" + name))
	return n, err == nil
}

// ReadTrimmed returns the text of a file without the blanks around it, or "" if the file can't be read.
func ReadTrimmed(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
