package regular

import (
	"os"

	"golang.org/x/sys/unix"
)

// kernelSystems are the names of the kernel's own file systems, by their magic numbers. Many files in them have the
// mode of a regular file, but their size is not the size of their content. Reading some of them blocks, for example
// /proc/kmsg and trace_pipe.
var kernelSystems = map[int64]string{
	unix.PROC_SUPER_MAGIC:    "proc",
	unix.SYSFS_MAGIC:         "sysfs",
	unix.DEBUGFS_MAGIC:       "debugfs",
	unix.TRACEFS_MAGIC:       "tracefs",
	unix.SECURITYFS_MAGIC:    "securityfs",
	unix.CGROUP_SUPER_MAGIC:  "cgroup",
	unix.CGROUP2_SUPER_MAGIC: "cgroup",
}

// kernelSystem returns the name of the file system that an open file is in, if it is one of the kernel's own. For a
// file system with real files it returns "".
func kernelSystem(f *os.File) string {
	var fs unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &fs) != nil {
		return ""
	}
	return kernelSystems[int64(fs.Type)]
}
