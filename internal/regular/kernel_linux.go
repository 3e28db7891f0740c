package regular

import (
	"os"

	"golang.org/x/sys/unix"
)

// kernelSystems are file systems whose files are regular ones by their mode only. Their
// size is not that of what they hold, and some of them wait: /proc/kmsg, trace_pipe.
var kernelSystems = map[int64]string{
	unix.PROC_SUPER_MAGIC:    "proc",
	unix.SYSFS_MAGIC:         "sysfs",
	unix.DEBUGFS_MAGIC:       "debugfs",
	unix.TRACEFS_MAGIC:       "tracefs",
	unix.SECURITYFS_MAGIC:    "securityfs",
	unix.CGROUP_SUPER_MAGIC:  "cgroup",
	unix.CGROUP2_SUPER_MAGIC: "cgroup",
}

// kernelSystem gives the name of the file system when it is one of the kernel's own; ""
// for one that has files.
func kernelSystem(f *os.File) string {
	var fs unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &fs) != nil {
		return ""
	}
	return kernelSystems[int64(fs.Type)]
}
