package hostile

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
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

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	momentsFlag = flag.Int("moments", 14,
		"how many combinations of a moment and a fault TestMoments tries; -long tries all")
	seedFlag = flag.Uint64("seed", 0, "the `seed` of what is done at random; 0 for a new one")
)

// newRandom returns a random number generator, and logs how the same sequence can be generated again.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	t.Logf("-seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A moment is a step of attaching or detaching that can be seen from outside of gasm.
type moment struct {
	name   string
	flags  []string
	leaves bool // it is a step of detaching: gasm was asked to end
	come   func(v *jvm, s *started) bool
}

func isThere(pattern string) bool {
	found, _ := filepath.Glob(pattern)
	return len(found) > 0
}

// hasEvents reports whether a folder for the JVM's events contains a file with the given name.
func (v *jvm) hasEvents(file string) bool {
	return slices.ContainsFunc(v.eventFolders(), func(f string) bool { return isThere(filepath.Join(f, file)) })
}

// inReport reports whether the agent's report contains a word.
func (v *jvm) inReport(word string) bool {
	found, _ := filepath.Glob(fmt.Sprintf("/tmp/gasm-probes-%s/*/probes-%s.txt", v.pid(), v.pid()))
	return slices.ContainsFunc(found, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), word)
	})
}

var (
	withProbes = []string{"--probe", "Spin::spin", "--probe-sdt", "Spin::spinUntil"}
	withEvents = []string{"--events", "default,alloc"}
)

// moments are the moments that are tried, in the order in which they occur.
var moments = []moment{
	{"the folder for probes is made", withProbes, false, func(v *jvm,
		_ *started) bool {
		return isThere("/tmp/gasm-probes-" + v.pid())
	}},
	{"the agent is written", withProbes, false, func(v *jvm,
		_ *started) bool {
		return isThere("/tmp/gasm-probes-" + v.pid() + "/agent.jar")
	}},
	{"the JVM is asked to listen", withProbes, false, func(v *jvm,
		_ *started) bool {
		return isThere("/tmp/.attach_pid" + v.pid())
	}},
	{"the JVM listens", withProbes, false, func(v *jvm, _ *started) bool { return isThere("/tmp/.java_pid" + v.pid()) }},
	{"the agent reports", withProbes, false, func(v *jvm, _ *started) bool { return v.inReport("") }},
	{"the agent has begun", withProbes, false, func(v *jvm, _ *started) bool { return v.inReport("started") }},
	{"gasm samples with probes", withProbes, false, func(_ *jvm,
		s *started) bool {
		return strings.Contains(s.stderr.String(), "sampling pid")
	}},
	{"gasm is to take the probes out", withProbes, true, func(*jvm, *started) bool { return true }},
	{"the agent has stopped", withProbes, true, func(v *jvm, _ *started) bool { return v.inReport("stopped") }},
	{"the folder for events is made", withEvents, false, func(v *jvm, _ *started) bool { return v.hasEvents("") }},
	{"the JVM logs", withEvents, false, func(v *jvm, _ *started) bool { return v.hasEvents("*/events.log") }},
	{"the settings are written", withEvents, false, func(v *jvm, _ *started) bool { return v.hasEvents("*/gasm.jfc") }},
	{"gasm samples with events", withEvents, false, func(_ *jvm,
		s *started) bool {
		return strings.Contains(s.stderr.String(), "sampling pid")
	}},
	{"gasm is to end the events", withEvents, true, func(*jvm, *started) bool { return true }},
	{"gasm ends with all", slices.Concat(withProbes, withEvents), true, func(*jvm, *started) bool { return true }},
}

// A fault makes something go wrong at a moment. The function that it returns repairs this, after gasm has ended.
type fault struct {
	name  string
	begin func(t *testing.T, v *jvm, gasm *exec.Cmd) (end func())
	// breaks is true if the JVM can never load again what it could not load during the fault. For example, the
	// initialization of a class is not tried again after it has failed.
	breaks bool
}

var faults = []fault{
	{"the JVM is stopped", func(t *testing.T, v *jvm, _ *exec.Cmd) func() {
		require.NoError(t, v.cmd.Process.Signal(syscall.SIGSTOP))
		return func() { require.NoError(t, v.cmd.Process.Signal(syscall.SIGCONT)) }
	}, false},
	{"the JVM can open no more files", func(t *testing.T, v *jvm, _ *exec.Cmd) func() {
		limitFiles(t, v, firstFree(t, v))
		return func() { limitFiles(t, v, "") }
	}, true},
	{"the JVM is killed", func(t *testing.T, v *jvm, _ *exec.Cmd) func() {
		require.NoError(t, v.cmd.Process.Kill())
		<-v.dead
		return func() {}
	}, false},
	{"/tmp is cleaned up", func(t *testing.T, v *jvm, _ *exec.Cmd) func() {
		for _, path := range v.files(t) { // meanwhile, gasm or the JVM may make another file in it
			require.Eventually(t, func() bool { return os.RemoveAll(path) == nil }, time.Minute, time.Millisecond, "removing %s",
				path)
		}
		return func() {}
	}, false},
	{"gasm is killed", func(t *testing.T, _ *jvm, gasm *exec.Cmd) func() {
		_ = gasm.Process.Kill() // it may have ended
		return func() {}
	}, false},
	{"gasm is terminated", func(t *testing.T, _ *jvm, gasm *exec.Cmd) func() {
		_ = gasm.Process.Signal(syscall.SIGTERM)
		return func() {}
	}, false},
}

// firstFree returns the number of the lowest free file descriptor of a JVM.
func firstFree(t *testing.T, v *jvm) string {
	t.Helper()
	for n := 0; ; n++ {
		if _, err := os.Lstat(fmt.Sprintf("/proc/%s/fd/%d", v.pid(), n)); err != nil {
			return strconv.Itoa(n)
		}
	}
}

// limitFiles sets how many files a JVM may have open. If soft is "", it sets the highest number that is allowed. It
// runs as the JVM's user, because root may lack the capability SYS_RESOURCE in a container.
func limitFiles(t *testing.T, v *jvm, soft string) {
	t.Helper()
	limits, err := os.ReadFile("/proc/" + v.pid() + "/limits")
	require.NoError(t, err)
	hard := regexp.MustCompile(`Max open files +\S+ +(\d+)`).FindSubmatch(limits)
	require.NotNil(t, hard, "%s", limits)
	if soft == "" {
		soft = string(hard[1])
	}
	cmd := exec.Command(gasmtest.NeedTool(t, "prlimit", "apt install util-linux"), "--pid", v.pid(),
		"--nofile="+soft+":"+string(hard[1]))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestMoments makes something go wrong at each step of attaching and detaching. After gasm has ended, either nothing
// is left in the JVM, or the next gasm says what is left, and removes it.
func TestMoments(t *testing.T) {
	needNative(t)
	random := newRandom(t)
	type combination struct {
		m   moment
		f   fault
		jdk gasmtest.JDK
	}
	var all []combination
	for _, m := range moments {
		for _, f := range faults {
			for _, jdk := range someJDKs(t) {
				all = append(all, combination{m, f, jdk})
			}
		}
	}
	require.NotEmpty(t, all)
	if !gasmtest.Long() {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(*momentsFlag, len(all))]
	}
	for _, c := range all {
		t.Run(fmt.Sprintf("%s, %s, %s", c.m.name, c.f.name, c.jdk.Name()),
			func(t *testing.T) { c.m.try(t, c.f, startJVM(t, c.jdk)) })
	}
}

// answerTime is the time between the fault and the signal that ends gasm. In this time, the effect of the fault can
// appear.
const answerTime = 300 * time.Millisecond

func (m moment) try(t *testing.T, f fault, v *jvm) {
	ctx, cancel := context.WithTimeout(t.Context(), hangTime)
	defer cancel()
	cmd := gasmCommand(ctx, slices.Concat([]string{"attach", "--length", "60s", "--skip-asm"}, m.flags,
		[]string{v.pid()})...)
	s := start(t, cmd)
	if m.leaves {
		s.sayUntil(t, "sampling pid")
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	}
	for limit := time.Now().Add(20 * time.Second); !m.come(v, s) &&
		time.Now().Before(limit); time.Sleep(50 * time.Microsecond) {
		if m.leaves && !isAlive(cmd.Process.Pid) {
			break // the moment was over before this test could see it
		}
	}
	endFault := f.begin(t, v, cmd)
	limit := endsWithin(t)
	time.Sleep(answerTime)
	told := time.Now()
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	r := finish(t, cmd, s)
	assert.Less(t, time.Since(told), limit(), "after SIGTERM")
	endFault()
	if f.name == "the JVM is killed" {
		runGasm(t, "attach")
		assert.Empty(t, v.left(t))
		return
	}
	require.True(t, v.alive(), "the JVM; gasm said %s", r.stderr)
	v.cleanedUp(t)
	if !f.breaks {
		v.isUnchanged(t)
	}
}
