package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/sampler"
)

// In a code cache that is much too small HotSpot puts many methods at one
// address, one after the other. Its own probes in libjvm.so tell when which
// method was where; a sample must go to the one that was there.
func TestReusedAddresses(t *testing.T) {
	needPerf(t)
	classes := javaPrograms(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			probes := addProbes(t, filepath.Join(filepath.Dir(java), "..", "lib", "server", "libjvm.so"))
			// Now and then perf gets none of the probes' events; that says
			// nothing about gasm.
			c, log, truth := churn(t, java, classes, probes)
			for try := 1; len(truth.all) == 0 && try < 3; try++ {
				c, log, truth = churn(t, java, classes, probes)
			}
			require.NotEmpty(t, truth.all, "perf recorded no event")
			t.Logf("%d methods were loaded, %d of them never printed", len(truth.all), truth.missing(log))

			byTime, lastBlob := attribute(t, filepath.Join(filepath.Dir(log.Name()), jvm.SamplesFile), log, c.JVMs[0].StartMonoNanos, truth)
			t.Logf("by time:       %v", byTime)
			t.Logf("the last blob: %v", lastBlob)
			assert.Greater(t, byTime.reused, 200, "samples on reused addresses: the run shows too little")
			assert.GreaterOrEqual(t, byTime.share(byTime.right), 0.95, "samples that went to the method that was there")
			assert.Less(t, lastBlob.right, byTime.right, "the times make no difference: the run shows nothing")
		})
	}
}

// churn profiles Churn with a small code cache, and beside it records when its
// methods were loaded and unloaded.
func churn(t *testing.T, java, classes string, probes *probes) (*jvm.Capture, *printassembly.Log, *owners) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	r := runGasm(t, []string{"profile", "-o", dir, "--frequency", "5000", "--report", os.DevNull, "--",
		java, "-XX:ReservedCodeCacheSize=4m", "-cp", classes, "Churn"}, probes.record)
	require.Equal(t, 0, r.code, r.stderr)
	c, err := jvm.ReadCapture(dir)
	require.NoError(t, err)
	require.Len(t, c.JVMs, 1)
	log, err := printassembly.Open(filepath.Join(dir, c.JVMs[0].Log))
	require.NoError(t, err)
	t.Cleanup(func() { log.Close() })
	return c, log, newOwners(probes.events(t, log.PID))
}

// attribute compares for each sample in compiled code what the code map says
// with the truth: at the sample's time, and at the end of all times.
func attribute(t *testing.T, path string, log *printassembly.Log, start int64, truth *owners) (byTime, lastBlob *figures) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	code := profile.NewCodeMap(log.Blobs)
	find := func(pc uint64, uptimeMillis int64) *printassembly.Blob {
		if i, ok := code.Find(pc, uptimeMillis); ok {
			return &log.Blobs[i]
		}
		return nil
	}
	byTime, lastBlob = new(figures), new(figures)
	samples := sampler.NewPerfReader(file, path)
	for samples.Scan() {
		s, ok := samples.Record().(*sampler.Sample)
		if !ok || s.PID != log.PID || s.Kernel() {
			continue
		}
		was, reused := truth.at(s.PC, s.MonoNanos)
		byTime.add(was, reused, find(s.PC, (s.MonoNanos-start)/1e6))
		lastBlob.add(was, reused, find(s.PC, math.MaxInt64-1))
	}
	require.NoError(t, samples.Err())
	return byTime, lastBlob
}

// figures count the samples in the code of some method, by where they went.
type figures struct {
	right, wrong, unresolved int
	reused, reusedRight      int // of them those at addresses that had several methods
	noOwner                  int // went to a method where none was, and count for nothing else
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
	if reused {
		f.reused++
	}
	if reused && right {
		f.reusedRight++
	}
}

func (f *figures) samples() int { return f.right + f.wrong + f.unresolved }

func (f *figures) share(n int) float64 { return float64(n) / float64(max(1, f.samples())) }

func (f *figures) String() string {
	return fmt.Sprintf("%d samples in methods: %.2f %% right, %.2f %% wrong, %.2f %% unresolved; %d on reused addresses: %.2f %% right; "+
		"beside them %d given to a method where none was", f.samples(), 100*f.share(f.right), 100*f.share(f.wrong), 100*f.share(f.unresolved),
		f.reused, 100*float64(f.reusedRight)/float64(max(1, f.reused)), f.noOwner)
}

// An owner is a method that had some addresses for some time.
type owner struct {
	method   string // with its signature
	from, to int64  // monotonic, ns: [from, to)
	lo, hi   uint64 // its main code, as the log has it too
}

// is tells whether the blob is the owner's code.
func (o *owner) is(b *printassembly.Blob) bool {
	name, _, _ := strings.Cut(o.method, "(")
	logged, _, _ := strings.Cut(b.Name, "(") // MethodHandle's intrinsics have a signature there
	return b.Kind.Java() && b.Lo == o.lo && b.Hi >= o.hi && plainName(logged) == name
}

// plainName makes one name of pkg.Class and pkg/Class, and of the / and the +
// that hidden classes have in front of their number.
func plainName(name string) string { return strings.NewReplacer("/", ".", "+", ".").Replace(name) }

// owners say which method had an address at a time.
type owners struct {
	all   []owner
	pages map[uint64][]int // indices by address >> 7, in the order of time
}

// newOwners takes the events in the order of time. A method goes when it is
// unloaded, at the latest when another one takes any of its bytes. The unload
// event has no address: of several compilations of one method the oldest goes.
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

// at gives the owner of an address at a time, nil without one, and whether the
// address had others.
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

// missing counts the owners whose code is not in the log.
func (o *owners) missing(log *printassembly.Log) (n int) {
	at := map[uint64][]*printassembly.Blob{}
	for i := range log.Blobs {
		b := &log.Blobs[i]
		at[b.Lo] = append(at[b.Lo], b)
	}
	for i := range o.all {
		if !slices.ContainsFunc(at[o.all[i].lo], o.all[i].is) {
			n++
		}
	}
	return n
}

// probes are HotSpot's own events in one libjvm.so, made known to the kernel
// for the time of a test.
type probes struct {
	group string // of the events
	data  string // perf's recording of them
}

// tracefs is where the kernel takes probes.
var tracefs = []string{"/sys/kernel/tracing/uprobe_events", "/sys/kernel/debug/tracing/uprobe_events"}

// addProbes skips the test where probes can't be had. They have names of their
// own, so that nobody else's are in the way, or removed.
func addProbes(t *testing.T, lib string) *probes {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: only root may probe libjvm.so")
	}
	i := slices.IndexFunc(tracefs, func(path string) bool { _, err := os.Stat(path); return err == nil })
	if i < 0 {
		t.Skip("no uprobe_events: this kernel has no probes, or tracefs is not mounted")
	}
	lib, err := filepath.EvalSymlinks(lib)
	require.NoError(t, err)
	// perf looks for probes in the libraries of a cache: here one of the test's own.
	cache := t.TempDir()
	if out, err := exec.Command("perf", "--buildid-dir", cache, "buildid-cache", "--add", lib).CombinedOutput(); err != nil {
		t.Skipf("this perf can't cache %s: %v %s", lib, err, out)
	}
	p := &probes{group: "gasm_" + strconv.Itoa(os.Getpid()), data: filepath.Join(t.TempDir(), "events.data")}
	for _, event := range []string{"load", "unload"} {
		for _, args := range probeArgs(t, cache, lib, "sdt_hotspot:compiled__method__"+event) {
			// The names are pointer and length, without an end in memory.
			fields := fmt.Sprintf("classlen=%s:u32 methodlen=%s:u32 siglen=%s:u32 class=+0(%s):string method=+0(%s):string sig=+0(%s):string",
				args[2], args[4], args[6], args[1], args[3], args[5])
			if event == "load" {
				fields = fmt.Sprintf("addr=%s:x64 size=%s:u32 %s", args[7], args[8], fields)
			}
			// A second place of one event becomes a second part of it.
			tell(t, tracefs[i], fmt.Sprintf("p:%s/%sed %s %s", p.group, event, args[0], fields))
		}
		t.Cleanup(func() { tell(t, tracefs[i], fmt.Sprintf("-:%s/%sed", p.group, event)) })
	}
	return p
}

// probeArgs asks perf for an event's places in lib: for each its address, and
// behind it where its arguments are.
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

// tell writes a line into a file of the kernel's.
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

// record lets the command run under a perf of its own, which records the probes
// of all processes (-a): those of its own children alone are not always seen.
func (p *probes) record(c *exec.Cmd) {
	under := exec.Command("perf", "record", "--quiet", "-a", "-B", "-N", "-k", "mono",
		"-e", p.group+":loaded", "-e", p.group+":unloaded", "-o", p.data, "--")
	c.Path, c.Args = under.Path, append(under.Args, c.Args...)
}

// A codeEvent tells that a method's code came or went.
type codeEvent struct {
	mono   int64
	loaded bool
	lo, hi uint64 // where it came
	method string
}

var probeLine = regexp.MustCompile(`(?m)^ *(\d+) +(\d+)\.(\d{9}): +\w+:(un)?loaded: \([0-9a-f]+\) ` +
	`(?:addr=0x([0-9a-f]+) size=(\d+) )?classlen=(\d+) methodlen=(\d+) siglen=(\d+) class="`)

// events gives the recorded events of one process in the order of time.
func (p *probes) events(t *testing.T, pid int) (events []codeEvent) {
	t.Helper()
	script := exec.Command("perf", "script", "--ns", "-F", "pid,time,event,trace", "-i", p.data)
	var stderr bytes.Buffer
	script.Stderr = &stderr
	text, err := script.Output()
	require.NoError(t, err, stderr.String())
	for _, at := range probeLine.FindAllSubmatchIndex(text, -1) {
		number := func(group, base int) uint64 {
			if at[2*group] < 0 {
				return 0
			}
			n, err := strconv.ParseUint(string(text[at[2*group]:at[2*group+1]]), base, 64)
			require.NoError(t, err)
			return n
		}
		if int(number(1, 10)) != pid {
			continue
		}
		rest := text[at[1]:]
		class, rest := cutName(rest, number(7, 10), `" method="`)
		method, rest := cutName(rest, number(8, 10), `" sig="`)
		sig, _ := cutName(rest, number(9, 10), "")
		lo := number(5, 16)
		events = append(events, codeEvent{mono: int64(number(2, 10)*1e9 + number(3, 10)), loaded: at[2*4] < 0,
			lo: lo, hi: lo + number(6, 10), method: plainName(class+"::"+method) + sig})
	}
	slices.SortStableFunc(events, func(a, b codeEvent) int { return int(a.mono - b.mono) })
	return events
}

// cutName takes a name of known length off the text, and what memory held
// behind it up to the next one.
func cutName(text []byte, length uint64, next string) (name string, rest []byte) {
	name = string(text[:min(int(length), len(text))])
	_, rest, _ = bytes.Cut(text[len(name):], []byte(next))
	return name, rest
}
