package doctor

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// A kernel holds what Linux says about this process, and about who may sample. A setting is "" if it is unknown.
type kernel struct {
	root         bool
	namespaced   bool   // in a user namespace, whose capabilities perf events ignore
	paranoid     string // kernel.perf_event_paranoid
	kptr         string // kernel.kptr_restrict
	maxRate      string // kernel.perf_event_max_sample_rate
	capabilities uint64 // bit n is set for the capability with number n
	seccomp      int    // 0 off, 1 strict, 2 filter; -1 unknown
	virtual      bool   // a virtual machine
	container    string // "Docker"; "" for none
}

// thisKernel reads what the kernel says. On macOS almost everything stays unknown.
func thisKernel() kernel {
	k := kernel{
		root:       os.Geteuid() == 0,
		namespaced: inUserNamespace(readTrimmed("/proc/self/uid_map")),
		paranoid:   readTrimmed("/proc/sys/kernel/perf_event_paranoid"),
		kptr:       readTrimmed("/proc/sys/kernel/kptr_restrict"),
		maxRate:    readTrimmed("/proc/sys/kernel/perf_event_max_sample_rate"),
		virtual:    hypervised(readTrimmed("/proc/cpuinfo"), readTrimmed("/sys/class/dmi/id/sys_vendor")),
	}
	k.capabilities, k.seccomp = parseStatus(readTrimmed("/proc/self/status"))
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	k.container = containerName(exists("/.dockerenv"), exists("/run/.containerenv"), os.Getenv("container"),
		readTrimmed("/proc/1/cgroup"))
	return k
}

// readTrimmed returns the text of a file without surrounding blanks, or "" if the file can't be read.
func readTrimmed(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// parseStatus returns CapEff and Seccomp of /proc/self/status. seccomp is -1 if the text has no Seccomp line.
func parseStatus(text string) (capabilities uint64, seccomp int) {
	seccomp = -1
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "CapEff":
			capabilities, _ = strconv.ParseUint(value, 16, 64)
		case "Seccomp":
			if n, err := strconv.Atoi(value); err == nil {
				seccomp = n
			}
		}
	}
	return capabilities, seccomp
}

// inUserNamespace reports whether this process is in a user namespace, for example in a rootless container. uidMap is
// the text of /proc/self/uid_map. In such a namespace, root has all capabilities, but they have no effect outside of
// it.
func inUserNamespace(uidMap string) bool {
	return uidMap != "" && !slices.Equal(strings.Fields(uidMap), []string{"0", "0", "4294967295"})
}

// hypervised reports whether this is a virtual machine. On x86 it looks at the CPU's flags, and on arm64 at the vendor
// of the board.
func hypervised(cpuinfo, vendor string) bool {
	for line := range strings.Lines(cpuinfo) {
		if key, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			return slices.Contains(strings.Fields(flags), "hypervisor")
		}
	}
	for _, name := range []string{"QEMU", "Amazon EC2", "Google", "Microsoft Corporation", "VMware", "Xen", "innotek",
		"Parallels", "Apple Inc."} {
		if strings.HasPrefix(vendor, name) {
			return runtime.GOARCH == "arm64" // on x86, cpuinfo has flags, and the loop above has returned
		}
	}
	return false
}

// containerName returns the kind of container that this process is in, or "" for none. docker is
// true if there is a /.dockerenv, and podman if there is a /run/.containerenv. variable is
// $container, and cgroup is the text of /proc/1/cgroup.
func containerName(docker, podman bool, variable, cgroup string) string {
	switch {
	case docker:
		return "Docker"
	case podman:
		return "Podman"
	case variable != "":
		return variable
	}
	for _, c := range [][2]string{{"kubepods", "Kubernetes"}, {"docker", "Docker"}, {"libpod", "Podman"},
		{"containerd", "containerd"}, {"/lxc", "LXC"}} {
		if strings.Contains(cgroup, c[0]) {
			return c[1]
		}
	}
	return ""
}

// Numbers of capabilities, from capability.h.
const (
	capSysAdmin = 21
	capPerfmon  = 38
	capBPF      = 39
)

// samplerCapabilities are the capabilities that samplers need.
var samplerCapabilities = []struct {
	number uint
	name   string
}{{capPerfmon, "CAP_PERFMON"}, {capSysAdmin, "CAP_SYS_ADMIN"}, {capBPF, "CAP_BPF"}}

// has reports whether this process has the capability with this number.
func (k *kernel) has(number uint) bool { return k.capabilities>>number&1 != 0 }

// unbound reports whether kernel.perf_event_paranoid does not apply to this process.
func (k *kernel) unbound() bool {
	return !k.namespaced && (k.has(capPerfmon) || k.has(capSysAdmin))
}

// checkKernelSettings judges the kernel's settings. The parameter works is true if gasm's own sampler works. notes are
// the sampler's notes about what it could not sample.
func checkKernelSettings(k kernel, works bool, notes []fix.Note) []Finding {
	checks := []Finding{k.checkParanoid(works, notes), k.checkKernelNames(notes), k.checkCapabilities(), k.checkSeccomp()}
	if rate, err := strconv.Atoi(k.maxRate); err == nil && rate < collect.DefaultFrequency {
		checks = append(checks, Finding{"native", "rate", Note,
			fmt.Sprintf("the kernel allows %d samples per second and CPU, not %d", rate, collect.DefaultFrequency),
			collect.RaiseLimit(collect.DefaultFrequency)})
	}
	return checks
}

// paranoidMeans returns a text that says what a level of kernel.perf_event_paranoid allows to users without
// capabilities. Only the kernels of Debian and Ubuntu have the levels 3 and 4. Other kernels treat these as 2.
func paranoidMeans(level int) string {
	switch {
	case level < 0:
		return "everything is open to all users"
	case level == 0:
		return "users may sample all but raw tracepoints"
	case level == 1:
		return "users may sample their processes, in the kernel too"
	case level == 2:
		return "users may sample their processes, outside of the kernel"
	}
	return "users may sample nothing"
}

// checkParanoid judges kernel.perf_event_paranoid.
func (k *kernel) checkParanoid(works bool, notes []fix.Note) Finding {
	c := Finding{Area: "native", Name: "paranoid", Status: OK}
	level, err := strconv.Atoi(k.paranoid)
	if err != nil {
		c.Status, c.Text =
			Problem, "there is no kernel.perf_event_paranoid: a kernel without perf events, or a sandbox (gVisor)"
		return c
	}
	var means string
	switch {
	case k.unbound() && k.root:
		means = "does not apply to root"
	case k.unbound():
		means = "does not apply to you (CAP_PERFMON)"
	case level > 2 && works: // this kernel treats the levels 3 and 4 as 2
		means = paranoidMeans(2)
	case level > 2:
		means = paranoidMeans(level)
		c.Status, c.Fix = Problem, collect.HiddenKernel.Fix
	default:
		means = paranoidMeans(level)
	}
	c.Text = fmt.Sprintf("kernel.perf_event_paranoid is %d: %s", level, means)
	if hidden := collect.HiddenKernel; slices.Contains(notes, hidden) {
		c.Status, c.Text, c.Fix = Note, c.Text+"; "+hidden.Text, hidden.Fix
	}
	return c
}

// checkKernelNames finds out whether kernel.kptr_restrict hides the names of the kernel's
// functions.
func (k *kernel) checkKernelNames(notes []fix.Note) Finding {
	c := Finding{"native", "kernel names", OK, "kernel.kptr_restrict is " + k.kptr, ""}
	nameless := collect.NamelessKernel
	switch {
	case k.kptr == "":
		c.Text = "kernel.kptr_restrict is unknown"
	case k.kptr == "2", slices.Contains(notes, nameless):
		c.Status, c.Text, c.Fix = Note, c.Text+": "+nameless.Text, nameless.Fix
	}
	return c
}

// checkCapabilities lists the capabilities that samplers need, and says which of these the process has.
func (k *kernel) checkCapabilities() Finding {
	var has, lacks []string
	for _, c := range samplerCapabilities {
		if k.has(c.number) {
			has = append(has, c.name)
		} else {
			lacks = append(lacks, c.name)
		}
	}
	c := Finding{"native", "capabilities", OK, strings.Join(has, ", "), ""}
	switch {
	case len(has) == 0:
		c.Text = "none of " + strings.Join(lacks, ", ")
	case len(lacks) > 0:
		c.Text += "; not " + strings.Join(lacks, ", ")
	}
	switch {
	case k.namespaced && len(has) > 0:
		c.Status, c.Text = Note, c.Text+": of a user namespace, where perf events ignore them"
	case k.root && !k.unbound():
		c.Status, c.Text = Note, c.Text+": root without the rights that sampling needs"
		if k.container != "" {
			c.Fix = "docker run --cap-add PERFMON ..."
		}
	}
	return c
}

// checkSeccomp finds out whether a seccomp filter applies to this process's system calls.
func (k *kernel) checkSeccomp() Finding {
	c := Finding{Area: "native", Name: "seccomp", Status: OK}
	switch k.seccomp {
	case 0:
		c.Text = "no filter"
	case -1:
		c.Text = "unknown"
	default:
		c.Text = "a filter is active; the findings above show whether it allows sampling"
	}
	return c
}
