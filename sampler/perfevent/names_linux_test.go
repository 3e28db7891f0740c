package perfevent

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// The parts of an event as sampler.ParseEvent returns them.
type parts struct{ pmu, name, modifiers string }

func (p parts) spec() string {
	switch {
	case p.pmu != "":
		return p.pmu + "/" + p.name + "/" + p.modifiers
	case p.modifiers != "":
		return p.name + ":" + p.modifiers
	}
	return p.name
}

// TestEventsAreLikePerfs checks that gasm requests every event from the kernel in the same way as perf. perf prints
// its request even if the kernel refuses the event.
func TestEventsAreLikePerfs(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedPerf(t)
	var cases []parts
	for _, names := range []map[string]uint64{hardwareEvents, softwareEvents} {
		for name := range names {
			if name != "cgroup-switches" { // perf 6.1 prints no attributes for it
				cases = append(cases, parts{name: name})
			}
		}
	}
	for _, name := range []string{"L1-dcache-load-misses", "L1-dcache-loads", "L1-dcache-stores", "L1-dcache-store-misses",
		"L1-dcache-prefetch-misses", "L1-icache-load-misses", "LLC-loads", "LLC-load-misses", "LLC-prefetches",
		"dTLB-loads", "dTLB-store-misses", "iTLB-load-misses", "branch-loads", "branch-load-misses", "node-loads",
		"node-store-misses",
		"r1a", "r01c4"} {
		cases = append(cases, parts{name: name})
	}
	for _, modifiers := range []string{"u", "k", "h", "uk", "kh", "H", "G", "p", "pp", "ppp", "P", "Pu", "pk", "D", "I",
		"uI", "uH", "pG"} {
		cases = append(cases, parts{"", "cycles", modifiers})
	}
	cases = append(cases, parts{"", "cpu-clock", "u"}, parts{"", "LLC-loads", "k"}, parts{"", "r1a", "pu"})
	for _, c := range cases {
		t.Run(c.spec(), func(t *testing.T) {
			t.Parallel()
			likePerf(t, theKernel, c, "perf")
		})
	}
}

// likePerf compares gasm's request for an event with perf's. command runs perf; likePerf appends perf's arguments to
// it.
func likePerf(t *testing.T, k kernel, c parts, command ...string) {
	t.Helper()
	spec := c.spec()
	e, err := k.lookup(spec, c.pmu, c.name, c.modifiers)
	if !assert.NoError(t, err, spec) {
		return
	}
	assert.Equal(t, spec, e.Name)
	o := opening{Event: e, attr: attributes(&e, 999, 0)}
	o.setPrecise(e.Precise)
	assert.Equal(t, perfsAttributes(t, spec, command), printed(&o.attr), spec)
}

// printed returns the fields that say which event an attribute is for, as perf -vv prints them.
func printed(attr *unix.PerfEventAttr) map[string]uint64 {
	fields := map[string]uint64{"type": uint64(attr.Type), "config": attr.Config,
		"{ bp_addr, config1 }": attr.Ext1, "{ bp_len, config2 }": attr.Ext2,
		"precise_ip": attr.Bits / unix.PerfBitPreciseIPBit1 & 3}
	for name, bit := range map[string]uint64{"exclude_user": unix.PerfBitExcludeUser,
		"exclude_kernel": unix.PerfBitExcludeKernel,
		"exclude_hv":     unix.PerfBitExcludeHv, "exclude_idle": unix.PerfBitExcludeIdle,
		"exclude_host":  unix.PerfBitExcludeHost,
		"exclude_guest": unix.PerfBitExcludeGuest, "pinned": unix.PerfBitPinned, "exclusive": unix.PerfBitExclusive} {
		if attr.Bits&bit != 0 {
			fields[name] = 1
		}
	}
	for name, value := range fields {
		if value == 0 {
			delete(fields, name)
		}
	}
	return fields
}

// attributeLine matches a line in which perf -vv prints an attribute's name and value. perf 6.12 adds a name for some
// values:
//
//	type                             3
//	type                             3 (PERF_TYPE_HW_CACHE)
//	{ bp_addr, config1 }             0x1
var attributeLine = regexp.MustCompile(`^ *(\{ .* \}|\S+) +(\S+)`)

// perfsAttributes runs perf record -vv, and returns the first attributes that it prints.
func perfsAttributes(t *testing.T, spec string, command []string) map[string]uint64 {
	t.Helper()
	args := append(command[1:], "record", "-vv", "-F", "999", "-e", spec, "-o", "/dev/null", "true")
	out, _ := exec.Command(command[0], args...).CombinedOutput() // there is an error if the event is refused
	_, text, ok := strings.Cut(string(out), "perf_event_attr:\n")
	require.True(t, ok, "%s: %s", spec, out)
	fields := map[string]uint64{}
	known := printed(&unix.PerfEventAttr{Type: 1, Config: 1, Ext1: 1, Ext2: 1, Bits: ^uint64(0)})
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "---") {
			break
		}
		m := attributeLine.FindStringSubmatch(line)
		if m == nil || known[m[1]] == 0 {
			continue // how it is sampled
		}
		name := m[1]
		value, err := strconv.ParseUint(m[2], 0, 64)
		require.NoError(t, err, line)
		if value != 0 {
			fields[name] = value
		}
	}
	return fields
}

// TestPMUsAreLikePerfs looks up a PMU's events in a folder that looks like the kernel's. perf sees it in place of the
// kernel's folder.
func TestPMUsAreLikePerfs(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedPerf(t)
	gasmtest.NeedRoot(t)
	dir, err := filepath.Abs(filepath.Join("testdata", "plain"))
	require.NoError(t, err)
	seeing := []string{"unshare", "-m", "sh", "-c", `mount --bind "$0" /sys/bus/event_source/devices && exec perf "$@"`,
		dir}
	if out, err := exec.Command("unshare", "-m", "sh", "-c",
		"mount --bind "+dir+" /sys/bus/event_source/devices").CombinedOutput(); err != nil {
		t.Skipf("a folder can't be mounted: %v: %s", err, out)
	}
	for _, c := range []parts{
		{"cpu", "mem-loads", ""}, {"cpu", "mem-stores", "u"}, {"cpu", "topdown-slots", "k"}, {"cpu", "cpu-cycles", "pp"},
		{"cpu", "event=0x3c,umask=0x1", ""}, {"cpu", "event=0x3c,umask=0x1,edge,cmask=0x3", "u"},
		{"cpu", "event=60,inv=1", ""},
		{"cpu", "event=0xb7,umask=0x1,offcore_rsp=0x3f80400004", ""},
		{"cpu", "config=0x1ff,config1=7", ""}, {"cpu", "config=0x1ff,config2=0x8000000000000000", ""},
		{"cpu", "need-value,umask=0x7", ""},
		{"split", "ls_dispatch", ""}, {"split", "event=0xf12,core=0x5", "k"},
		{"", "mem-stores", ""}, {"", "mem-loads", "P"},
	} {
		likePerf(t, kernel{devices: dir}, c, seeing...)
	}
}

// TestNames looks up names of events that do not exist. It also checks mem-loads, which has the term ldlat=3, with a
// user's ldlat=30. perf 6.1 combines these to 31 (the bits of both), but gasm uses the user's value.
func TestNames(t *testing.T) {
	plain := kernel{devices: filepath.Join("testdata", "plain"), tracing: []string{filepath.Join("testdata", "tracing")}}
	bad := func(want string, p parts) {
		t.Helper()
		_, err := plain.lookup(p.spec(), p.pmu, p.name, p.modifiers)
		var failure *NameError
		assert.ErrorAs(t, err, &failure, p.spec())
		assert.EqualError(t, err, "there is no event "+want)
	}
	bad("nosuch", parts{name: "nosuch"})
	bad("L1-dcache-", parts{name: "L1-dcache-"})
	bad("L1-dcache-load-nosuch", parts{name: "L1-dcache-load-nosuch"})
	bad("rx", parts{name: "rx"})
	bad("r", parts{name: "r"})
	bad("r11111111111111111", parts{name: "r11111111111111111"})
	bad("../cpu", parts{name: "../cpu"})
	bad("*", parts{name: "*"})
	bad("sched:nosuch", parts{name: "sched:nosuch"})
	bad("../x:y", parts{name: "../x:y"})
	bad("cycles:S: its modifier S is known to perf alone", parts{"", "cycles", "S"})
	bad("gpu/busy/: the kernel has no PMU gpu", parts{"gpu", "busy", ""})
	bad("cpu/nosuch/: PMU cpu has no nosuch", parts{"cpu", "nosuch", ""})
	bad("cpu/nosuch=1/: PMU cpu has no nosuch", parts{"cpu", "nosuch=1", ""})
	bad("cpu/event=0x3c,/: an empty term", parts{"cpu", "event=0x3c,", ""})
	bad("cpu/event=zzz/: \"zzz\" is no number", parts{"cpu", "event=zzz", ""})
	bad("cpu/event=0x100/: the value of event is too large", parts{"cpu", "event=0x100", ""})
	bad("cpu/need-value/: it needs a value for umask", parts{"cpu", "need-value", ""})
	bad("uncore_imc_0/clockticks/: it is of the whole machine, not of a process", parts{"uncore_imc_0", "clockticks", ""})

	e, err := plain.lookup("x", "cpu", "mem-loads,ldlat=30", "")
	require.NoError(t, err)
	assert.Equal(t, [3]uint64{0x1cd, 30}, e.Config)
	e, err = plain.lookup("x", "", "sched:sched_switch", "")
	require.NoError(t, err)
	assert.Equal(t, Event{Name: "x", Type: unix.PERF_TYPE_TRACEPOINT, Config: [3]uint64{372},
		Flags: unix.PerfBitExcludeGuest}, e)
}

// TestHybrid checks a processor with two kinds of cores: each CPU is asked for the event of its own
// PMU.
func TestHybrid(t *testing.T) {
	k := kernel{devices: filepath.Join("testdata", "hybrid")}
	cores := k.corePMUs()
	assert.Equal(t, []corePMU{{4, []int{0}}, {8, []int{1}}}, cores)
	check := func(p parts, want ...string) {
		t.Helper()
		e, err := k.lookup(p.spec(), p.pmu, p.name, p.modifiers)
		require.NoError(t, err)
		var got []string
		for cpu := range 3 {
			if on := e.on(cpu, cores); e.CPUs == nil || slices.Contains(e.CPUs, cpu) {
				got = append(got, fmt.Sprintf("%d:%d/%#x", cpu, on.Type, on.Config[0]))
			}
		}
		assert.Equal(t, want, got, p.spec())
	}
	check(parts{name: "cycles"}, "0:0/0x400000000", "1:0/0x800000000", "2:0/0x0")
	check(parts{name: "LLC-loads"}, "0:3/0x400000002", "1:3/0x800000002", "2:3/0x2")
	check(parts{name: "r1a"}, "0:4/0x1a", "1:8/0x1a", "2:4/0x1a")
	check(parts{name: "cpu-clock"}, "0:1/0x0", "1:1/0x0", "2:1/0x0")
	check(parts{"cpu_atom", "cpu-cycles", ""}, "1:8/0x3c")
	check(parts{"cpu_core", "event=0x3c", ""}, "0:4/0x3c")
}

func TestParseCPUs(t *testing.T) {
	check := func(list string, want []int, bad bool) {
		t.Helper()
		got, err := parseCPUs(list)
		assert.Equal(t, bad, err != nil, "%q: %v", list, err)
		assert.Equal(t, want, got, list)
	}
	check("0", []int{0}, false)
	check("0-3,8", []int{0, 1, 2, 3, 8}, false)
	check("", nil, true)
	check("3-1", nil, true)
	check("0-99999999", nil, true)
	check("a", nil, true)
}
