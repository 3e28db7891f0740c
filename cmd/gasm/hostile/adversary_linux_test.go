package hostile

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var roundsFlag = flag.Int("rounds", 0, "how many rounds TestAdversary has; 0 for some, or for 200 with -long")

func init() {
	attackPlans["everything at random"] = attackPlan{before: (*attacker).own, jvm: inOwnRoot,
		after: (*attacker).spreadChaos}
}

// spreadChaos begins to replace everything that the attacker may replace, at random, in several threads. In between
// there are quiet times, so that gasm makes progress and is attacked in each of its steps.
func (a *attacker) spreadChaos() error {
	for i := range 3 {
		random := rand.New(rand.NewPCG(a.seed, uint64(i)))
		a.all.Go(func() {
			for {
				for range random.IntN(40) {
					a.change(random, a.name(random))
					spinFor(time.Duration(random.IntN(200)) * time.Microsecond)
				}
				select {
				case <-a.stop:
					return
				case <-time.After(time.Duration(random.IntN(400)) * time.Millisecond):
				}
			}
		})
	}
	return nil
}

// name returns a random path that gasm or the JVM uses. In most cases the path exists. It is seldom that of the
// socket, because without the socket gasm can do little that could be attacked.
func (a *attacker) name(random *rand.Rand) string {
	own := fmt.Sprint(a.pid)
	if random.IntN(200) == 0 {
		return a.tmp([]string{".java_pid" + own, ".attach_pid" + own, "hsperfdata_root/" + own}[random.IntN(3)])
	}
	folders, _ := filepath.Glob(a.tmp("gasm-*"))
	inner, _ := filepath.Glob(a.tmp("gasm-*/" + strings.Repeat("?", 32)))
	folders = append(folders, inner...)
	folders = append(folders, a.probes(""))
	in := folders[random.IntN(len(folders))]
	if random.IntN(10) == 0 {
		return in
	}
	names := []string{"agent.jar", "agent.classes", "probes", "sites.so", "error", "probes-" + own + ".txt",
		"probes-" + own + ".ring",
		"java-" + own + ".so", "events.log", "events.log.0", "events.jfr", "gasm.jfc", "below"}
	if there, err := os.ReadDir(in); err == nil && len(there) > 0 && random.IntN(2) == 0 {
		return filepath.Join(in, there[random.IntN(len(there))].Name())
	}
	return filepath.Join(in, names[random.IntN(len(names))])
}

// change replaces what is at a path by something random.
func (a *attacker) change(random *rand.Rand, path string) {
	target := filepath.Join(a.canary, []string{"", "file", "shadow", "folder", "plain", "secrets", "secrets/key",
		"folder/below"}[random.IntN(8)])
	switch random.IntN(14) {
	case 0:
		_ = os.Remove(path)
		_ = os.Symlink(target, path)
	case 1:
		_ = os.Symlink(target, path)
	case 2:
		_ = os.Remove(path)
		_ = syscall.Mkfifo(path, 0o666)
	case 3:
		_ = bind(target, path)
	case 4, 5:
		_ = syscall.Unmount(path, syscall.MNT_DETACH)
	case 6:
		_ = os.Remove(path)
		if l, err := net.Listen("unix", path); err == nil {
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			time.AfterFunc(time.Millisecond, func() { l.Close() })
		}
	case 7:
		if !isMapped(path) {
			_ = os.Truncate(path, []int64{0, 1, 4096, 1 << 40}[random.IntN(4)])
		}
	case 8:
		_ = os.Rename(path, path+".away")
	case 9:
		_ = os.Rename(path+".away", path)
	case 10:
		_ = os.Chmod(path, os.FileMode(random.IntN(0o1000)))
	case 11:
		if random.IntN(10) == 0 {
			_ = os.Mkdir(path, 0o755)
		}
	case 12:
		_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(a.root, "tmp"), unix.AT_FDCWD, filepath.Join(a.root, "tmp2"),
			unix.RENAME_EXCHANGE)
	case 13:
		if isMapped(path) {
			return
		}
		// it may be a pipe
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644); err == nil {
			_, _ = f.WriteString("stopped\t0\nerror\t\x1b[31mbad\nobject\tjava-1.so\n")
			f.Close()
		}
	}
}

// isMapped reports whether the JVM has mapped a file. If such a file became shorter, the JVM would crash.
func isMapped(path string) bool {
	return strings.Contains(path, "hsperfdata") || strings.Contains(path, ".ring") || strings.Contains(path, ".so")
}

// features are the flags of gasm from which TestAdversary chooses.
var features = [][]string{
	{"--events", "default,alloc"}, {"--events", "default,lock,park"}, {"--events", "usdt:hotspot:gc__*"},
	{"--probe", "Spin::spin"}, {"--probe-sdt", "Spin::spinUntil"},
	{"--stacks=off", "--window-method", "Spin::spin"}, {"--debug-info"}, {"--stacks"},
}

// TestAdversary lets gasm attach while a user replaces everything that this user may replace, at random. No file of
// root's may change, gasm must not crash, and it must end within two seconds after a signal.
func TestAdversary(t *testing.T) {
	needNative(t)
	random := newRandom(t)
	rounds := *roundsFlag
	if rounds == 0 {
		if rounds = 6; gasmtest.Long() {
			rounds = 200
		}
	}
	jdks := someJDKs(t)
	canary := newCanary(t)
	for round := range rounds {
		a := startAttack(t, "everything at random", canary, random.Uint64(), spin(t, jdks[round%len(jdks)])...)
		for range 2 {
			attackedRun(t, random, a.pid)
			canary.check(t)
		}
		a.end()
		canary.check(t)
		if t.Failed() {
			t.Logf("in round %d", round)
			return
		}
	}
	runGasm(t, "attach") // this removes the notes about JVMs that have ended
}

// attackedRun runs gasm with some features, and sends it a signal after a while.
func attackedRun(t *testing.T, random *rand.Rand, pid int) {
	t.Helper()
	args := []string{"attach", "--length", "300ms", "--skip-asm"}
	for _, i := range random.Perm(len(features))[:1+random.IntN(len(features))] {
		if f := features[i]; !slices.Contains(args, f[0]) {
			args = append(args, f...)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), hangTime)
	defer cancel()
	cmd := gasmCommand(ctx, append(args, strconv.Itoa(pid))...)
	s := start(t, cmd)
	limit := endsWithin(t)
	var sent time.Time
	var mu sync.Mutex
	timer := time.AfterFunc(time.Duration(300+random.IntN(4000))*time.Millisecond, func() {
		mu.Lock()
		defer mu.Unlock()
		sent = time.Now()
		_ = cmd.Process.Signal([]os.Signal{syscall.SIGTERM, os.Interrupt}[random.IntN(2)]) // it may have ended
	})
	r := finish(t, cmd, s)
	timer.Stop()
	mu.Lock()
	defer mu.Unlock()
	if !sent.IsZero() {
		assert.Less(t, time.Since(sent), limit(), "after the signal: %s", r.stderr)
	} else {
		limit()
	}
}
