package doctor

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/sampler/collect"
)

// A kernel is what Linux says about this process and about who may sample. The settings
// are "" where they are unknown.
type kernel struct {
	root         bool
	namespaced   bool   // in a user namespace, whose capabilities do not count for perf
	paranoid     string // kernel.perf_event_paranoid
	kptr         string // kernel.kptr_restrict
	maxRate      string // kernel.perf_event_max_sample_rate
	capabilities uint64 // a bit for each, by its number
	seccomp      int    // 0 off, 1 strict, 2 filter; -1 unknown
	virtual      bool   // a virtual machine
	container    string // "Docker", "" for none
}

// thisKernel reads what the kernel says. On macOS hardly anything is known.
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
	k.container = containerName(exists("/.dockerenv"), exists("/run/.containerenv"), os.Getenv("container"), readTrimmed("/proc/1/cgroup"))
	return k
}

// readTrimmed reads a file; "" where that fails.
func readTrimmed(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// parseStatus reads CapEff and Seccomp of /proc/self/status.
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

// inUserNamespace tells by /proc/self/uid_map whether this is a user namespace, as in
// rootless containers: there root has all capabilities, but in that namespace alone.
func inUserNamespace(uidMap string) bool {
	return uidMap != "" && !slices.Equal(strings.Fields(uidMap), []string{"0", "0", "4294967295"})
}

// hypervised tells whether this is a virtual machine: on x86 by the CPU's flags, on arm64
// by the vendor of the board.
func hypervised(cpuinfo, vendor string) bool {
	for line := range strings.Lines(cpuinfo) {
		if key, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			return slices.Contains(strings.Fields(flags), "hypervisor")
		}
	}
	for _, name := range []string{"QEMU", "Amazon EC2", "Google", "Microsoft Corporation", "VMware", "Xen", "innotek", "Parallels", "Apple Inc."} {
		if strings.HasPrefix(vendor, name) {
			return runtime.GOARCH == "arm64" // x86's cpuinfo has flags, so it was seen above
		}
	}
	return false
}

// containerName says what kind of container this is; "" for none. docker and podman tell
// that there is the file that each of them makes, variable is $container, cgroup the text
// of /proc/1/cgroup.
func containerName(docker, podman bool, variable, cgroup string) string {
	switch {
	case docker:
		return "Docker"
	case podman:
		return "Podman"
	case variable != "":
		return variable
	}
	for _, c := range [][2]string{{"kubepods", "Kubernetes"}, {"docker", "Docker"}, {"libpod", "Podman"}, {"containerd", "containerd"}, {"/lxc", "LXC"}} {
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

// has tells whether this process has a capability.
func (k *kernel) has(number uint) bool { return k.capabilities>>number&1 != 0 }

// unbound tells whether kernel.perf_event_paranoid does not limit this process.
func (k *kernel) unbound() bool {
	return !k.namespaced && (k.has(capPerfmon) || k.has(capSysAdmin))
}

// checkKernelSettings judges the settings. works tells whether gasm sampled, and notes
// are what it noted about what it could not have.
func checkKernelSettings(k kernel, works bool, notes []string) []Finding {
	checks := []Finding{k.checkParanoid(works, notes), k.checkKernelNames(notes), k.checkCapabilities(), k.checkSeccomp()}
	if rate, err := strconv.Atoi(k.maxRate); err == nil && rate < collect.DefaultFrequency {
		checks = append(checks, Finding{"native", "rate", Note,
			fmt.Sprintf("the kernel allows %d samples per second and CPU, not %d", rate, collect.DefaultFrequency),
			fmt.Sprintf("sudo sysctl kernel.perf_event_max_sample_rate=%d", collect.DefaultFrequency)})
	}
	return checks
}

// noteAbout finds a sampler's note about a kernel setting. It gives what the note says, and the
// command at its end:
//
//	kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1
func noteAbout(notes []string, setting string) (text, mend string, ok bool) {
	for _, note := range notes {
		if text, value, ok := strings.Cut(note, ": sudo sysctl kernel."+setting+"="); ok {
			return text, "sudo sysctl kernel." + setting + "=" + value, true
		}
	}
	return "", "", false
}

// paranoidMeans says what each level of kernel.perf_event_paranoid allows users without
// capabilities. Levels 3 and 4 are of Debian's and Ubuntu's kernels; for others they are
// the same as 2.
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
func (k *kernel) checkParanoid(works bool, notes []string) Finding {
	c := Finding{Area: "native", Name: "paranoid", Status: OK}
	level, err := strconv.Atoi(k.paranoid)
	if err != nil {
		c.Status, c.Text = Problem, "there is no kernel.perf_event_paranoid: a kernel without perf events, or a sandbox (gVisor)"
		return c
	}
	c.Text = fmt.Sprintf("kernel.perf_event_paranoid is %d: ", level)
	switch {
	case k.unbound():
		c.Text += "does not bind " + map[bool]string{true: "root", false: "you (CAP_PERFMON)"}[k.root]
	case level <= 2:
		c.Text += paranoidMeans(level)
	case works:
		c.Text += paranoidMeans(2)
	default:
		c.Status, c.Mend = Problem, "sudo sysctl kernel.perf_event_paranoid=1"
		c.Text += paranoidMeans(level)
	}
	if text, mend, ok := noteAbout(notes, "perf_event_paranoid"); ok {
		c.Status, c.Text, c.Mend = Note, c.Text+"; "+text, mend
	}
	return c
}

// checkKernelNames tells whether kernel.kptr_restrict hides the names of the kernel's
// functions.
func (k *kernel) checkKernelNames(notes []string) Finding {
	c := Finding{"native", "kernel names", OK, "kernel.kptr_restrict is " + k.kptr, ""}
	switch k.kptr {
	case "":
		c.Text = "kernel.kptr_restrict is unknown"
	case "2":
		c.Status, c.Mend = Note, "sudo sysctl kernel.kptr_restrict=0"
		c.Text += ": kernel functions have no names"
	default:
		if text, mend, ok := noteAbout(notes, "kptr_restrict"); ok {
			c.Status, c.Text, c.Mend = Note, c.Text+": "+text, mend
		}
	}
	return c
}

// checkCapabilities tells which of the capabilities that samplers need this process has.
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
		c.Status, c.Text = Note, c.Text+": of a user namespace, where they do not count for perf"
	case k.root && !k.unbound():
		c.Status, c.Text = Note, c.Text+": root without the rights that sampling needs"
		if k.container != "" {
			c.Mend = "docker run --cap-add PERFMON ..."
		}
	}
	return c
}

// checkSeccomp tells whether system calls are filtered.
func (k *kernel) checkSeccomp() Finding {
	c := Finding{Area: "native", Name: "seccomp", Status: OK}
	switch k.seccomp {
	case 0:
		c.Text = "no filter"
	case -1:
		c.Text = "unknown"
	default:
		c.Text = "a filter is at work; whether it lets sampling through is seen above"
	}
	return c
}
