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

// JVMOfNobody gives the credential of a command that becomes a JVM, or starts one, as the user without rights. A JVM that
// was killed leaves its socket, /tmp/.java_pid4711. The next JVM with this process id removes it as it starts, if it may:
// one of another user can't, and then nobody can talk to it. So those of processes that are gone are removed here.
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
