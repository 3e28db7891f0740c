package gasmtest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nobody is the user and group id of the user without rights, nobody.
const Nobody = 65534

// JVMOfNobody returns the credential for a command that is a JVM, or starts one, as the user without rights. A JVM that
// was killed leaves its socket, /tmp/.java_pid4711. The next JVM with this process id removes the socket as it starts. A JVM
// of another user may not remove it, and then nobody can attach to that JVM. So JVMOfNobody removes the sockets of
// processes that are gone.
func JVMOfNobody(tb testing.TB) *syscall.Credential {
	tb.Helper()
	left, err := filepath.Glob("/tmp/.java_pid*")
	require.NoError(tb, err)
	for _, path := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(path, "/tmp/.java_pid"))
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.Remove(path)
		}
	}
	return &syscall.Credential{Uid: Nobody, Gid: Nobody}
}
