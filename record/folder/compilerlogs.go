package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// CompilerLogsFault returns why HotSpot's LogCompilation must not be used, or "" if it can be used. With
// LogCompilation, each compiler thread of a JVM writes a file /tmp/hs_c<thread>_pid<pid>.log, whatever TMPDIR is
// (CompileBroker::init_compiler_thread_log). If another user has planted a link at that path, HotSpot may overwrite
// any file of gasm's user. If another user has planted a named pipe there, the compiler hangs. So LogCompilation is
// safe only if no other user can create files in /tmp, or if the kernel refuses to open what others have created
// there.
func CompilerLogsFault() string {
	if runtime.GOOS != "linux" || isPrivate(HotSpotTemp) {
		return ""
	}
	for _, kind := range []string{"symlinks", "hardlinks", "fifos"} {
		if !protected(kind) {
			return fmt.Sprintf("fs.protected_%s is 0, so that other users could make it write to files of this one (sudo sysctl fs.protected_%[1]s=1)", kind)
		}
	}
	return ""
}

// protected reports whether the kernel refuses to open files of the given kind that other users have created in folders
// like /tmp. The kind is "symlinks", "hardlinks" or "fifos", for the setting fs.protected_symlinks and so on. The
// kernel describes them in Documentation/admin-guide/sysctl/fs.rst.
func protected(kind string) bool {
	text, err := os.ReadFile("/proc/sys/fs/protected_" + kind)
	return err == nil && strings.TrimSpace(string(text)) != "0"
}

// isPrivate reports whether only this user and root can create files in a folder.
func isPrivate(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || stat.Uid == 0) && info.Mode()&0o022 == 0
}

// RemoveCompilerLogs removes the LogCompilation files that a killed JVM has left behind. A JVM that ends normally
// copies these files into its log and removes them itself (CompileLog::finish_log). If the JVM still runs,
// RemoveCompilerLogs does nothing.
func RemoveCompilerLogs(pid int) {
	if running(pid) {
		return
	}
	files, _ := filepath.Glob(fmt.Sprintf("%s/hs_c*_pid%d.log", HotSpotTemp, pid)) // the pattern is well-formed
	for _, f := range files {
		os.Remove(f)
	}
}

// running reports whether a process exists and belongs to this user, or to any user if gasm runs as root.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }
