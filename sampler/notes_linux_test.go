package sampler

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// What a perf on other machines gets from the kernel: a fake one writes the
// file's header and confirms.
func TestPerfNotes(t *testing.T) {
	// perf 6.1 with kernel.kptr_restrict=2.
	const restricted = `WARNING: Kernel address maps (/proc/{kallsyms,modules}) are restricted,
check /proc/sys/kernel/kptr_restrict and /proc/sys/kernel/perf_event_paranoid.

Samples in kernel functions may not be resolved if a suitable vmlinux
file is not found in the buildid cache or in the vmlinux path.
`
	const noCycles = "no hardware cycles counter here (virtual machine?): sampled cpu-clock instead; a virtual machine needs a virtual PMU (qemu: -cpu host,pmu=on)"
	const noKernel = "kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1"
	userOnly := func(a attr) attr { a.userOnly = true; return a }

	check := func(events, stderr string, opened []attr, wantEvent string, wantNotes ...string) {
		t.Helper()
		dir := t.TempDir()
		for name, content := range map[string]string{"header": string(perfData("", append(opened, attrDummy)...)), "stderr": stderr} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// It knows no :P, as perf before 4.6.
		fakePerf(t, `for a; do
			case $last in -o) out=$a;; esac
			case $a in *:P) printf "event syntax error: '%s'\n" "$a" >&2; exit 129;; esac
			last=$a
			done
			cat '`+dir+`/stderr' >&2
			cp '`+dir+`/header' "$out"
			read -r enable <&3 && [ "$enable" = enable ] && printf 'ack\n\0' >&4
			exec sleep 1000`)
		opts := Options{PID: os.Getpid(), Dir: dir}
		if events != "" {
			opts.Events = strings.Split(events, " ")
		}
		p := start(t, opts)
		// All of stderr has come when it has ended.
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if got := p.Notes(); p.Event() != wantEvent || !reflect.DeepEqual(got, wantNotes) {
			t.Errorf("%s: got %s with notes\n%q\nwant %s with\n%q", events, p.Event(), got, wantEvent, wantNotes)
		}
	}
	check("cycles", "", []attr{attrCycles}, "cycles")
	check("", "", []attr{attrCycles}, "cycles", "PCs may be some instructions late: sampled cycles, because there is no event cycles:P")
	check("", "", []attr{attrClock}, "cpu-clock", noCycles)
	check("cycles", "", []attr{attrClock}, "cpu-clock", noCycles)
	check("cpu-cycles:pp instructions", "", []attr{attrClock, {config: 1}}, "cpu-clock,instructions", noCycles)
	check("cycles cpu-clock", "", []attr{attrCycles, attrClock}, "cycles,cpu-clock")
	check("cycles cpu-clock", "", []attr{attrClock, attrClock}, "cpu-clock,cpu-clock", noCycles)
	// A hybrid CPU has a cycles for each kind of core.
	check("cycles", "", []attr{{kind: 0, config: 4 << 32}, {kind: 0, config: 10 << 32}}, "cycles")
	check("cycles", "", []attr{userOnly(attrCycles)}, "cycles", noKernel)
	check("cycles:u", "", []attr{userOnly(attrCycles)}, "cycles:u")
	check("cycles", restricted, []attr{attrCycles}, "cycles", "kernel functions have no names: sudo sysctl kernel.kptr_restrict=0")
	check("cycles", restricted, []attr{userOnly(attrCycles)}, "cycles", noKernel)
}
