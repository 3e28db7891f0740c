package jvm

import "golang.org/x/sys/unix"

// KernelRelease is the running kernel's release, as uname -r prints it.
func KernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
