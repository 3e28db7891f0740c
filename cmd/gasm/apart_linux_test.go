package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestSeesOthers: an ordinary user with CAP_SYS_PTRACE sees other users' processes as root does, and without it does
// not.
func TestSeesOthers(t *testing.T) {
	gasmtest.NeedRoot(t)
	assert.True(t, seesOthers(), "root")
	type seen struct {
		err     error
		uid     int
		with    bool
		without bool
	}
	var s seen
	gasmtest.OnEndingThread(func() {
		capable := func(effective uint32) error {
			header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			data := [2]unix.CapUserData{{Effective: effective, Permitted: 1 << unix.CAP_SYS_PTRACE}}
			return unix.Capset(&header, &data[0])
		}
		s.err = unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0)
		const nobody = uintptr(gasmtest.Nobody)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			s.err = errno
		}
		if s.err == nil {
			s.err = capable(1 << unix.CAP_SYS_PTRACE)
		}
		s.uid, s.with = unix.Geteuid(), seesOthers()
		if s.err == nil {
			s.err = capable(0)
		}
		s.without = seesOthers()
	})
	require.NoError(t, s.err)
	assert.Equal(t, seen{uid: gasmtest.Nobody, with: true}, s)
}
