package nmethod

import (
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A knownSite is a site of Profiled with the shares that the program has, in percent.
type knownSite struct {
	method, bytecode string
	shares           map[string]float64
}

// knownSites are the sites of Profiled. A type check up to JDK 24 counts objects that fail only in the interpreter, so
// the shares of instanceof are those of its branch there.
var knownSites = []knownSite{
	{"Profiled::three", "invokeinterface", map[string]float64{"Profiled$Circle": 50, "Profiled$Square": 30,
		"Profiled$Triangle": 20}},
	{"Profiled::two", "invokevirtual", map[string]float64{"Profiled$Cat": 75, "Profiled$Bird": 25}},
	{"Profiled::one", "invokevirtual", map[string]float64{"Profiled$Fish": 100}},
	{"Profiled::branch", "ifne", map[string]float64{"taken": 90, "not taken": 10}},
	{"Profiled::instance", "ifeq", map[string]float64{"taken": 40, "not taken": 60}},
	{"Profiled::instance", "instanceof", map[string]float64{"Profiled$Circle": 60, "Profiled$Square": 40}},
	{"Profiled::cast", "checkcast", map[string]float64{"Profiled$Circle": 80, "Profiled$Triangle": 20}},
	{"Profiled::store", "aastore", map[string]float64{"Profiled$Square": 75, "Profiled$Circle": 25}},
}

// TestProfiles reads the profiles of a program that knows its shares, without any flag but those of HotSpot's log of
// its compilations, and compares them with the shares and with what the log says that C2 saw.
func TestProfiles(t *testing.T) {
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Profiled.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "compilations.log")
			cmd := exec.Command(jdk.Java(), "-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:LogFile="+log, "-cp",
				classes, "Profiled")
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer cmd.Wait()
			defer cmd.Process.Kill()
			found := readProfiles(t, cmd.Process.Pid)
			checkKnown(t, found)
			require.NoError(t, stdin.Close()) // it ends, and HotSpot puts the compilers' logs into its own
			require.NoError(t, cmd.Wait())
			checkCompared(t, found, log)
		})
	}
}

// profilesByCode are the profiles by the code that they were read for.
type profilesByCode map[printassembly.CodeKey][]*printassembly.MethodProfile

// site returns the last site of a method that was read with a bytecode, or nil.
func (p profilesByCode) site(method, bytecode string) (found *printassembly.ProfileSite) {
	for _, profiles := range p {
		for _, m := range profiles {
			for i := range m.Sites {
				if s := &m.Sites[i]; m.Method == method && s.Bytecode == bytecode {
					found = s
				}
			}
		}
	}
	return found
}

// readProfiles copies the code that C2 compiles until the profiles of all known sites have been read.
func readProfiles(t *testing.T, pid int) (found profilesByCode) {
	t.Helper()
	var copier *Copier
	var cache *codecache.Cache
	text, copied :=
		[]byte("<hotspot_log version='160 1' process='1' time_ms='1'>\n<writer thread='gasm'/>\n"),
		map[printassembly.CodeKey]bool{}
	require.Eventually(t, func() bool {
		if cache == nil {
			vm, err := vmstructs.Open(pid)
			if err != nil {
				return false // it is only just starting
			}
			if copier, err = NewCopier(vm); err != nil {
				return false
			}
			if cache, err = codecache.New(vm, copier.MethodName); err != nil {
				return false
			}
		}
		if _, err := cache.Poll(1); err != nil {
			return false
		}
		copier.Forget()
		for _, b := range cache.Blobs() {
			if b.Method == nil || b.Method.Compiler != "c2" || copied[b.Method.Key()] {
				continue
			}
			code, err := copier.Copy(b.Method)
			if err != nil {
				continue
			}
			if _, err = code.AppendTo(nil); err != nil {
				continue
			}
			copied[b.Method.Key()] = true
			text = code.AppendProfiles(text)
		}
		l, err := printassembly.NewLog(strings.NewReader(string(text)), int64(len(text)), "profiles")
		require.NoError(t, err)
		found = profilesByCode{}
		for code, profiles := range l.Profiles.CompiledWith {
			found[code] = profiles
		}
		for _, known := range knownSites {
			if found.site(known.method, known.bytecode) == nil {
				return false
			}
		}
		return true
	}, time.Minute, 100*time.Millisecond, "C2 compiles all methods of Profiled")
	return found
}

// checkKnown compares the sites with the shares that the program has. Of two rows for three classes, it is chance which
// classes have them.
func checkKnown(t *testing.T, found profilesByCode) {
	t.Helper()
	for _, known := range knownSites {
		s := found.site(known.method, known.bytecode)
		if known.bytecode == "instanceof" && s.More {
			assert.NotZero(t, s.Failed, "%+v", s)
			continue
		}
		total := s.Taken + s.NotTaken + s.Others
		for _, class := range s.Types {
			total += class.Count
		}
		check := func(name string, count int64) {
			assert.InDelta(t, known.shares[name], 100*float64(count)/float64(total), 1, "%s in %s %s: %+v", name, known.method,
				known.bytecode, s)
		}
		left := 100.0
		for _, class := range s.Types {
			check(class.Class, class.Count)
			left -= known.shares[class.Class]
		}
		if s.IsBranch() {
			check("taken", s.Taken)
			check("not taken", s.NotTaken)
			continue
		}
		assert.InDelta(t, left, 100*float64(s.Others)/float64(total), 1, "others in %s: %+v", known.method, s)
	}
}

// A seenSite is what a log says that C2 saw at a bytecode, in percent.
type seenSite struct {
	code        printassembly.CodeKey
	method, bci string
	shares      map[string]float64
}

// checkCompared compares the sites with what HotSpot's log says that C2 saw.
func checkCompared(t *testing.T, found profilesByCode, log string) {
	t.Helper()
	file, err := os.Open(log)
	require.NoError(t, err)
	defer file.Close()
	compared := map[string]int{}
	for _, seen := range seenByC2(t, file) {
		for _, m := range found[seen.code] {
			for i := range m.Sites {
				s := &m.Sites[i]
				if m.Method != seen.method || strconv.Itoa(s.BCI) != seen.bci || !strings.HasPrefix(m.Method, "Profiled::") ||
					m.Method == "Profiled::main" {
					continue
				}
				total := float64(max(1, s.Taken+s.NotTaken+s.Others))
				for _, class := range s.Types {
					total += float64(class.Count)
				}
				got := map[string]float64{"taken": 100 * float64(s.Taken) / total}
				for _, class := range s.Types {
					got[class.Class] = 100 * float64(class.Count) / total
				}
				for name, share := range seen.shares {
					assert.InDelta(t, share, got[name], 1, "%s at %s@%s of %+v: %+v", name, m.Method, seen.bci, seen.code, s)
				}
				compared[m.Method]++
			}
		}
	}
	t.Logf("compared with HotSpot's log: %v", compared)
	for _, method := range []string{"Profiled::three", "Profiled::two", "Profiled::branch"} {
		assert.NotZero(t, compared[method], "%s in the log", method)
	}
}

var logAttribute = regexp.MustCompile(`(\w+)='([^']*)'`)

// seenByC2 returns the branches and the calls with receivers in the compilations of a log.
func seenByC2(t *testing.T, log io.Reader) (seen []seenSite) {
	t.Helper()
	text, err := io.ReadAll(log)
	require.NoError(t, err)
	var klasses, methods map[string]string // by HotSpot's numbers, in one compilation
	var code printassembly.CodeKey
	var parsed, bcis []string // the methods that are being parsed, and the last bci of each
	for line := range strings.Lines(string(text)) {
		a := map[string]string{}
		for _, m := range logAttribute.FindAllStringSubmatch(line, -1) {
			a[m[1]] = m[2]
		}
		number := func(name string) float64 {
			n, err := strconv.ParseFloat(strings.TrimSpace(a[name]), 64)
			return max(n, 0) * float64(map[bool]int{true: 1}[err == nil])
		}
		tag, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch tag {
		case "<task":
			klasses, methods, parsed, bcis = map[string]string{}, map[string]string{}, nil, nil
			code.OSR = a["compile_kind"] == "osr"
			if code.ID, _ = strconv.Atoi(a["compile_id"]); a["level"] != "" {
				code.ID = -1 // C1
			}
		case "<klass":
			klasses[a["id"]] = a["name"]
		case "<method":
			methods[a["id"]] = klasses[a["holder"]] + "::" + a["name"]
		case "<parse":
			parsed, bcis = append(parsed, methods[a["method"]]), append(bcis, "")
		case "</parse>":
			parsed, bcis = parsed[:len(parsed)-1], bcis[:len(bcis)-1]
		case "<bc":
			if len(bcis) > 0 {
				bcis[len(bcis)-1] = a["bci"]
			}
		case "<branch", "<call":
			if len(parsed) == 0 || code.ID < 0 {
				continue
			}
			s := seenSite{code, parsed[len(parsed)-1], bcis[len(bcis)-1], map[string]float64{}}
			if all := number("taken") + number("not_taken"); tag == "<branch" && all > 0 {
				s.shares["taken"] = 100 * number("taken") / all
			}
			for _, receiver := range []string{"receiver", "receiver2"} {
				if name := klasses[a[receiver]]; name != "" && number("count") > 0 {
					s.shares[name] = math.Min(100, 100*number(receiver+"_count")/number("count"))
				}
			}
			seen = append(seen, s)
		}
	}
	return seen
}

// BenchmarkProfiles reads the profiles of the methods that C2 has compiled for javac, and of what was inlined into
// them. The time of copying them is not measured.
func BenchmarkProfiles(b *testing.B) {
	jdks := gasmtest.NeedJDKs(b, func(j gasmtest.JDK) bool { return j.Feature == 25 || j.Feature == 17 })
	classPath := b.TempDir()
	gasmtest.CompileJava(b, classPath, 17, gasmtest.Testdata("programs", "Compile.java"),
		gasmtest.Testdata("programs", "MemoryFile.java"), gasmtest.Testdata("programs", "MemoryFiles.java"))
	for _, jdk := range jdks {
		b.Run(jdk.Name(), func(b *testing.B) {
			cmd := exec.Command(jdk.Java(), "-cp", classPath, "Compile")
			require.NoError(b, cmd.Start())
			defer cmd.Wait()
			defer cmd.Process.Kill()
			c, blobs := openStopped(b, cmd.Process, 2500)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var text []byte // used again and again, as by a follower
			took, methods, profiles, size := time.Duration(0), 0, 0, 0
			// Copies need the symbols, and the code cache needs the names of flags, even if no profiles are read.
			c.prepare()
			_, err := c.vm.Flags("CodeEntryAlignment")
			require.NoError(b, err)
			const profilers = 100
			began := threadCPU(b)
			for range profilers {
				c.profiler = c.newProfiler()
			}
			once := (threadCPU(b) - began) / profilers
			for b.Loop() {
				c.Forget()
				clear(c.profiler.written.byHash)
				clear(c.profiler.used)
				for _, blob := range blobs {
					if blob.Method.Compiler != "c2" {
						continue
					}
					code, err := c.Copy(blob.Method)
					if err != nil {
						continue
					}
					if _, err = code.AppendTo(nil); err != nil {
						continue
					}
					began := threadCPU(b)
					text = code.AppendProfiles(text[:0])
					size += len(text)
					took += threadCPU(b) - began
					methods++
				}
				profiles += len(c.profiler.written.byHash)
			}
			b.ReportMetric(float64(once.Microseconds()), "µs/JVM")
			b.ReportMetric(float64(took.Microseconds())/float64(methods), "µs/method")
			b.ReportMetric(float64(profiles)/float64(methods), "profiles/method")
			b.ReportMetric(float64(size)/float64(methods), "bytes/method")
		})
	}
}

// threadCPU returns the CPU time of the thread, which other processes on a busy machine do not change.
func threadCPU(b *testing.B) time.Duration {
	var now unix.Timespec
	require.NoError(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
	return time.Duration(now.Nano())
}
