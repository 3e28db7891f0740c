package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

func TestSIP(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		f := checkSIP(text)
		assert.Equal(t, OK, f.Status)
		assert.Contains(t, f.Text, want)
	}
	check("System Integrity Protection status: enabled.\n", "is on, which is normal")
	check("System Integrity Protection status: enabled (Custom Configuration).\n\nConfiguration:\n\tApple Internal: disabled\n\tDTrace Restrictions: disabled\n", "is on")
	check("System Integrity Protection status: disabled.\n", "is off")
	check("System Integrity Protection status: unknown (Custom Configuration).\n\nConfiguration:\n",
		"unknown (Custom Configuration)")
	check("sh: csrutil: command not found", "unknown: sh: csrutil")
}

func TestDTraceVersion(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		assert.Equal(t, want, dtraceVersion(text))
	}
	check("dtrace: D 2.0.7\n", "D 2.0.7")
	check("dtrace: Sun D 1.13.2\n", "Sun D 1.13.2")
	check("dtrace: system integrity protection is on, some features will not be available\n\ndtrace: Sun D 1.6.2\n",
		"Sun D 1.6.2")
	check("usage: dtrace [--help] [-h | -G] [-C [-I<Path>]] -s File.d [-o <File>]\n", "")
	check("/usr/bin/dtrace invalid option, -V\n", "")
}

func TestParseStatus(t *testing.T) {
	check := func(text string, capabilities uint64, seccomp int, names string) {
		t.Helper()
		k := kernel{}
		k.capabilities, k.seccomp = parseStatus(text)
		assert.Equal(t, capabilities, k.capabilities)
		assert.Equal(t, seccomp, k.seccomp)
		f := k.checkCapabilities()
		assert.Equal(t, names, f.Text)
	}
	// In this order: a desktop user, root in Docker, root in Docker with --cap-add PERFMON, and root on a machine.
	check("CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n", 0, 0,
		"none of CAP_PERFMON, CAP_SYS_ADMIN, CAP_BPF")
	check("CapEff:\t00000000a80425fb\nSeccomp:\t2\nSeccomp_filters:\t1\n", 0xa80425fb, 2,
		"none of CAP_PERFMON, CAP_SYS_ADMIN, CAP_BPF")
	check("CapEff:\t00000040a80425fb\nSeccomp:\t2\n", 0x40a80425fb, 2, "CAP_PERFMON; not CAP_SYS_ADMIN, CAP_BPF")
	check("CapEff:\t000001ffffffffff\n", 0x1ffffffffff, -1, "CAP_PERFMON, CAP_SYS_ADMIN, CAP_BPF")
}

func TestKernelSettings(t *testing.T) {
	settings := func(k kernel, perfWorks bool, notes ...fix.Note) map[string]Finding {
		byName := map[string]Finding{}
		for _, f := range checkKernelSettings(k, perfWorks, notes) {
			byName[f.Name] = f
		}
		return byName
	}
	f := settings(kernel{paranoid: "4", kptr: "2", maxRate: "250"}, false)
	assert.Equal(t, Finding{"native", "paranoid", Problem, "kernel.perf_event_paranoid is 4: users may sample nothing",
		"sudo sysctl kernel.perf_event_paranoid=1"}, f["paranoid"])
	assert.Equal(t, Finding{"native", "kernel names", Note, "kernel.kptr_restrict is 2: kernel functions have no names",
		"sudo sysctl kernel.kptr_restrict=0"}, f["kernel names"])
	assert.Equal(t, Finding{"native", "rate", Note, "the kernel allows 250 samples per second and CPU, not 1001",
		collect.RaiseLimit(1001)}, f["rate"])

	f = settings(kernel{paranoid: "1", kptr: "1", maxRate: "100000"}, true, collect.NamelessKernel)
	assert.Equal(t, OK, f["paranoid"].Status)
	assert.Equal(t, "sudo sysctl kernel.kptr_restrict=0", f["kernel names"].Fix)
	assert.NotContains(t, f, "rate")

	f = settings(kernel{paranoid: "3"}, true, collect.HiddenKernel)
	assert.Equal(t, Finding{"native", "paranoid", Note,
		"kernel.perf_event_paranoid is 3: users may sample their processes, outside of the kernel; " +
			"kernel samples are not visible", "sudo sysctl kernel.perf_event_paranoid=1"}, f["paranoid"], "a kernel that is not Debian's")

	f = settings(kernel{root: true, container: "Docker", paranoid: "2", capabilities: 0xa80425fb, seccomp: 2}, false)
	assert.Equal(t, Note, f["capabilities"].Status)
	assert.Equal(t, "none of CAP_PERFMON, CAP_SYS_ADMIN, CAP_BPF: root without the rights that sampling needs",
		f["capabilities"].Text)
	assert.Equal(t, "docker run --cap-add PERFMON ...", f["capabilities"].Fix)
	assert.Contains(t, f["seccomp"].Text, "a filter is active")

	f = settings(kernel{seccomp: -1}, false)
	assert.Equal(t, Problem, f["paranoid"].Status)
	f = settings(kernel{paranoid: "4", capabilities: 1 << capPerfmon}, true)
	assert.Equal(t, "kernel.perf_event_paranoid is 4: does not apply to you (CAP_PERFMON)", f["paranoid"].Text)
}

func TestUserNamespace(t *testing.T) {
	assert.False(t, inUserNamespace("0          0 4294967295"))
	assert.True(t, inUserNamespace("0       1000          1\n         1     100000      65536"))
	assert.False(t, inUserNamespace(""))
	k := kernel{root: true, namespaced: true, paranoid: "2", capabilities: 0x1ffffffffff}
	assert.Contains(t, k.checkParanoid(true, nil).Text, "outside of the kernel")
	assert.Contains(t, k.checkCapabilities().Text, "of a user namespace")
}

func TestContainer(t *testing.T) {
	assert.Equal(t, "Docker", containerName(true, false, "", "0::/\n"))
	assert.Equal(t, "Podman", containerName(false, true, "oci", ""))
	assert.Equal(t, "systemd-nspawn", containerName(false, false, "systemd-nspawn", ""))
	assert.Equal(t, "Kubernetes", containerName(false, false, "", "12:cpu:/kubepods/besteffort/pod7/docker-x\n"))
	assert.Equal(t, "", containerName(false, false, "", "0::/init.scope\n"))
}

func TestHypervised(t *testing.T) {
	assert.True(t, hypervised("processor\t: 0\nflags\t\t: fpu vme rdrand hypervisor\n", ""))
	assert.False(t, hypervised("processor\t: 0\nflags\t\t: fpu vme rdrand\n", "Microsoft Corporation"))
}

func TestJavaOptions(t *testing.T) {
	check := func(name, value string, status Status, text, todo string) {
		t.Helper()
		for _, variable := range jdk.OptionVariables {
			t.Setenv(variable, "")
		}
		t.Setenv(name, value)
		assert.Equal(t, Finding{"environment", "java options", status, text, todo}, checkJavaOptions())
	}
	check("JAVA_TOOL_OPTIONS", "", OK, "none in the environment", "")
	check("JAVA_TOOL_OPTIONS", "-XX:LogFile=/x", OK, "JAVA_TOOL_OPTIONS is set and does no harm", "")
	check("_JAVA_OPTIONS", "-Xmx1g", OK, "_JAVA_OPTIONS is set and does no harm", "")
	check("_JAVA_OPTIONS", "-Xmx1g -XX:LogFile=/x", Problem,
		"_JAVA_OPTIONS has -XX:LogFile=/x, which takes the JVM's log away from gasm", "unset _JAVA_OPTIONS")
	check("JDK_JAVA_OPTIONS", "-XX:-LogVMOutput", Problem,
		"JDK_JAVA_OPTIONS has -XX:-LogVMOutput, which takes the JVM's log away from gasm", "unset JDK_JAVA_OPTIONS")
}

func TestLocale(t *testing.T) {
	check := func(all, ctype, lang, text, todo string) {
		t.Helper()
		t.Setenv("LC_ALL", all)
		t.Setenv("LC_CTYPE", ctype)
		t.Setenv("LANG", lang)
		f := checkLocale()
		assert.Equal(t, text, f.Text)
		assert.Equal(t, todo, f.Fix)
	}
	check("", "", "", "none set: reports are drawn in UTF-8", "")
	check("", "", "de_DE.utf8", "LANG=de_DE.utf8", "")
	check("", "UTF-8", "C", "LC_CTYPE=UTF-8", "")
	check("C", "", "C.UTF-8", "LC_ALL=C is not UTF-8: reports are drawn in ASCII", "export LC_ALL=C.UTF-8")
}

func TestTerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	check := func(o Options, status Status, text string) {
		t.Helper()
		assert.Equal(t, Finding{"environment", "terminal", status, text, ""}, checkTerminal(o))
	}
	check(Options{}, OK, "none: reports are not cut and have no colour")
	check(Options{Terminal: true, Columns: 120, Color: true}, OK, "120 columns, colour")
	check(Options{Terminal: true, Columns: 80}, Note,
		"80 columns, no colour (NO_COLOR is set): names are shortened, and lines of code run over; reports look best in 100 columns or more")
	check(Options{Terminal: true}, OK, "of unknown width, no colour (NO_COLOR is set)")
}

// If captures can't be made in the folder that TMPDIR names, the checks use another one.
func TestTemp(t *testing.T) {
	check := func(temp, text string) {
		t.Helper()
		t.Setenv("TMPDIR", temp)
		dir, f, err := makeTemp()
		require.NoError(t, err)
		assert.NotEqual(t, temp, filepath.Dir(dir))
		assert.NoError(t, os.Remove(dir))
		assert.Equal(t, Finding{"environment", "temp folder", Problem, text, "export TMPDIR=/var/tmp"}, f)
	}
	disk := gasmtest.NeedSmallDisk(t, "1m")
	check("/nonexistent", "/nonexistent can't be written: no such file or directory")
	check(disk, disk+" can't be written: no space left on device")
	left, err := os.ReadDir(disk)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestSizeText(t *testing.T) {
	cases := map[uint64]string{251658240: "240 MiB", 84719476736: "78.9 GiB", 2555904: "2496 KiB", 0: "0 KiB"}
	require.NotEmpty(t, cases)
	for n, want := range cases {
		assert.Equal(t, want, sizeText(n))
	}
}

func TestCodeCache(t *testing.T) {
	check := func(flags string, status Status, text string) {
		t.Helper()
		f := judgeCodeCache(Finding{Status: OK}, parseFlags(flags))
		assert.Equal(t, status, f.Status)
		assert.Equal(t, text, f.Text)
	}
	check("[Global flags]\n    uintx ReservedCodeCacheSize                    = 251658240                              {pd product} {ergonomic}\n"+
		"     bool SegmentedCodeCache                       = true                                      {product} {ergonomic}\n", OK, "240 MiB, segmented")
	// JDK 8
	check("    uintx ReservedCodeCacheSize                    := 4194304                             {pd product}\n"+
		"     bool TieredCompilation                        = true                                {pd product}\n", Note,
		"4096 KiB: small; HotSpot will reuse addresses (gasm tells the methods at one address apart by time)")
	check("    uintx ReservedCodeCacheSize                    = 50331648                            {pd product}\n"+
		"     bool TieredCompilation                       := false                               {pd product}\n"+
		"     bool SegmentedCodeCache                       = false                                     {product} {default}\n", OK, "48 MiB, not segmented")
	check("", OK, "unknown")
}

func TestInstallJDK(t *testing.T) {
	assert.Equal(t, "sudo apt install default-jdk-headless",
		installJDK(parseOSRelease("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n")))
	assert.Equal(t, "sudo dnf install java-latest-openjdk-devel", installJDK(parseOSRelease("ID=fedora\n")))
	assert.Contains(t, installJDK(nil), "adoptium.net")
}

// Only remains of a DTrace process that no longer runs are reported.
func TestCheckLeft(t *testing.T) {
	lines := []string{"p:dt_11_dtrace/BEGIN /lib/libdtrace.so.2:0xded20\n",
		"p:dt_11_dtrace/END /lib/libdtrace.so.2:0xded30\n", "p:dt_12_dtrace/BEGIN /lib/libdtrace.so.2:0xded20\n",
		"p:dt_13_dtrace/BEGIN /lib/libdtrace.so.2:0xded20\n", "p:dt_x/BEGIN /lib/libdtrace.so.2:0xded20\n"}
	check := func(want string, running ...string) {
		t.Helper()
		found := checkLeft("/t/uprobe_events", lines, func(pid string) bool { return slices.Contains(running, pid) })
		text := ""
		for _, f := range found {
			text += f.Text
		}
		if text != want {
			t.Errorf("%v run: %q, want %q", running, text, want)
		}
	}
	check("", "11", "12", "13")
	check("a DTrace process that was killed has left probes in /t/uprobe_events, which cost nothing", "12", "13")
	check("2 DTrace processes that were killed have left probes in /t/uprobe_events, which cost nothing", "12")
}
