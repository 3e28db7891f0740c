package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/codemap"
	"github.com/gasm-profiler/gasm/sampler"
)

// TestReusedAddresses runs a program with a code cache that is much too small. HotSpot then puts many methods at the
// same address, one after another. HotSpot's own probes in libjvm.so report when each method was there. A sample must
// be attributed to the method that was at its address at the sample's time. A run takes ten seconds of CPU time, so the
// JDKs take turns to be launched and attached to; as a whole, the test does both with each.
func TestReusedAddresses(t *testing.T) {
	gasmtest.NeedPerf(t)
	classes := javaPrograms(t)
	found := gasmtest.NeedJDKs(t, gasmtest.WholeJDK17)
	for i, jdk := range found {
		t.Run(jdk.Name(), func(t *testing.T) {
			probes := addProbes(t, jdk.LibJVM())
			for k, how := range []string{"launched", "attached"} {
				if gasmtest.Whole() || len(found) == 1 || (i+k)%2 == 0 {
					t.Run(how, func(t *testing.T) { reusedAddresses(t, jdk.Java(), classes, probes, how == "attached") })
				}
			}
		})
	}
}

func reusedAddresses(t *testing.T, java, classes string, probes *probes, attached bool) {
	c, log, truth := churn(t, java, classes, probes, attached)
	require.NotEmpty(t, truth.all, "the kernel recorded no event of the probes")
	t.Logf("%d methods were loaded, %d of them never printed", len(truth.all), len(truth.missing(log)))

	byTime, lastBlob := attribute(t, filepath.Join(filepath.Dir(log.Name()), capture.SamplesFile), log,
		c.JVMs[0].StartMonoNanos, truth)
	t.Logf("by time:       %v", byTime)
	t.Logf("the last blob: %v", lastBlob)
	assert.Greater(t, byTime.reused, 200, "samples on reused addresses: the run shows too little")
	// HotSpot's log has times in milliseconds. So if a method was replaced by another one within a millisecond, it
	// may have samples of the other: 0.01 % of the samples, in a measurement. If an attached gasm did not run for a
	// moment, it can't distinguish the methods of that moment, and says how many samples are affected. A method that
	// HotSpot installs just before the JVM ends may have samples although gasm does not know it, because gasm reads
	// the code cache only every 10 to 50 ms.
	assert.LessOrEqual(t, byTime.share(byTime.late), 0.05, "samples in methods that came after gasm's last look: %v",
		byTime.late)
	if !assert.GreaterOrEqual(t, byTime.share(byTime.right), 0.995-ambiguousShare(t, c.Notes),
		"samples that went to the method that was there") {
		for _, m := range byTime.mostMistaken(10) {
			t.Logf("%d samples: %s", byTime.mistaken[m], m)
		}
	}
	assert.Less(t, lastBlob.right, byTime.right, "the times make no difference: the run shows nothing")
}

var ambiguousNote = regexp.MustCompile(`^(\d+) of the (\d+) samples in code of JVM \d+ were at addresses whose code was replaced between two looks`)

// ambiguousShare returns the share of samples of which gasm says that they may belong to another method. It returns 0
// if gasm says nothing, because there are hardly any such samples.
func ambiguousShare(t *testing.T, notes []string) float64 {
	t.Helper()
	for _, n := range notes {
		if m := ambiguousNote.FindStringSubmatch(n); m != nil {
			ambiguous, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			all, err := strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)
			t.Logf("gasm says: %s", m[0])
			return ambiguous / all
		}
	}
	return 0
}

// churn profiles the program Churn with a small code cache. gasm either starts the program or attaches to it. At the
// same time, churn records when the program's methods were loaded and unloaded.
func churn(t *testing.T, java, classes string, probes *probes, attached bool) (*capture.Capture, *printassembly.Log,
	*owners) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	stop := probes.record(t)
	flags := []string{"-o", dir, "--frequency", "5000", "--report", os.DevNull}
	program := []string{"-XX:ReservedCodeCacheSize=4m", "-cp", classes, "Churn"}
	// On a busy machine, a fixed time would lead to too few samples, so the runs end after a CPU time. About 2000
	// samples are enough.
	launchedCPU := 6
	if gasmtest.Whole() {
		launchedCPU = 10
	}
	if attached {
		attachUntilUsed(t, 6*time.Second, append([]string{java, "-Dsec=600"}, program...), flags)
	} else {
		r := runGasm(t, slices.Concat([]string{"profile"}, flags,
			[]string{"--", java, "-Dsec=0", "-Dcpu=" + strconv.Itoa(launchedCPU)}, program))
		require.Equal(t, 0, r.code, r.stderr)
	}
	trace := stop()
	c, err := capture.Open(dir)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.Len(t, c.JVMs, 1)
	log := c.JVMs[0].Log
	return c, log, newOwners(events(t, trace, log.Blobs))
}

// attachUntilUsed starts a command's JVM, and attaches to it after it has used a second of CPU time. It detaches
// after the JVM has used the further CPU time in its second argument.
func attachUntilUsed(t *testing.T, cpu time.Duration, command, flags []string) {
	t.Helper()
	jvm := exec.Command(command[0], command[1:]...)
	require.NoError(t, jvm.Start())
	defer jvm.Wait()
	defer jvm.Process.Kill()
	gasmtest.AwaitWork(t, jvm.Process.Pid, time.Second) // there is compiled code by then
	attachWhileUsed(t, jvm.Process.Pid, cpu, flags)
}

// attachWhileUsed attaches gasm to a JVM until the JVM has used that much CPU time, and returns what gasm has printed.
func attachWhileUsed(t *testing.T, pid int, cpu time.Duration, flags []string) (stdout string) {
	t.Helper()
	gasm := exec.Command(binary, slices.Concat([]string{"attach"}, flags, []string{strconv.Itoa(pid)})...)
	var out bytes.Buffer
	stderr := newLineWaiter("sampling pid")
	gasm.Stdout, gasm.Stderr = &out, stderr
	require.NoError(t, gasm.Start())
	stderr.wait(t)
	gasmtest.AwaitWork(t, pid, cpu)
	require.NoError(t, gasm.Process.Signal(os.Interrupt))
	require.Equal(t, 0, exitCode(t, gasm), stderr)
	return out.String()
}

// attribute compares, for each sample in compiled code, the code map with the truth. It uses the code map at the
// sample's time, and the map at the end of all times.
func attribute(t *testing.T, path string, log *printassembly.Log, start int64, truth *owners) (byTime,
	lastBlob *figures) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	code := codemap.New(log.Blobs)
	late := truth.late(log, start)
	find := func(pc uint64, uptimeMillis int64) *printassembly.Blob {
		if i, ok := code.Find(pc, uptimeMillis); ok {
			return &log.Blobs[i]
		}
		return nil
	}
	byTime, lastBlob = &figures{mistaken: map[string]int{}}, &figures{mistaken: map[string]int{}}
	samples := sampler.NewPerfReader(file, path)
	for samples.Scan() {
		s, ok := samples.Record().(*sampler.Sample)
		if !ok || s.PID != log.PID || s.Kernel() {
			continue
		}
		was, reused := truth.at(s.PC, s.MonoNanos)
		if was != nil && late[was] {
			byTime.late++
			continue
		}
		byTime.add(was, reused, find(s.PC, (s.MonoNanos-start)/1e6))
		lastBlob.add(was, reused, find(s.PC, math.MaxInt64-1))
	}
	require.NoError(t, samples.Err())
	return byTime, lastBlob
}

// figures has the numbers of samples in compiled methods, by the method to which they were attributed.
type figures struct {
	right, wrong, unresolved int
	reused, reusedRight      int // those of them whose addresses belonged to several methods
	noOwner                  int // attributed to a method although there was none; these samples count for nothing else
	late                     int // in methods installed after gasm's last look; counted nowhere else
	// mistaken has the number of samples for each mistake: the actual method, and the one to which gasm attributed
	// the sample.
	mistaken map[string]int
}

func (f *figures) add(was *owner, reused bool, got *printassembly.Blob) {
	if was == nil {
		if got != nil && got.Kind.Java() {
			f.noOwner++
		}
		return
	}
	right := got != nil && was.is(got)
	switch {
	case right:
		f.right++
	case got == nil:
		f.unresolved++
	default:
		f.wrong++
	}
	if !right {
		f.mistaken[mistake(was, got)]++
	}
	if reused {
		f.reused++
	}
	if reused && right {
		f.reusedRight++
	}
}

// mistake returns a text about an address that was attributed wrongly: the method that had the address, and the one
// that got the sample. nil means no code.
func mistake(was *owner, got *printassembly.Blob) string {
	s := fmt.Sprintf("in %s at [%#x, %#x), loaded at %d ns and gone at %d ns, went to ", was.method, was.lo, was.hi,
		was.from, was.to)
	if got == nil {
		return s + "no code"
	}
	return s + fmt.Sprintf("%s (%s) at [%#x, %#x), compilation %d, of %d ms", got.Name, got.Source(), got.Lo, got.Hi,
		got.ID, got.UptimeMillis)
}

// mostMistaken returns the n keys with the most samples in f.mistaken.
func (f *figures) mostMistaken(n int) []string {
	keys := slices.SortedFunc(maps.Keys(f.mistaken), func(a, b string) int { return f.mistaken[b] - f.mistaken[a] })
	return keys[:min(n, len(keys))]
}

func (f *figures) samples() int { return f.right + f.wrong + f.unresolved }

func (f *figures) share(n int) float64 { return float64(n) / float64(max(1, f.samples())) }

func (f *figures) String() string {
	return fmt.Sprintf("%d samples in methods: %.2f %% right, %.2f %% wrong, %.2f %% unresolved; %d on reused addresses: %.2f %% right; "+
		"beside them %d given to a method where none was, and %d in methods that came after gasm's last look",
		f.samples(), 100*f.share(f.right), 100*f.share(f.wrong), 100*f.share(f.unresolved),
		f.reused, 100*float64(f.reusedRight)/float64(max(1, f.reused)), f.noOwner, f.late)
}

// An owner is a method that occupied a range of addresses for some time.
type owner struct {
	method   string // with its signature
	from, to int64  // monotonic, ns: [from, to)
	lo, hi   uint64 // the method's main code, which the log has, too
}

// is reports whether the blob is the owner's code.
func (o *owner) is(b *printassembly.Blob) bool {
	name, _, _ := strings.Cut(o.method, "(")
	logged, _, _ := strings.Cut(b.Name, "(") // in the log, the names of MethodHandle's intrinsics have a signature
	return b.Kind.Java() && b.Lo == o.lo && b.Hi >= o.hi && plainName(logged) == name
}

// plainName returns the same name for pkg.Class and pkg/Class. It also makes no difference between / and +, which
// precede the number in the name of a hidden class.
func plainName(name string) string { return strings.NewReplacer("/", ".", "+", ".").Replace(name) }

// owners says which method occupied an address at a time.
type owners struct {
	all   []owner
	pages map[uint64][]int // indices by address >> 7, in the order of time
}

// newOwners takes the events in the order of time. A method ends when it is unloaded, or when another one occupies
// any of its bytes, if that is earlier. The event of an unload has no address, so if a method was compiled several
// times, its oldest code ends.
func newOwners(events []codeEvent) *owners {
	o := &owners{pages: map[uint64][]int{}}
	live := map[string][]int{}
	for _, e := range events {
		if !e.loaded {
			if l := live[e.method]; len(l) > 0 {
				o.all[l[0]].to = min(o.all[l[0]].to, e.mono)
				live[e.method] = l[1:]
			}
			continue
		}
		for page := e.lo >> 7; page <= (e.hi-1)>>7; page++ {
			for _, i := range o.pages[page] {
				if old := &o.all[i]; old.lo < e.hi && e.lo < old.hi {
					old.to = min(old.to, e.mono)
				}
			}
			o.pages[page] = append(o.pages[page], len(o.all))
		}
		live[e.method] = append(live[e.method], len(o.all))
		o.all = append(o.all, owner{method: e.method, from: e.mono, to: math.MaxInt64, lo: e.lo, hi: e.hi})
	}
	return o
}

// at returns the owner of an address at a time, or nil if there is none, and whether the address has also had other
// owners.
func (o *owners) at(pc uint64, mono int64) (was *owner, reused bool) {
	n := 0
	for _, i := range o.pages[pc>>7] {
		if own := &o.all[i]; own.lo <= pc && pc < own.hi {
			n++
			if own.from <= mono && mono < own.to {
				was = own
			}
		}
	}
	return was, n > 1
}

// late returns the owners that are not in the log, and were installed after all code that the log has. Times in the log
// are in milliseconds since start, which is a time on the monotonic clock.
func (o *owners) late(log *printassembly.Log, start int64) map[*owner]bool {
	last := int64(0)
	for i := range log.Blobs {
		last = max(last, log.Blobs[i].UptimeMillis)
	}
	late := map[*owner]bool{}
	for _, own := range o.missing(log) {
		if own.from > start+(last+1)*1e6 {
			late[own] = true
		}
	}
	return late
}

// missing returns the owners whose code is not in the log.
func (o *owners) missing(log *printassembly.Log) (missing []*owner) {
	at := map[uint64][]*printassembly.Blob{}
	for i := range log.Blobs {
		b := &log.Blobs[i]
		at[b.Lo] = append(at[b.Lo], b)
	}
	for i := range o.all {
		if !slices.ContainsFunc(at[o.all[i].lo], o.all[i].is) {
			missing = append(missing, &o.all[i])
		}
	}
	return missing
}

// probes has HotSpot's own probes in one libjvm.so, which are registered with the kernel during the test.
type probes struct {
	group   string // of the events
	tracefs string // the folder of the kernel's tracing
}

// addProbes registers the probes. It skips the test if that is not possible. The probes have unique names, so that
// they neither conflict with other probes nor cause other probes to be removed.
func addProbes(t *testing.T, lib string) *probes {
	t.Helper()
	gasmtest.NeedRoot(t)
	p := &probes{group: "gasm_" + strconv.Itoa(os.Getpid())}
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if _, err := os.Stat(filepath.Join(dir, "uprobe_events")); err == nil {
			p.tracefs = dir
		}
	}
	if p.tracefs == "" {
		t.Skip("no uprobe_events: this kernel has no probes, or tracefs is not mounted")
	}
	lib, err := filepath.EvalSymlinks(lib)
	require.NoError(t, err)
	// perf finds probes in the libraries of its cache. The test uses a cache of its own.
	cache := t.TempDir()
	if out, err := exec.Command("perf", "--buildid-dir", cache, "buildid-cache", "--add",
		lib).CombinedOutput(); err != nil {
		t.Skipf("this perf can't cache %s: %v %s", lib, err, out)
	}
	for _, event := range []string{"load", "unload"} {
		for _, args := range probeArgs(t, cache, lib, "sdt_hotspot:compiled__method__"+event) {
			// The probes pass names as pointer and length. In memory, the names have no end.
			fields :=
				fmt.Sprintf("classlen=%s:u32 methodlen=%s:u32 siglen=%s:u32 class=+0(%s):string method=+0(%s):string sig=+0(%s):string",
					args[2], args[4], args[6], args[1], args[3], args[5])
			if event == "load" {
				fields = fmt.Sprintf("addr=%s:x64 size=%s:u32 %s", args[7], args[8], fields)
			}
			// If a probe has several places, the further ones are added to the same event.
			tell(t, filepath.Join(p.tracefs, "uprobe_events"), fmt.Sprintf("p:%s/%sed %s %s", p.group, event, args[0], fields))
		}
		t.Cleanup(func() { tell(t, filepath.Join(p.tracefs, "uprobe_events"), fmt.Sprintf("-:%s/%sed", p.group, event)) })
	}
	return p
}

// probeArgs asks perf for the places of a probe in lib. For each, it returns the address, followed by the locations
// of the arguments.
//
//	p:sdt_hotspot/compiled__method__load /…/libjvm.so:0xbef604 arg1=%r12:u64 arg2=%r15:s32 …
func probeArgs(t *testing.T, cache, lib, event string) (places [][]string) {
	t.Helper()
	out, err := exec.Command("perf", "--buildid-dir", cache, "probe", "-D", event).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) < 8 || !strings.HasPrefix(words[1], lib+":") {
			continue
		}
		args := words[1:]
		for i, arg := range args[1:] {
			_, arg, _ = strings.Cut(arg, "=")
			args[i+1], _, _ = strings.Cut(arg, ":")
		}
		places = append(places, args)
	}
	if len(places) == 0 {
		t.Skipf("perf without probes, or a libjvm.so without USDT: perf probe -D %s: %v %s", event, err, out)
	}
	return places
}

// tell writes a line into one of the kernel's files.
func tell(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(line + "\n")
		f.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("probes are forbidden here: %v", err)
	}
	require.NoError(t, err, line)
}

// record begins to record the probes of all processes, into buffers of the test's own. The function stop ends that,
// and returns the kernel's text about the events.
func (p *probes) record(t *testing.T) (stop func() string) {
	t.Helper()
	dir := filepath.Join(p.tracefs, "instances", p.group)
	require.NoError(t, os.Mkdir(dir, 0o755))
	enable := filepath.Join(dir, "events", p.group, "enable")
	recording := false
	end := func() {
		if recording {
			tell(t, enable, "0")
		}
		recording = false
	}
	t.Cleanup(func() {
		end()
		require.NoError(t, syscall.Rmdir(dir)) // rmdir works for a folder in tracefs even if it has files
	})
	tell(t, filepath.Join(dir, "trace_clock"), "mono")
	tell(t, filepath.Join(dir, "buffer_size_kb"), "8192") // for each processor
	tell(t, enable, "1")
	recording = true
	return func() string {
		end()
		stats, err := filepath.Glob(filepath.Join(dir, "per_cpu", "cpu*", "stats"))
		require.NoError(t, err)
		require.NotEmpty(t, stats)
		for _, file := range stats {
			require.Contains(t, string(readFile(t, file)), "\noverrun: 0\n", "events were lost: %s", file)
		}
		return string(readFile(t, filepath.Join(dir, "trace")))
	}
}

// A codeEvent says that the code of a method was installed or removed.
type codeEvent struct {
	mono   int64
	loaded bool
	lo, hi uint64 // where it came
	method string
}

// probeLine matches a line in which the kernel prints an event:
//
//	C1 CompilerThre-8733 [001] DNZff  5041.123456: loaded: (0x7f…) addr=0x7f… size=1464 classlen=16 methodlen=8 siglen=3 class="java/lang/String…"
//
// The thread's name may contain anything.
var probeLine = regexp.MustCompile(`(?m)-\d+ +\[\d+\] \S+ +(\d+)\.(\d{6}): (un)?loaded: \(0x[0-9a-f]+\) ` +
	`(?:addr=0x([0-9a-f]+) size=(\d+) )?classlen=(\d+) methodlen=(\d+) siglen=(\d+) class="`)

// events returns the events of the JVM whose code consists of these blobs, in the order of time. Other JVMs have
// their code caches at other addresses. The event of an unloaded method has no address. It counts if a method with
// this name was loaded in this JVM.
func events(t *testing.T, trace string, blobs []printassembly.Blob) (events []codeEvent) {
	t.Helper()
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for i := range blobs {
		lo, hi = min(lo, blobs[i].Lo), max(hi, blobs[i].Hi)
	}
	text := []byte(trace)
	for _, at := range probeLine.FindAllSubmatchIndex(text, -1) {
		number := func(group, base int) uint64 {
			if at[2*group] < 0 {
				return 0
			}
			n, err := strconv.ParseUint(string(text[at[2*group]:at[2*group+1]]), base, 64)
			require.NoError(t, err)
			return n
		}
		loaded, from := at[2*3] < 0, number(4, 16)
		if loaded && (from < lo || from >= hi) {
			continue
		}
		rest := text[at[1]:]
		class, rest := cutName(rest, number(6, 10), `" method="`)
		method, rest := cutName(rest, number(7, 10), `" sig="`)
		sig, _ := cutName(rest, number(8, 10), "")
		events = append(events, codeEvent{mono: int64(number(1, 10)*1e9 + number(2, 10)*1e3), loaded: loaded,
			lo: from, hi: from + number(5, 10), method: plainName(class+"::"+method) + sig})
	}
	slices.SortStableFunc(events, func(a, b codeEvent) int { return int(a.mono - b.mono) })
	return events
}

// cutName cuts a name of known length off the text. It also cuts off what follows the name in memory, up to the
// argument next.
func cutName(text []byte, length uint64, next string) (name string, rest []byte) {
	name = string(text[:min(int(length), len(text))])
	_, rest, _ = bytes.Cut(text[len(name):], []byte(next))
	return name, rest
}
