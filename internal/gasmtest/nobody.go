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

// Nobody is the user id and the group id of the user nobody, who has no rights.
const Nobody = 65534

// JVMOfNobody returns a credential for running a JVM, or a command that starts one, as the user nobody. It also removes
// the sockets for attaching that killed JVMs left behind, such as /tmp/.java_pid4711. If the new JVM happened to get
// the process id 4711, it would have to replace that file. But it can't replace a file of another user, and then
// nothing could attach to the JVM.
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
