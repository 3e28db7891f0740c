package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// CompilerLogsFault says why LogCompilation must not be used; "" when it can be. With LogCompilation, each compiler
// thread of a JVM writes a file /tmp/hs_c<thread>_pid<pid>.log, whatever TMPDIR is
// (CompileBroker::init_compiler_thread_log). HotSpot opens what it finds there: a link that another user has planted
// leads it to any file that gasm's user can write, and a named pipe stops the compiler. So LogCompilation is only for a
// /tmp in which nobody else can make files, or where the kernel does not open what others have made.
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

// protected reports whether the kernel refuses to open files of a kind that other users have made in folders like /tmp.
// See fs.protected_symlinks, fs.protected_hardlinks and fs.protected_fifos in Documentation/admin-guide/sysctl/fs.rst.
func protected(kind string) bool {
	text, err := os.ReadFile("/proc/sys/fs/protected_" + kind)
	return err == nil && strings.TrimSpace(string(text)) != "0"
}

// isPrivate reports whether only this user, and root, can make files in a folder.
func isPrivate(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || stat.Uid == 0) && info.Mode()&0o022 == 0
}

// RemoveCompilerLogs removes the files of LogCompilation that a JVM which was killed has left. Any other JVM puts these
// files into its log when it ends, and removes them (CompileLog::finish_log). A JVM that still runs keeps its files.
func RemoveCompilerLogs(pid int) {
	if running(pid) {
		return
	}
	files, _ := filepath.Glob(fmt.Sprintf("%s/hs_c*_pid%d.log", HotSpotTemp, pid)) // the pattern is well-formed
	for _, f := range files {
		os.Remove(f)
	}
}

// running reports whether there is a process.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }
