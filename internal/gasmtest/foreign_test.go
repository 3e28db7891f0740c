package gasmtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// foreignDir is the only package that accesses what belongs to other processes.
const foreignDir = "internal/foreign"

// processPath matches strings in the code that lead to processes in /proc: "/proc/%d/maps", or "/proc" to be joined
// with an id.
var processPath = regexp.MustCompile(`^/proc/?$|/proc/%`)

// ofProcesses are the files outside of internal/foreign that contain paths below /proc/PID, each with the purpose. None
// of them leads into the files that a process sees (root, cwd, exe, fd, map_files).
var ofProcesses = map[string]string{
	"doctor/dtrace.go":                   "the name of a process that DTrace has sampled",
	"hotspot/probe/session_linux.go":     "a path for other programs, which gasm does not open",
	"internal/native/maps.go":            "the name of a text, for messages",
	"internal/native/proc_linux.go":      "the kernel's list of mappings",
	"sampler/collect/drain_linux.go":     "the names of threads",
	"sampler/collect/machine/machine.go": "whether a process is there",
	"sampler/perfevent/running_linux.go": "the threads of a process",
}

// TestProcessPaths checks that nothing but internal/foreign opens files below /proc/PID, except for some texts that the
// kernel writes.
func TestProcessPaths(t *testing.T) {
	seen := map[string]bool{}
	eachFile(t, func(dir, name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") || slices.Contains([]string{foreignDir, "internal/gasmtest",
			"sampler/collect/collecttest", "bench"}, dir) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err == nil && processPath.MatchString(text) {
				seen[dir+"/"+name] = true
				assert.Contains(t, ofProcesses, dir+"/"+name, "has the path %q: use internal/foreign", text)
			}
			return true
		})
	})
	for file := range ofProcesses {
		assert.True(t, seen[file], "%s has no such path any more", file)
	}
}

// fileCalls matches the functions that access files by their paths, or change them.
var fileCalls = regexp.MustCompile(`^(os\.(Remove|RemoveAll|Chmod|Chown|Lchown|WriteFile|ReadFile|Open|OpenFile|OpenRoot|Create|CreateTemp|Mkdir|MkdirAll|MkdirTemp|` +
	`Rename|Symlink|Link|Truncate|ReadDir|DirFS|Chtimes)|filepath\.(Glob|Walk|WalkDir)|net\.Dial|net\.DialUnix|` +
	`unix\.(Open|Openat|Openat2|Creat|Mkdir|Mkdirat|Unlink|Unlinkat|Rename|Renameat|Renameat2|Chown|Fchownat|Lchown|Chmod|Fchmodat|Connect|Truncate|Mknod|Mknodat|` +
	`Symlink|Symlinkat|Link|Linkat|Kill|Tgkill|Setfsuid|Setfsgid|Setgroups|Capset))$`)

// inHotSpot lists the allowed calls in the packages that work with JVMs, by source file. They access only gasm's own
// files and the kernel's.
var inHotSpot = map[string][]string{
	"hotspot/attach/permission_linux.go": {"os.ReadFile"}, // kernel.yama.ptrace_scope
	"hotspot/vmstructs/allowed_linux.go": {"os.ReadFile"}, // the same
	"hotspot/vmstructs/open_linux.go":    {"os.ReadFile"}, // the same
	"hotspot/follow/log.go":              {"os.OpenFile"}, // a log in the capture
	"hotspot/probe/agent.go":             {"os.OpenFile", "os.Remove"},
	"hotspot/usdt/uprobes_linux.go":      {"os.ReadFile"}, // the kernel's number for uprobes
}

// inRecord lists the allowed calls in package record and the packages below it, by source file: those that remove more
// than one file, change permissions, or write a file by its path. They access only the capture, and folders and notes
// that gasm has made for itself.
var inRecord = map[string][]string{
	"record/debuginfo/debuginfo.go": {"os.RemoveAll", "os.WriteFile"},
	"record/folder/capture.go":      {"os.Chmod", "os.RemoveAll"},
	"record/folder/gather.go":       {"os.Chmod"}, // of files that are in the capture already
	"record/folder/leftfolders.go":  {"os.RemoveAll"},
	"record/folder/logs.go":         {"os.Chmod", "os.RemoveAll"},
	"record/jvmevents/started.go":   {"os.WriteFile"}, // in the capture, before the command runs
	"record/jvmfolder/note.go":      {"os.RemoveAll", "os.WriteFile"},
	"record/optionsfile.go":         {"os.Chmod", "os.WriteFile"},
}

var dangerous = regexp.MustCompile(`^(os\.(RemoveAll|Chmod|Chown|Lchown|WriteFile|Symlink|Link|Truncate|OpenRoot|DirFS)|filepath\.(Walk|WalkDir)|net\.Dial|net\.DialUnix|unix\.\w+at2?|unix\.(Kill|Connect|Capset))$`)

// TestFilesOfOthers checks that the packages that work with JVMs access the JVMs' files only through internal/foreign,
// and that recording uses no path that a JVM could have planted.
func TestFilesOfOthers(t *testing.T) {
	seen := map[string][]string{}
	eachFile(t, func(dir, name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		path := dir + "/" + name
		eachCall(file, func(call string) {
			allowed := inRecord
			switch {
			case strings.HasPrefix(dir, "hotspot/") && fileCalls.MatchString(call):
				allowed = inHotSpot
			case dir != "record" && !strings.HasPrefix(dir, "record/") || !dangerous.MatchString(call):
				return
			}
			seen[path] = append(seen[path], call)
			assert.Contains(t, allowed[path], call, "%s: use internal/foreign", path)
		})
	})
	for _, allowed := range []map[string][]string{inHotSpot, inRecord} {
		for path, calls := range allowed {
			assert.Subset(t, seen[path], calls, "%s has no such call any more", path)
		}
	}
}

var becoming = regexp.MustCompile(`^(SYS_)?(SET(RES|RE|E|FS)?[UG]ID|SETGROUPS|Set(res|re|e|fs)?[ug]id|Setgroups|Capset)$`)

// TestBecoming checks that only internal/foreign changes the user id of a thread.
func TestBecoming(t *testing.T) {
	becomes := 0
	eachSource(t, func(dir string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && becoming.MatchString(s.Sel.Name) {
				becomes++
				assert.Equal(t, foreignDir, dir, s.Sel.Name)
			}
			return true
		})
	})
	assert.Positive(t, becomes)
}

// eachCall calls the function see with the name of each function of another package that the file calls or mentions,
// such as "os.Open".
func eachCall(file *ast.File, see func(call string)) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				see(x.Name + "." + s.Sel.Name)
			}
		}
		return true
	})
}
