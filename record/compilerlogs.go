package record

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// CompilerLogsFault tells why LogCompilation is not to be used; "" when it can be. With
// it each compiler thread of a JVM writes a file /tmp/hs_c<thread>_pid<pid>.log, whatever
// TMPDIR says (CompileBroker::init_compiler_thread_log). HotSpot opens what it finds
// there: a link that another user has planted leads it to any file that gasm's user can
// write. A named pipe stops the compiler. So this is only for a /tmp in which nobody else
// can make files, or where the kernel does not open what others have made.
func CompilerLogsFault() string {
	if runtime.GOOS != "linux" || isPrivate(hotSpotTemp) {
		return ""
	}
	for _, kind := range []string{"symlinks", "hardlinks", "fifos"} {
		if !protected(kind) {
			return fmt.Sprintf("fs.protected_%s is 0, so that other users could make it write to files of this one (sudo sysctl fs.protected_%[1]s=1)", kind)
		}
	}
	return ""
}

// protected tells whether the kernel refuses to open files of a kind that other users
// have made in folders like /tmp. See fs.protected_symlinks and its like in
// Documentation/admin-guide/sysctl/fs.rst.
func protected(kind string) bool {
	text, err := os.ReadFile("/proc/sys/fs/protected_" + kind)
	return err == nil && strings.TrimSpace(string(text)) != "0"
}

// isPrivate tells whether only this user, and root, can make files in a folder.
func isPrivate(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || stat.Uid == 0) && info.Mode()&0o022 == 0
}

// removeCompilerLogs removes what LogCompilation leaves behind of a JVM that was
// killed, which else puts these files into its log and removes them when it ends
// (CompileLog::finish_log). A JVM that still runs keeps its files.
func removeCompilerLogs(pid int) {
	if running(pid) {
		return
	}
	files, _ := filepath.Glob(fmt.Sprintf("%s/hs_c*_pid%d.log", hotSpotTemp, pid)) // the pattern is well-formed
	for _, f := range files {
		os.Remove(f)
	}
}

// running tells whether there is a process.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }
