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

// JVMOfNobody returns the credential with which a test runs a JVM, or a command that starts one, as the user nobody. It
// first removes the sockets for attaching, such as /tmp/.java_pid4711, that killed JVMs left behind. Otherwise a new
// JVM of nobody's that happens to get the process id 4711 would have to remove that socket as it starts. If the socket
// belongs to another user, it may not, and nothing could attach to it.
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
