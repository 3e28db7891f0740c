package collect

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A host is what the machine says about itself, and about who may sample.
type host struct {
	user     int    // effective user id
	paranoid int    // kernel.perf_event_paranoid; 2, the kernel's default, if unknown
	kernel   string // its release: "6.8.0-31-generic"
	distro   string // the text of /etc/os-release
}

func thisHost() host {
	h := host{user: os.Geteuid(), paranoid: 2}
	if n, ok := sysctlInt("kernel/perf_event_paranoid"); ok {
		h.paranoid = n
	}
	h.kernel = readTrimmed("/proc/sys/kernel/osrelease")
	h.distro = readTrimmed("/etc/os-release")
	return h
}

// owns reports whether the process belongs to the user. It returns true if that is unknown.
func (h host) owns(pid int) bool {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == h.user
}

// distroIDs returns the ID of /etc/os-release and then the words of its ID_LIKE.
func (h host) distroIDs() (ids []string) {
	for line := range strings.Lines(h.distro) {
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

// sysctlInt reads a number below /proc/sys: "kernel/perf_event_paranoid".
func sysctlInt(name string) (int, bool) {
	n, err := strconv.Atoi(readTrimmed("/proc/sys/" + name))
	return n, err == nil
}

// readTrimmed returns the text of a file without the blanks around it, or "" if the file can't be read.
func readTrimmed(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
