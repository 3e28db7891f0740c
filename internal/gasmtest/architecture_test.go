package gasmtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/gasm-profiler/gasm/"

// mayImport says which packages of the project each package of it may use, apart from
// those below internal. It is the picture in ARCHITECTURE.md; a package that is to know
// more than its row there changes both.
var mayImport = map[string][]string{
	"disasm":                   {"disasm/amd64", "disasm/arm64", "disasm/asm", "disasm/xarch"},
	"disasm/amd64":             {"disasm/amd64/lengths", "disasm/asm"},
	"disasm/amd64/lengths":     {"disasm/asm"},
	"disasm/arm64":             {"disasm/asm"},
	"disasm/asm":               nil,
	"disasm/disasmtest":        {"disasm/asm"},
	"disasm/xarch":             {"disasm/asm"},
	"printassembly":            {"disasm"},
	"printassembly/safepoints": {"disasm", "printassembly"},
	"sampler":                  {"callstack"},
	"sampler/collect": {"callstack", "sampler", "sampler/collect/external", "sampler/collect/failure",
		"sampler/collect/machine", "sampler/perfevent"},
	"sampler/perfevent": nil,
	"capture": {"callstack", "event", "event/hslog", "event/jfr", "event/rings", "event/usdt",
		"printassembly", "sampler", "wall"},
	"callstack":          nil,
	"wall":               {"callstack"},
	"event":              nil,
	"event/hslog":        {"event"},
	"event/rings":        nil,
	"event/usdt":         {"event"},
	"hotspot/vmstructs":  nil,
	"hotspot/unsigned5":  nil,
	"hotspot/heap":       {"hotspot/unsigned5", "hotspot/vmstructs"},
	"hotspot/threads":    {"hotspot/heap", "hotspot/vmstructs"},
	"hotspot/methoddata": {"hotspot/vmstructs"},
	"hotspot/nmethod":    {"hotspot/methoddata", "hotspot/unsigned5", "hotspot/vmstructs", "printassembly"},
	"event/jfr":          {"event"},
	"hotspot/attach":     {"hotspot/vmstructs"},
	"hotspot/codecache":  {"hotspot/vmstructs", "printassembly"},
	"hotspot/jcmd":       {"hotspot/vmstructs"},
	"hotspot/probe":      {"event/rings", "hotspot/jcmd", "hotspot/sdt"},
	"hotspot/sdt":        nil,
	"hotspot/usdt": {"event", "event/usdt", "sampler/collect/dtrace", "sampler/collect/failure",
		"sampler/perfevent"},
	"hotspot/classes": {"hotspot/vmstructs"},
	"hotspot/shared":  {"hotspot/codecache", "hotspot/nmethod", "hotspot/vmstructs"},
	"hotspot/stack": {"callstack", "hotspot/codecache", "hotspot/nmethod", "hotspot/shared",
		"hotspot/stack/exec", "hotspot/vmstructs", "printassembly", "sampler/perfevent"},
	"hotspot/stack/exec": nil,
	"hotspot/threaddump": {"callstack", "hotspot/heap", "hotspot/nmethod", "hotspot/shared", "hotspot/stack",
		"hotspot/threads", "hotspot/vmstructs", "sampler/perfevent"},
	"hotspot/virtualthreads": {"callstack", "hotspot/classes", "hotspot/heap", "hotspot/shared", "hotspot/stack",
		"hotspot/threads", "hotspot/vmstructs"},
	"hotspot/wallclock/runcounts": nil,
	"hotspot/wallclock": {"callstack", "hotspot/shared", "hotspot/threaddump", "hotspot/virtualthreads",
		"hotspot/vmstructs", "hotspot/wallclock/runcounts", "wall"},
	"hotspot/follow": {"hotspot/codecache", "hotspot/nmethod", "hotspot/shared", "hotspot/threads",
		"hotspot/vmstructs", "printassembly"},
	"record": {"capture", "event/hslog", "hotspot/attach", "hotspot/follow", "hotspot/nmethod",
		"hotspot/probe", "hotspot/shared", "hotspot/stack", "hotspot/usdt", "hotspot/vmstructs", "hotspot/wallclock",
		"printassembly", "record/command", "record/debuginfo", "record/folder", "record/jvmevents", "record/jvmfolder",
		"record/patience", "record/probes", "record/processend", "record/windows", "sampler", "sampler/collect",
		"sampler/collect/dtrace", "sampler/collect/failure", "sampler/collect/xctrace"},
	"record/command":   nil,
	"record/debuginfo": {"hotspot/vmstructs", "record/lockedfolder", "record/processend"},
	"record/folder":    {"capture", "event/hslog", "hotspot/probe", "record/lockedfolder"},
	"record/jvmevents": {"capture", "event", "event/hslog", "event/jfr", "hotspot/attach", "hotspot/jcmd",
		"hotspot/usdt", "hotspot/vmstructs", "record/jvmfolder", "record/patience", "record/processend", "sampler"},
	"record/jvmfolder": {"event/hslog", "hotspot/jcmd", "hotspot/probe", "record/lockedfolder",
		"record/processend"},
	"record/lockedfolder": {"record/processend"},
	"record/patience":     nil,
	"record/probes": {"capture", "event/rings", "hotspot/jcmd", "hotspot/probe", "hotspot/sdt", "record/folder",
		"record/jvmfolder", "record/patience", "record/processend"},
	"record/processend": nil,
	"record/windows":    {"capture"},
	"profile/calltree":  {"callstack", "profile/tally"},
	"profile/chains":    {"callstack", "disasm", "printassembly"},
	"profile/callsites": {"profile/code", "profile/decisions", "profile/tally"},
	"profile/code":      {"disasm", "printassembly", "profile/decisions", "profile/jitprofile", "profile/tally"},
	"profile/delays":    {"printassembly", "profile/jvmcode", "profile/numbers", "profile/tally"},
	"profile/decisions": {"disasm", "event", "printassembly", "profile/framechains", "profile/jitprofile"},
	"profile/codemap":   {"printassembly"},
	"profile/events":    {"event", "profile/tally"},
	"profile/history":   {"event", "printassembly", "profile/threads"},
	"profile/vmwork":    {"callstack", "profile/tally", "profile/threads", "sampler"},
	"profile/warmup":    {"callstack", "event", "printassembly", "profile/tally"},
	"profile/loops":     {"disasm", "printassembly", "profile/code", "profile/framechains"},
	"profile/jvmcode": {"callstack", "capture", "disasm", "event", "printassembly", "printassembly/safepoints",
		"profile/chains", "profile/codemap", "profile/decisions", "profile/jitprofile", "sampler"},
	"profile/hosts":         nil,
	"profile/framechains":   {"printassembly"},
	"profile/jitprofile":    {"disasm", "printassembly", "profile/framechains"},
	"profile/annotated":     {"printassembly", "profile/tally"},
	"profile/nativesamples": {"profile/tally"},
	"profile/numbers":       {"profile/events", "sampler"},
	"profile/parts":         {"capture", "profile/tally", "profile/threads", "profile/windows"},
	"profile/printing":      {"capture", "profile/threads", "sampler"},
	"profile/probes":        {"capture", "event/rings"},
	"profile/sites":         {"callstack", "event", "profile/calltree", "profile/jvmcode", "profile/tally"},
	"profile/tally":         nil,
	"profile/threads":       {"profile/tally"},
	"profile/waits": {"callstack", "capture", "event", "profile/calltree", "profile/sites", "profile/threads",
		"profile/windows", "wall"},
	"profile/windows": {"capture", "event"},
	"profile": {"callstack", "capture", "disasm", "event", "printassembly", "profile/annotated",
		"profile/callsites", "profile/calltree", "profile/chains", "profile/choice", "profile/code",
		"profile/delays", "profile/events", "profile/history", "profile/hosts", "profile/jitprofile",
		"profile/jvmcode", "profile/loops", "profile/nativesamples", "profile/numbers", "profile/parts",
		"profile/printing", "profile/probes", "profile/sites", "profile/tally", "profile/threads",
		"profile/vmwork", "profile/waits", "profile/warmup", "profile/windows", "sampler"},
	"report/schema": nil,
	"report/page": {"callstack", "capture", "event", "printassembly", "profile", "profile/calltree",
		"profile/code", "profile/history", "profile/loops", "profile/parts", "profile/sites", "profile/tally",
		"profile/threads", "profile/vmwork", "profile/waits", "profile/warmup", "profile/windows", "report/amount",
		"report/callers", "report/names", "report/page/chains", "report/page/show", "report/page/sources", "report/page/timeline",
		"report/schema", "wall"},
	"report/amount":  {"capture", "profile", "profile/history", "sampler"},
	"report/callers": {"callstack", "printassembly", "profile/calltree"},
	"report/names":   nil,
	"report/text": {"capture", "event", "printassembly", "profile", "profile/callsites", "profile/calltree",
		"profile/code", "profile/decisions", "profile/delays", "profile/history", "profile/hosts",
		"profile/tally", "profile/threads", "profile/vmwork", "profile/warmup", "profile/windows",
		"report/amount", "report/callers", "report/names", "report/text/counts", "report/text/events",
		"report/text/listing", "report/text/view"},
	"report/page/sources": {"printassembly", "profile", "report/page/show"},
	"report/page/timeline": {"capture", "event", "profile", "profile/history", "profile/parts", "profile/windows", "report/amount",
		"report/page/show"},
	"report/page/chains": {"printassembly", "report/page/show"},
	"report/page/show":   nil,
	"profile/choice": {"callstack", "capture", "disasm", "event", "printassembly", "profile/calltree",
		"profile/threads", "profile/windows", "sampler"},
	"report/text/counts": {"profile", "profile/tally", "report/amount"},
	"report/text/listing": {"disasm", "printassembly", "profile", "profile/code", "profile/jitprofile",
		"report/names", "report/text/counts"},
	"report/text/view": {"capture", "profile", "profile/calltree", "report/amount", "report/callers",
		"report/text/counts", "report/text/listing"},
	"report/text/events": {"callstack", "event", "event/rings", "profile", "profile/calltree", "profile/events",
		"profile/probes", "profile/sites", "profile/waits", "report/amount", "report/callers", "report/text/view",
		"wall"},
	"report/tracetest": nil,
	"report/stacks": {"callstack", "capture", "profile", "profile/calltree", "profile/waits", "profile/windows",
		"report/names", "sampler", "wall"},
	"report/reporttest": {"callstack", "capture", "disasm", "event", "printassembly", "profile",
		"profile/callsites", "profile/choice", "profile/code", "profile/decisions", "profile/events",
		"profile/history", "profile/jitprofile", "profile/sites", "profile/tally", "profile/vmwork",
		"profile/waits", "profile/warmup", "profile/windows", "wall"},
	"report/perfetto": {"callstack", "capture", "event", "printassembly", "profile", "profile/calltree",
		"profile/threads", "profile/windows", "report/names", "sampler", "wall"},
	"report": {"callstack", "capture", "disasm", "event", "event/rings", "printassembly", "profile",
		"profile/callsites", "profile/calltree", "profile/choice", "profile/code", "profile/decisions",
		"profile/delays", "profile/events", "profile/history", "profile/hosts", "profile/jitprofile",
		"profile/loops", "profile/probes", "profile/sites", "profile/tally", "profile/threads",
		"profile/vmwork", "profile/waits", "profile/warmup", "report/amount", "report/names", "report/page",
		"report/perfetto", "report/schema", "report/stacks", "report/text", "report/text/counts",
		"report/text/view", "wall"},
	"diff":     {"capture", "diff/asm", "report/schema", "sampler"},
	"diff/asm": nil,
	"mca":      {"profile", "profile/loops"},
	"doctor": {"callstack", "event/hslog", "hotspot/attach", "hotspot/follow", "hotspot/jcmd",
		"hotspot/nmethod", "hotspot/shared", "hotspot/stack", "hotspot/usdt", "hotspot/wallclock", "printassembly", "record",
		"sampler", "sampler/collect", "sampler/collect/dtrace", "sampler/collect/failure", "sampler/collect/xctrace",
		"wall"},
	"cmd/gasm/halfwritten": nil,
	"cmd/gasm/man":         nil,
	"cmd/gasm": {"capture", "cmd/gasm/halfwritten", "cmd/gasm/man", "diff", "disasm", "doctor", "event", "hotspot/attach", "hotspot/classes",
		"hotspot/probe", "hotspot/sdt", "hotspot/threaddump", "hotspot/vmstructs", "mca", "profile",
		"profile/calltree", "profile/choice", "profile/threads", "profile/windows", "push", "push/folder",
		"push/lines", "push/otlp", "push/pyroscope", "push/web", "record", "report", "report/text/counts",
		"report/text/listing", "report/text/view", "sampler", "top", "top/live", "top/terminal", "top/view", "watch",
		"watch/config", "watch/labels", "watch/serve"},
	"bench/fleet":    {"push", "push/pyroscope", "push/web"},
	"bench/multiply": nil,
	"bench": {"bench/fleet", "bench/multiply", "callstack", "capture", "disasm", "event/jfr", "hotspot/shared", "hotspot/usdt", "hotspot/wallclock",
		"printassembly", "printassembly/safepoints/oracle", "profile", "profile/calltree", "profile/choice",
		"sampler", "sampler/collect", "wall"},
	"watch": {"capture", "disasm", "event", "hotspot/attach", "profile", "push", "record", "record/jvmevents",
		"record/processend", "report/stacks", "sampler", "top", "top/live", "watch/events", "watch/labels"},
	"watch/config":   nil,
	"watch/events":   {"event", "event/jfr", "report/names"},
	"watch/labels":   {"hotspot/attach", "push"},
	"watch/serve":    {"hotspot/attach", "push", "push/web", "watch"},
	"push":           nil,
	"push/folder":    {"push"},
	"push/lines":     {"push"},
	"push/otlp":      {"push", "push/web"},
	"push/pyroscope": {"push", "push/web"},
	"push/web":       {"push"},
	"top": {"callstack", "capture", "disasm", "printassembly", "profile", "profile/calltree", "profile/code",
		"profile/codemap", "profile/jvmcode", "profile/tally", "profile/threads", "sampler"},
	"top/view": {"profile", "profile/tally", "report/text/listing", "top", "top/toptest"},
	"top/live": {"capture", "hotspot/attach", "record", "record/lockedfolder", "record/processend",
		"sampler", "top"},
	"top/terminal":             {"top/view"},
	"top/toptest":              {"callstack", "capture", "disasm", "printassembly", "sampler", "top"},
	"internal/arrows":          nil,
	"internal/cfi":             nil,
	"internal/gasmtest":        nil,
	"packaging":                nil,
	"internal/features":        {"internal/native", "report/schema"},
	"internal/fields":          nil,
	"internal/fix":             nil,
	"internal/foreign":         nil,
	"internal/htmlpage":        nil,
	"internal/inotify":         nil,
	"internal/javasource":      nil,
	"internal/javaname":        nil,
	"internal/jdk":             nil,
	"internal/jmhresult":       nil,
	"internal/layout":          nil,
	"internal/lines":           nil,
	"internal/monotonic":       nil,
	"internal/sdnotify":        nil,
	"internal/skips":           nil,
	"internal/sockdiag":        nil,
	"internal/student":         nil,
	"internal/tool":            nil,
	"internal/wildcard":        nil,
	"internal/native":          {"disasm"},
	"internal/noise":           nil,
	"internal/nativecode":      {"disasm"},
	"internal/dwarflines":      nil,
	"internal/progress":        nil,
	"internal/regular":         nil,
	"hotspot/vmstructs/vmtest": nil,

	"printassembly/safepoints/oracle": {"disasm", "printassembly", "printassembly/safepoints"},

	"sampler/collect/collecttest": {"sampler", "sampler/collect/machine"},
	"sampler/collect/dtrace": {"sampler", "sampler/collect/external", "sampler/collect/failure",
		"sampler/collect/machine"},
	"sampler/collect/external": nil,
	"sampler/collect/failure":  nil,
	"sampler/collect/machine":  nil,
	"sampler/collect/xctrace":  {"sampler", "sampler/collect/external", "sampler/collect/failure"},
}

// TestImports checks what packages import, and that each row of mayImport is of a package.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	eachSource(t, func(dir string, file *ast.File) {
		seen[dir] = true
		allowed, known := mayImport[dir]
		assert.True(t, known, "mayImport has no row for the package %s", dir)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if used, ours := strings.CutPrefix(path, module); ours && !strings.HasPrefix(used, "internal/") {
				assert.Contains(t, allowed, used, "imported by %s", dir)
			}
		}
	})
	for dir := range mayImport {
		assert.True(t, seen[dir], "there is no package %s", dir)
	}
}

// readers are the packages that turn a capture into a report, as patterns of go list. They work on any machine, so they
// know nothing of kernels and processes.
var readers = []string{"capture", "wall", "profile/...", "report/...", "diff/...", "top", "top/view", "event/...",
	"printassembly/...", "disasm", "sampler"}

// notForReaders recognizes what readers must not depend on: BPF, running programs, the network's protocols, and the
// packages of the project that record.
var notForReaders = regexp.MustCompile(`^(github\.com/cilium/ebpf|os/exec|net/http|` +
	module + `(cmd|record|doctor|bench|hotspot|agent|mca|sampler/collect|sampler/perfevent|internal/tool))(/|$)`)

// TestReadersKnowNoKernel follows the imports of readers on all systems that gasm runs on.
func TestReadersKnowNoKernel(t *testing.T) {
	t.Parallel()
	args := []string{"list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`}
	for _, pattern := range readers {
		args = append(args, "./"+pattern)
	}
	for _, system := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", args...)
		cmd.Dir = filepath.Dir(Testdata())
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		require.NoError(t, err)
		listed := 0
		for line := range strings.Lines(string(out)) {
			listed++
			words := strings.Fields(line)
			for _, dependency := range words[1:] {
				assert.NotRegexp(t, notForReaders, dependency, "%s depends on it on %s", words[0], system)
			}
		}
		assert.GreaterOrEqual(t, listed, len(readers))
	}
}

// commands are the packages that print and exit: gasm, what measures it, what packs it, what sums up its tests, and
// what tries its features.
var commands = []string{"cmd/gasm", "bench", "packaging", "internal/skips", "internal/features"}

// TestSilence checks that only commands print and exit.
func TestSilence(t *testing.T) {
	loud := []string{"os.Exit", "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println",
		"log.Fatal", "log.Fatalf", "log.Print", "log.Printf", "log.Println"}
	printed := 0
	eachSource(t, func(dir string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && slices.Contains(loud, x.Name+"."+s.Sel.Name) {
					if slices.Contains(commands, dir) {
						printed++
					} else {
						t.Errorf("%s uses %s.%s", dir, x.Name, s.Sel.Name)
					}
				}
			}
			return true
		})
	})
	assert.Positive(t, printed, "places where commands print")
}

// eachSource calls see for each file of the project that is not a test.
func eachSource(t *testing.T, see func(dir string, file *ast.File)) {
	t.Helper()
	eachFile(t, func(dir, name string, file *ast.File) {
		if !strings.HasSuffix(name, "_test.go") {
			see(dir, file)
		}
	})
}

// A projectFile is a Go file of the project.
type projectFile struct {
	dir, name string // its folder in the project, and its own name
	parsed    *ast.File
}

// projectFiles parses all Go files of the project, once for all tests. It also returns the positions in them.
var projectFiles = sync.OnceValues(func() (found []projectFile, positions *token.FileSet) {
	positions = token.NewFileSet()
	root := filepath.Dir(Testdata())
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(positions, path, nil, 0)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		found = append(found, projectFile{filepath.ToSlash(dir), d.Name(), file})
		return err
	})
	if err != nil {
		panic(err)
	}
	return found, positions
})

// eachFile calls see for each Go file of the project, with its folder in the project and its name. It returns the
// positions in the files. The tests share the parsed files, so see must not change them.
func eachFile(t *testing.T, see func(dir, name string, file *ast.File)) *token.FileSet {
	t.Helper()
	files, positions := projectFiles()
	require.NotEmpty(t, files)
	for _, f := range files {
		see(f.dir, f.name, f.parsed)
	}
	return positions
}
